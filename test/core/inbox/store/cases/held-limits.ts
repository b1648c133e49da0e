import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { claimKey, claimKeys, limited, putIds, want } from './key-fixtures.ts';
import { claim, ends, idsOf, LEASE, opened, settle, START } from './store-fixtures.ts';

export function heldLimits(bed: BedOf): void {
  describe('claimKeys with a limit of all claims', () => {
    it('claims no more than the limit leaves, in this and in later calls', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3', 'x4');
      await putIds(store, 'y', 'y1', 'y2');
      const got = await claimKeys(store, [limited('x', 5, 2), want('y', 5)]);
      expect(got.map(({ claimed }) => idsOf(claimed))).toEqual([
        ['x1', 'x2'],
        ['y1', 'y2'],
      ]);
      const [x1] = got[0]?.claimed ?? [];
      expect((await claimKey(store, limited('x', 5, 2))).claimed).toEqual([]);
      await settle(store, ends.completed(x1 as ClaimedDelivery));
      expect(idsOf((await claimKey(store, limited('x', 5, 2))).claimed)).toEqual(['x3']);
      expect((await claimKey(store, limited('x', 5, 1))).claimed).toEqual([]);
      expect(idsOf((await claimKey(store, limited('x', 5, 9))).claimed)).toEqual(['x4']);
    });

    it('says when deliveries are due, whatever the limit leaves', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2');
      const first = await claimKey(store, limited('x', 5, 1));
      expect(first.nextDueMs).toBeLessThanOrEqual(START);
      await settle(store, ends.failed(first.claimed[0] as ClaimedDelivery, START + 100));
      const second = await claimKey(store, limited('x', 1, 1));
      expect(second).toMatchObject({ claimed: [{ id: 'x2' }], nextDueMs: START + 100 });
      expect((await claimKey(store, limited('x', 1, 1))).nextDueMs).toBe(START + 100);
    });

    it('counts the claims of other owners, also those of any key, until their leases have run out', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      expect(idsOf(await claim(other, 1))).toEqual(['x1']);
      expect(idsOf((await claimKey(store, limited('x', 5, 2))).claimed)).toEqual(['x2']);
      expect((await claimKey(other, limited('x', 5, 2))).claimed).toEqual([]);
      expect(idsOf((await claimKey(store, limited('x', 5, 2), START + LEASE)).claimed)).toEqual(['x1']);
      expect((await claimKey(store, limited('x', 5, 2), START + LEASE)).claimed).toEqual([]);
    });

    it('keeps the limit when owners claim at the same time', async () => {
      const stores = [await opened(bed()), await opened(bed()), await opened(bed())];
      const ids = Array.from({ length: 30 }, (_, at) => `x${String(at)}`);
      await putIds(stores[0] as (typeof stores)[0], 'x', ...ids);
      const got = await Promise.all(
        stores.flatMap((store) => [1, 2, 3].map(() => claimKey(store, limited('x', 4, 5)))),
      );
      expect(got.flatMap(({ claimed }) => claimed).length).toBe(5);
    });
  });
}
