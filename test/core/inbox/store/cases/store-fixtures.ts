import { storedBytes } from '@webhook-backpressure/inbox/store';
import type {
  ClaimedDelivery,
  ClaimRef,
  InboxStore,
  Portion,
  PutResult,
  Settlement,
  StoredDelivery,
  StoreLimits,
} from '@webhook-backpressure/inbox';
import type { StoreBed } from '../../store-bed.ts';

/** The wall clock at the start of a test. */
export const START = 1_800_000_000_000;
export const LEASE = 30_000;
export const ROOMY: StoreLimits = {
  capacity: 1000,
  maxBytes: 1 << 30,
  maxDeadLetters: 1000,
  maxDeadLetterBytes: 1 << 30,
};
/** A portion without effective bounds. */
export const ANY: Portion = { limit: 99, maxBytes: 1 << 30 };

export function delivery(id: string, fields: Partial<StoredDelivery> = {}): StoredDelivery {
  return {
    id,
    key: 'shop',
    isIdGenerated: false,
    sender: undefined,
    request: { method: 'POST', url: '/webhooks', params: {} },
    context: null,
    headers: { 'content-type': 'application/json' },
    rawBody: new TextEncoder().encode(`{"id":${JSON.stringify(id)}}`),
    receivedAtMs: START,
    sealedBy: undefined,
    fingerprint: undefined,
    ...fields,
  };
}

export async function opened(bed: StoreBed, nowMs: number = START, isOrdered?: boolean): Promise<InboxStore> {
  const store = await bed.store();
  await store.open(nowMs, isOrdered === undefined ? undefined : { isOrdered });
  return store;
}

/** Stores deliveries in one batch. */
export async function put(
  store: InboxStore,
  deliveries: readonly StoredDelivery[],
  { limits = ROOMY, nowMs = START, isOverflow = false } = {},
): Promise<readonly PutResult[]> {
  const batch = deliveries.map((one) => ({ delivery: one, isOverflow }));
  return await store.put(batch, { limits, nowMs });
}

/** Options of a claim. */
export interface Asked {
  readonly nowMs: number;
  readonly leaseMs: number;
  readonly maxStranded: number;
  readonly except: readonly string[];
}

export async function claim(
  store: InboxStore,
  count: number,
  { nowMs = START, leaseMs = LEASE, maxStranded = 1, except = [] }: Partial<Asked> = {},
): Promise<readonly ClaimedDelivery[]> {
  return await store.claim(count, { nowMs, leaseMs, maxStranded, except: new Set(except) });
}

/** Claims the only delivery. */
export async function claimOne(store: InboxStore, nowMs: number = START): Promise<ClaimedDelivery> {
  const [claimed] = await claim(store, 1, { nowMs });
  if (claimed === undefined) throw new Error('nothing to claim');
  return claimed;
}

export function idsOf(deliveries: readonly { readonly id: string }[]): string[] {
  return deliveries.map(({ id }) => id);
}

function refOf({ key, id, attempt }: ClaimRef): ClaimRef {
  return { key, id, attempt };
}

export const ends = {
  completed: (claimed: ClaimRef): Settlement => ({ ...refOf(claimed), as: 'completed', keep: false }),
  kept: (claimed: ClaimRef): Settlement => ({ ...refOf(claimed), as: 'completed', keep: true }),
  failed: (claimed: ClaimRef, retryAtMs: number, error = 'it failed'): Settlement => ({
    ...refOf(claimed),
    as: 'failed',
    retryAtMs,
    error,
  }),
  dead: (claimed: ClaimRef, error = 'it failed'): Settlement => ({ ...refOf(claimed), as: 'dead', error }),
  released: (claimed: ClaimRef, retryAtMs?: number): Settlement => ({
    ...refOf(claimed),
    as: 'released',
    retryAtMs,
  }),
};

export async function settle(
  store: InboxStore,
  settlement: Settlement,
  nowMs: number = START,
): Promise<boolean> {
  const [isHeld] = await store.settle([settlement], nowMs);
  return isHeld === true;
}

/** The dead letter that a delivery becomes after all its attempts. */
export async function bury(store: InboxStore, id: string, nowMs: number = START): Promise<void> {
  await put(store, [delivery(id)], { nowMs });
  await settle(store, ends.dead(await claimOne(store, nowMs)), nowMs);
}

export { storedBytes };
