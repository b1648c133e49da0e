import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { claimKey, claimKeys, claimOneOf, head, putIds, want } from './key-fixtures.ts';
import { ANY, claim, ends, idsOf, LEASE, opened, settle, START } from './store-fixtures.ts';

export function headClaims(bed: BedOf): void {
  describe('claimKeys with heads only', () => {
    it('claims the delivery stored first, one at a time, whatever the count', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      const first = await claimKey(store, want('x', 5, true));
      expect(idsOf(first.claimed)).toEqual(['x1']);
      expect(first.nextDueMs).toBeUndefined();
      expect(await claimKey(store, head('x'))).toMatchObject({ claimed: [], nextDueMs: undefined });
      await settle(store, ends.completed(first.claimed[0] as ClaimedDelivery));
      const second = await claimKey(store, head('x'));
      expect(idsOf(second.claimed)).toEqual(['x2']);
      await settle(store, ends.dead(second.claimed[0] as ClaimedDelivery));
      expect(idsOf((await claimKey(store, head('x'))).claimed)).toEqual(['x3']);
    });

    it('waits for a head that failed or was released, although later ones are due', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2');
      const [x1] = (await claimKey(store, head('x'))).claimed;
      await settle(store, ends.failed(x1 as ClaimedDelivery, START + 100));
      expect(await claimKey(store, head('x'), START + 99)).toMatchObject({
        claimed: [],
        nextDueMs: START + 100,
      });
      const [again] = (await claimKey(store, head('x'), START + 100)).claimed;
      expect(again).toMatchObject({ id: 'x1', attempt: 2 });
      await settle(store, ends.released(again as ClaimedDelivery, START + 300), START + 100);
      expect(await claimKey(store, head('x'), START + 200)).toMatchObject({
        claimed: [],
        nextDueMs: START + 300,
      });
      expect(idsOf((await claimKey(store, want('x', 9), START + 200)).claimed)).toEqual(['x2']);
    });

    it('waits for any claimed delivery of the key, of another owner until its lease ends', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2');
      await claimKey(store, head('x'));
      expect(await claimKey(other, head('x'))).toMatchObject({ claimed: [], nextDueMs: START + LEASE });
      const taken = await claimKey(other, head('x'), START + LEASE);
      expect(taken.claimed.map(({ id, strandings }) => [id, strandings])).toEqual([['x1', 1]]);
      expect(await claimKey(store, head('x'), START + LEASE)).toMatchObject({
        claimed: [],
        nextDueMs: START + 2 * LEASE,
      });
    });

    it('claims a redriven delivery before later ones, but not beside a claimed one', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await settle(store, ends.dead(await claimOneOf(store, 'x')));
      const [x2] = (await claimKey(store, head('x'))).claimed;
      expect(x2).toMatchObject({ id: 'x2' });
      await store.redrive('x1', { ...ANY, nowMs: START });
      expect(await claimKey(store, head('x'))).toMatchObject({ claimed: [], nextDueMs: undefined });
      await settle(store, ends.failed(x2 as ClaimedDelivery, START));
      const order: string[] = [];
      for (let at = 0; at < 3; at += 1) {
        const [one] = (await claimKey(store, head('x'))).claimed;
        order.push((one as ClaimedDelivery).id);
        await settle(store, ends.completed(one as ClaimedDelivery));
      }
      expect(order).toEqual(['x1', 'x2', 'x3']);
    });

    it('finds the head of a long queue of which the first were claimed otherwise', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3', 'x4');
      const [x1, x2] = await claim(store, 2);
      await settle(store, ends.completed(x2 as ClaimedDelivery));
      expect(idsOf((await claimKey(store, head('x'))).claimed)).toEqual([]);
      await settle(store, ends.completed(x1 as ClaimedDelivery));
      expect(idsOf((await claimKey(store, head('x'))).claimed)).toEqual(['x3']);
    });
  });

  describe('claimKeys in an ordered store', () => {
    it('claims heads only, whatever is asked', async () => {
      const store = await opened(bed(), START, true);
      await putIds(store, 'x', 'x1', 'x2');
      await putIds(store, 'y', 'y1', 'y2');
      const got = await claimKeys(store, [want('x', 9), head('y')]);
      expect(got.map(({ claimed, nextDueMs }) => [idsOf(claimed), nextDueMs])).toEqual([
        [['x1'], undefined],
        [['y1'], undefined],
      ]);
      const [x1] = got[0]?.claimed ?? [];
      await settle(store, ends.failed(x1 as ClaimedDelivery, START + 100));
      expect(await claimKey(store, want('x', 9))).toMatchObject({ claimed: [], nextDueMs: START + 100 });
      await settle(store, ends.completed(await claimOneOf(store, 'x', START + 100)));
      expect(idsOf((await claimKey(store, want('x', 9), START + 100)).claimed)).toEqual(['x2']);
    });
  });
}
