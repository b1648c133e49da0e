import type { ClaimedDelivery, InboxStore, KeyClaim } from '@webhook-backpressure/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  delivery,
  ends,
  idsOf,
  LEASE,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';

async function claimKeys(
  store: InboxStore,
  wants: Readonly<Record<string, number | 'head'>>,
  nowMs: number = START,
): Promise<readonly KeyClaim[]> {
  return await store.claimKeys(
    Object.entries(wants).map(([key, want]) => ({
      key,
      count: want === 'head' ? 1 : want,
      isHeadOnly: want === 'head',
    })),
    { leaseMs: LEASE, nowMs },
  );
}

describe.skipIf(isSkipped)('claims of named keys', () => {
  let bed: PostgresBed;
  let store: InboxStore;
  beforeEach(async () => {
    bed = new PostgresBed();
    store = await opened(bed);
  });
  afterEach(() => bed.dispose());

  it('are claimed in order, and the keys with something due are listed', async () => {
    await put(
      store,
      ['a', 'b', 'c'].map((id) => delivery(id)),
    );
    await put(store, [delivery('x', { key: 'zoo' })]);
    const [shop, none] = await claimKeys(store, { shop: 2, other: 1 });
    expect(idsOf(shop?.claimed ?? [])).toEqual(['a', 'b']);
    expect(shop?.nextDueMs).toBe(0);
    expect(none).toEqual({ key: 'other', claimed: [], nextDueMs: undefined });
    const [a, b] = shop?.claimed as [ClaimedDelivery, ClaimedDelivery];
    await settle(store, ends.failed(a, START + 500));
    await settle(store, ends.completed(b));
    const [again] = await claimKeys(store, { shop: 5 });
    expect([idsOf(again?.claimed ?? []), again?.nextDueMs]).toEqual([['c'], START + 500]);
    const other = await opened(bed);
    expect(await other.dueKeys({ after: undefined, limit: 10, dueByMs: START })).toEqual({
      keys: [{ key: 'zoo', nextDueMs: 0 }],
      next: undefined,
    });
    expect(await other.dueKeys({ after: undefined, limit: 1, dueByMs: START + 500 })).toEqual({
      keys: [{ key: 'shop', nextDueMs: START + 500 }],
      next: 'shop',
    });
    expect(await claimKeys(other, { shop: 5 }, START + 499)).toMatchObject([
      { claimed: [], nextDueMs: START + 500 },
    ]);
    expect(await claimKeys(other, { shop: 5 }, START + 500)).toMatchObject([
      { claimed: [{ id: 'a', attempt: 2 }], nextDueMs: START + LEASE },
    ]);
    expect(await claimKeys(other, { shop: 5 }, START + LEASE)).toMatchObject([
      { claimed: [{ id: 'c', attempt: 2, strandings: 1 }], nextDueMs: undefined },
    ]);
  });

  it('are heads only while an earlier delivery is unfinished', async () => {
    await put(
      store,
      ['a', 'b', 'c'].map((id) => delivery(id)),
    );
    const [one] = await claimKeys(store, { shop: 'head' });
    expect([idsOf(one?.claimed ?? []), one?.nextDueMs]).toEqual([['a'], undefined]);
    expect(await claimKeys(store, { shop: 'head' })).toEqual([
      { key: 'shop', claimed: [], nextDueMs: undefined },
    ]);
    const other = await opened(bed);
    expect(await claimKeys(other, { shop: 'head' })).toEqual([
      { key: 'shop', claimed: [], nextDueMs: START + LEASE },
    ]);
    await settle(store, ends.failed(one?.claimed[0] as ClaimedDelivery, START + 500));
    expect(await claimKeys(other, { shop: 'head' })).toEqual([
      { key: 'shop', claimed: [], nextDueMs: START + 500 },
    ]);
    expect(await claimKeys(other, { shop: 'head' }, START + 500)).toMatchObject([{ claimed: [{ id: 'a' }] }]);
  });
});
