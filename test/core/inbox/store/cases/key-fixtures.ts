import type { ClaimedDelivery, DueKey, InboxStore, KeyClaim, KeyWant } from '@webhook-backpressure/inbox';
import { expect } from 'vitest';
import { delivery, LEASE, put, START } from './store-fixtures.ts';

export function want(key: string, count = 1, isHeadOnly = false): KeyWant {
  return { key, count, isHeadOnly };
}

/** Of all owners together. */
export function limited(key: string, count: number, maxHeld: number): KeyWant {
  return { key, count, isHeadOnly: false, maxHeld };
}

export function head(key: string): KeyWant {
  return want(key, 1, true);
}

export async function claimKeys(
  store: InboxStore,
  wants: readonly KeyWant[],
  nowMs: number = START,
): Promise<readonly KeyClaim[]> {
  return await store.claimKeys(wants, { leaseMs: LEASE, nowMs });
}

export async function claimKey(store: InboxStore, one: KeyWant, nowMs: number = START): Promise<KeyClaim> {
  const [claimed] = await claimKeys(store, [one], nowMs);
  if (claimed === undefined) throw new Error('no result');
  return claimed;
}

export async function claimOneOf(
  store: InboxStore,
  key: string,
  nowMs: number = START,
): Promise<ClaimedDelivery> {
  const { claimed } = await claimKey(store, want(key), nowMs);
  const [first] = claimed;
  if (first === undefined) throw new Error(`nothing to claim of ${key}`);
  return first;
}

export async function putIds(store: InboxStore, key: string, ...ids: readonly string[]): Promise<void> {
  await put(
    store,
    ids.map((id) => delivery(id, { key })),
  );
}

/** Reads all pages. */
export async function allDueKeys(
  store: InboxStore,
  dueByMs = Infinity,
  limit = 2,
): Promise<Map<string, number>> {
  const found: DueKey[] = [];
  let after: string | undefined;
  do {
    const page = await store.dueKeys({ after, limit, dueByMs });
    expect(page.keys.length).toBeLessThanOrEqual(limit);
    found.push(...page.keys);
    after = page.next;
  } while (after !== undefined);
  expect(new Set(found.map(({ key }) => key)).size).toBe(found.length);
  return new Map(found.map(({ key, nextDueMs }) => [key, nextDueMs]));
}
