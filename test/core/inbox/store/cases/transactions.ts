import type { InboxStore, PutResult, StoredDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf, ClientTransaction } from '../../store-bed.ts';
import { ANY, claim, claimOne, delivery, ends, idsOf, opened, put, ROOMY, START } from './store-fixtures.ts';

async function putIn(
  store: InboxStore,
  { client }: ClientTransaction,
  one: StoredDelivery,
  limits = ROOMY,
): Promise<PutResult | undefined> {
  return await store.putIn?.(client, { delivery: one, isOverflow: false }, { limits, nowMs: START });
}

export function transactions(bed: BedOf): void {
  /** A transaction of the application; undefined for a store that cannot use one. */
  const begin = async (store: InboxStore): Promise<ClientTransaction | undefined> => {
    const transaction = await bed().transaction?.();
    if (transaction === undefined) {
      expect('putIn' in store).toBe(false);
      expect('settleIn' in store).toBe(false);
    }
    return transaction;
  };

  describe('a transaction of the application', () => {
    it.each([false, true])('stores a delivery when it is committed, ordered: %s', async (isOrdered) => {
      const store = await opened(bed(), START, isOrdered);
      await put(store, [delivery('a')]);
      const transaction = await begin(store);
      if (transaction === undefined) return;
      const strange = delivery('b\u0000\ud800$1?', {
        sender: 'us',
        context: { a: [1] },
        rawBody: new Uint8Array([0, 255]),
      });
      expect(await putIn(store, transaction, strange)).toBe('stored');
      expect(await putIn(store, transaction, delivery('a'))).toBe('duplicate');
      expect(await putIn(store, transaction, delivery('a', { rawBody: new Uint8Array(1) }))).toBe('conflict');
      expect(await putIn(store, transaction, delivery('c'), { ...ROOMY, capacity: 2 })).toBe('full');
      expect((await store.stats()).depth).toBe(1);
      await transaction.commit();
      expect((await store.stats()).depth).toBe(2);
      const first = await claimOne(store);
      await store.settle([ends.completed(first)], START);
      expect(await claimOne(store)).toMatchObject({
        ...strange,
        fingerprint: undefined,
        rawBody: expect.anything() as unknown,
      });
    });

    it('stores nothing when it is rolled back', async () => {
      const store = await opened(bed());
      const transaction = await begin(store);
      if (transaction === undefined) return;
      const before = await store.stats();
      expect(await putIn(store, transaction, delivery('a'))).toBe('stored');
      await transaction.rollBack();
      expect(await store.stats()).toEqual(before);
      expect(await put(store, [delivery('a')])).toEqual(['stored']);
    });

    it.each([true, false])('ends a claim when it is committed, keep: %s', async (keep) => {
      const store = await opened(bed());
      await put(store, [delivery('a'), delivery('b')]);
      const [a, b] = await claim(store, 2);
      const transaction = await begin(store);
      if (transaction === undefined || a === undefined || b === undefined) return;
      const { key, id, attempt } = a;
      const settlement = { key, id, attempt, as: 'completed', keep } as const;
      expect(await store.settleIn?.(transaction.client, settlement, START)).toBe(true);
      // A second time in the same transaction, and a claim of an earlier attempt.
      expect(await store.settleIn?.(transaction.client, settlement, START)).toBe(false);
      expect(await store.settleIn?.(transaction.client, { ...settlement, id: 'b', attempt: 0 }, START)).toBe(
        false,
      );
      expect(await store.getPending(a, START)).toMatchObject({ state: 'active' });
      await transaction.commit();
      expect(await store.getPending(a, START)).toBeUndefined();
      expect(await store.settle([ends.completed(a), ends.completed(b)], START)).toEqual([false, true]);
      expect(await store.stats()).toMatchObject({
        depth: 0,
        inFlight: 0,
        drained: 2,
        remembered: 2,
        retained: keep ? 1 : 0,
      });
      expect(await put(store, [delivery('a')])).toEqual(['duplicate']);
      expect(idsOf(await store.replay(null, { ...ANY, nowMs: START }))).toEqual(keep ? ['a'] : []);
    });

    it('ends no claim when it is rolled back, and none of another owner', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      const transaction = await begin(store);
      if (transaction === undefined) return;
      expect(await store.settleIn?.(transaction.client, ends.completed(a), START)).toBe(true);
      await transaction.rollBack();
      expect(await store.renew([a], { leaseMs: 1000, nowMs: START })).toEqual([true]);
      const other = await opened(bed());
      const second = (await bed().transaction?.()) as ClientTransaction;
      expect(await other.settleIn?.(second.client, ends.completed(a), START)).toBe(false);
      await second.commit();
      expect(await store.settle([ends.completed(a)], START)).toEqual([true]);
    });
  });
}
