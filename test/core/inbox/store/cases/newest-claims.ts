import type { InboxStore, KeyClaim, KeyWant } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { claimKey, limited, putIds, want } from './key-fixtures.ts';
import { delivery, ends, idsOf, LEASE, opened, put, settle, START } from './store-fixtures.ts';

async function claimNewest(store: InboxStore, one: KeyWant, nowMs: number = START): Promise<KeyClaim> {
  const [claimed] = await store.claimKeys([one], { leaseMs: LEASE, nowMs, isNewestFirst: true });
  if (claimed === undefined) throw new Error('no result');
  return claimed;
}

export function newestClaims(bed: BedOf): void {
  describe('claimKeys with the newest first', () => {
    it('claims the delivery that is due last, of this key, and of those of one time the one stored last', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2');
      await put(store, [delivery('x3', { key: 'x' })], { nowMs: START + 100 });
      await putIds(store, 'y', 'y1');
      expect(idsOf((await claimNewest(store, want('x'), START + 100)).claimed)).toEqual(['x3']);
      await put(store, [delivery('x4', { key: 'x' }), delivery('x5', { key: 'x' })], { nowMs: START + 100 });
      const both = await claimNewest(store, want('x', 3), START + 100);
      expect(idsOf(both.claimed)).toEqual(['x5', 'x4', 'x2']);
      expect(both.nextDueMs).toBeLessThanOrEqual(START + 100);
      expect(idsOf((await claimKey(store, want('x', 9))).claimed)).toEqual(['x1']);
      expect(await claimNewest(store, want('x'))).toEqual({ key: 'x', claimed: [], nextDueMs: undefined });
    });

    it('leaves retries and stranded deliveries to other claims, and says when they are due', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      const [x1] = (await claimKey(store, want('x'))).claimed;
      if (x1 === undefined) throw new Error('nothing to claim');
      await settle(store, ends.failed(x1, START + 50));
      await claimKey(other, want('x'));
      const later = START + LEASE;
      expect(idsOf((await claimNewest(store, want('x', 9), later)).claimed)).toEqual(['x3']);
      const rest = await claimNewest(store, want('x', 9), later);
      expect(rest.claimed).toEqual([]);
      expect(rest.nextDueMs).toBeLessThanOrEqual(later);
      expect(idsOf((await claimKey(store, want('x', 9), later)).claimed)).toEqual(['x2', 'x1']);
    });

    it('says that more is due, also after a claim of another key', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await claimKey(store, want('y'));
      expect((await claimNewest(store, want('x'))).nextDueMs).toBeLessThanOrEqual(START);
    });

    it('claims a delivery again that was given back', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2');
      const [x2] = (await claimNewest(store, want('x'))).claimed;
      if (x2 === undefined) throw new Error('nothing to claim');
      expect(x2).toMatchObject({ id: 'x2', attempt: 1 });
      await settle(store, ends.released(x2));
      expect((await claimNewest(store, want('x'))).claimed).toMatchObject([{ id: 'x2', attempt: 1 }]);
    });

    it('claims no more than the limit of all claims, and nothing of paused keys', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3', 'x4');
      await claimKey(store, want('x'));
      expect(idsOf((await claimNewest(store, limited('x', 9, 3))).claimed)).toEqual(['x4', 'x3']);
      expect((await claimNewest(store, limited('x', 9, 3))).claimed).toEqual([]);
      await store.pause('x');
      expect(await claimNewest(store, want('x'))).toEqual({ key: 'x', claimed: [], nextDueMs: undefined });
      await store.resume('x');
      await store.pause(null);
      expect(await claimNewest(store, want('x'))).toEqual({ key: 'x', claimed: [], nextDueMs: undefined });
    });

    it('claims each delivery once when owners claim at the same time', async () => {
      const stores = [await opened(bed()), await opened(bed()), await opened(bed())];
      const ids = Array.from({ length: 30 }, (_, at) => `x${String(at)}`);
      await putIds(stores[0] as InboxStore, 'x', ...ids);
      const got = await Promise.all(
        stores.flatMap((store) => [claimNewest(store, want('x', 5)), claimKey(store, want('x', 5))]),
      );
      const claimed = got.flatMap((one) => idsOf(one.claimed));
      expect(new Set(claimed).size).toBe(claimed.length);
      expect(claimed.length).toBeGreaterThan(0);
    });
  });
}
