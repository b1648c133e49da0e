import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { claimKey, claimKeys, claimOneOf, head, putIds, want } from './key-fixtures.ts';
import { claim, delivery, ends, idsOf, LEASE, opened, put, settle, START } from './store-fixtures.ts';

export function keyClaims(bed: BedOf): void {
  describe('claimKeys', () => {
    it('claims the wanted number of each named key, in the order of storing', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await putIds(store, 'y', 'y1');
      await putIds(store, 'z', 'z1');
      const got = await claimKeys(store, [want('y', 5), want('unknown', 5), want('x', 2)]);
      expect(got.map(({ key, claimed }) => [key, idsOf(claimed)])).toEqual([
        ['y', ['y1']],
        ['unknown', []],
        ['x', ['x1', 'x2']],
      ]);
      const [y, unknown, x] = got.map(({ nextDueMs }) => nextDueMs);
      expect([y, unknown]).toEqual([undefined, undefined]);
      expect(x).toBeLessThanOrEqual(START);
      expect(idsOf(await claim(store, 9)).sort()).toEqual(['x3', 'z1']);
    });

    it('returns nothing for no wants', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1');
      expect(await claimKeys(store, [])).toEqual([]);
      expect(await store.stats()).toMatchObject({ depth: 1, inFlight: 0 });
    });

    it('returns the contents of a delivery, as they were stored', async () => {
      const store = await opened(bed());
      const stored = delivery('ä "1"\\', { key: 'ü\n"', headers: { 'x-a': 'b' }, context: { a: [1] } });
      await put(store, [stored]);
      const { rawBody, ...claimed } = await claimOneOf(store, 'ü\n"');
      expect({ ...claimed, rawBody: new Uint8Array(rawBody) }).toMatchObject({
        ...stored,
        attempt: 1,
        strandings: 0,
      });
    });

    it('makes the same claims as claim does', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2', 'x3', 'x4');
      const [x1, x2, x3, x4] = (await claimKey(store, want('x', 4))).claimed;
      expect(await claim(store, 9)).toEqual([]);
      expect(await claim(other, 9)).toEqual([]);
      expect(await store.stats()).toMatchObject({ depth: 4, inFlight: 4 });
      const held = [x1, x2, x3, x4] as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
      expect(await other.renew(held, { leaseMs: LEASE, nowMs: START })).toEqual([false, false, false, false]);
      expect(await store.renew(held, { leaseMs: LEASE, nowMs: START })).toEqual([true, true, true, true]);
      const settled = [
        ends.completed(held[0]),
        ends.failed(held[1], START + 10),
        ends.dead(held[2]),
        ends.released(held[3]),
      ];
      expect(await store.settle(settled, START)).toEqual([true, true, true, true]);
      expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 0, deadLetters: 1 });
      const again = await claimKey(store, want('x', 4), START + 10);
      expect(again.claimed.map(({ id, attempt, strandings }) => [id, attempt, strandings])).toEqual([
        ['x4', 1, 0],
        ['x2', 2, 0],
      ]);
    });

    it('does not return a retry before it is due, returns the earliest due first, and says when the next is due', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      const dueMs: Record<string, number> = { x1: 3000, x2: 1000, x3: 2000 };
      for (const one of await claim(store, 3))
        await settle(store, ends.failed(one, START + (dueMs[one.id] ?? 0)));
      expect(await claimKey(store, want('x', 5), START + 999)).toMatchObject({
        claimed: [],
        nextDueMs: START + 1000,
      });
      const due = await claimKey(store, want('x', 5), START + 2000);
      expect(idsOf(due.claimed)).toEqual(['x2', 'x3']);
      expect(due.nextDueMs).toBe(START + 3000);
    });

    it('orders retries among new deliveries by when they are due', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2');
      const [x1, x2] = await claim(store, 2);
      await settle(store, ends.failed(x1 as ClaimedDelivery, START + 200));
      await settle(store, ends.released(x2 as ClaimedDelivery, START + 50));
      await put(store, [delivery('x3', { key: 'x' })], { nowMs: START + 100 });
      await put(store, [delivery('x4', { key: 'x' })], { nowMs: START + 200 });
      const { claimed } = await claimKey(store, want('x', 4), START + 300);
      expect(claimed.map(({ id, attempt }) => [id, attempt])).toEqual([
        ['x2', 1],
        ['x3', 1],
        ['x1', 2],
        ['x4', 1],
      ]);
    });

    it('finds the due deliveries of a key behind many retries and many other keys', async () => {
      const store = await opened(bed());
      const ids = Array.from({ length: 200 }, (_, at) => `x${String(at)}`);
      await putIds(store, 'x', ...ids);
      const claimed = await claim(store, 200);
      await store.settle(
        claimed.map((one, at) => ends.failed(one, START + 1000 + at)),
        START,
      );
      await put(
        store,
        ids.map((id) => delivery(id, { key: id })),
      );
      await putIds(store, 'x', 'new');
      const got = await claimKey(store, want('x', 9));
      expect(idsOf(got.claimed)).toEqual(['new']);
      expect(got.nextDueMs).toBe(START + 1000);
      const later = await claimKey(store, want('x', 9), START + 1002);
      expect(idsOf(later.claimed)).toEqual(['x0', 'x1', 'x2']);
    });

    it('answers 1,000 wants in one call', async () => {
      const store = await opened(bed());
      const keys = Array.from({ length: 1000 }, (_, at) => `key ${String(at)}`);
      for (const id of ['a', 'b'])
        await put(
          store,
          keys.filter((_, at) => at % 2 === 0).map((key) => delivery(id, { key })),
          { limits: { capacity: 2000, maxBytes: 1 << 30, maxDeadLetters: 1, maxDeadLetterBytes: 1 } },
        );
      const got = await claimKeys(
        store,
        keys.map((key) => want(key, 3)),
      );
      expect(got.map(({ key }) => key)).toEqual(keys);
      expect(got.map(({ claimed }) => idsOf(claimed).join(''))).toEqual(
        keys.map((_, at) => (at % 2 === 0 ? 'ab' : '')),
      );
      expect(await store.stats()).toMatchObject({ depth: 1000, inFlight: 1000 });
    });

    it('claims nothing of a paused key or while everything is paused, also of a paused key with retries', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2');
      await putIds(store, 'y', 'y1');
      await settle(store, ends.failed(await claimOneOf(store, 'x'), START + 10));
      await store.pause('x');
      const got = await claimKeys(store, [want('x', 9), want('y', 9), head('x')].slice(0, 2), START + 10);
      expect(got.map(({ claimed, nextDueMs }) => [idsOf(claimed), nextDueMs])).toEqual([
        [[], undefined],
        [['y1'], undefined],
      ]);
      expect(await claimKey(store, head('x'), START + 10)).toMatchObject({
        claimed: [],
        nextDueMs: undefined,
      });
      await store.resume('x');
      await store.pause(null);
      expect(await claimKey(store, want('x', 9), START + 10)).toMatchObject({
        claimed: [],
        nextDueMs: undefined,
      });
      await store.resume(null);
      expect(idsOf((await claimKey(store, want('x', 9), START + 10)).claimed)).toEqual(['x2', 'x1']);
    });

    it('waits for the lease of another owner, and takes over several stranded deliveries in one call', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      const [x1] = (await claimKey(store, want('x', 3))).claimed;
      expect(await claimKey(other, want('x', 9))).toMatchObject({ claimed: [], nextDueMs: START + LEASE });
      await putIds(store, 'x', 'x4');
      const nowMs = START + LEASE;
      const taken = await claimKey(other, want('x', 9), nowMs);
      expect(taken.claimed.map(({ id, attempt, strandings }) => [id, attempt, strandings])).toEqual([
        ['x1', 2, 1],
        ['x2', 2, 1],
        ['x3', 2, 1],
        ['x4', 1, 0],
      ]);
      expect(await settle(store, ends.completed(x1 as ClaimedDelivery), nowMs)).toBe(false);
    });

    it('claims deliveries that were stranded more than once, among others', async () => {
      const stores = [await opened(bed()), await opened(bed()), await opened(bed())] as const;
      await putIds(stores[0], 'x', 'x1', 'x2', 'x3');
      await claimKey(stores[0], want('x', 2));
      await claimKey(stores[1], want('x', 2), START + LEASE);
      const { claimed } = await claimKey(stores[2], want('x', 9), START + 2 * LEASE);
      expect(claimed.map(({ id, strandings }) => [id, strandings])).toEqual([
        ['x1', 2],
        ['x2', 2],
        ['x3', 0],
      ]);
    });

    it.each<[number | undefined, number | undefined, (readonly string[])[]]>([
      [undefined, undefined, [['x1', 'x2', 'x3'], ['y1', 'y2'], ['z1']]],
      [3, undefined, [['x1', 'x2', 'x3'], ['y1', 'y2'], []]],
      [3, 1, [['x1', 'x2', 'x3'], ['y2'], ['z1']]],
      [2, 1, [['x1', 'x2', 'x3'], ['y2'], []]],
      [1, undefined, [['x1', 'x3'], ['y2'], []]],
      [0, undefined, [['x3'], ['y2'], []]],
    ])('claims at most %s that were stranded, and %s times', async (maxStranded, maxStrandings, ids) => {
      const stores = [await opened(bed()), await opened(bed()), await opened(bed())] as const;
      await putIds(stores[0], 'y', 'y1');
      await claimKey(stores[0], want('y'));
      await claimKey(stores[1], want('y'), START + LEASE);
      await putIds(stores[0], 'x', 'x1', 'x2');
      await putIds(stores[0], 'z', 'z1');
      await claimKeys(stores[0], [want('x', 2), want('z')], START + LEASE);
      await putIds(stores[0], 'x', 'x3');
      await putIds(stores[0], 'y', 'y2');
      const nowMs = START + 2 * LEASE;
      const wants = [want('x', 3), want('y', 2), want('z')];
      const lease = { leaseMs: LEASE, nowMs, maxStranded, maxStrandings };
      const got = await stores[2].claimKeys(wants, lease);
      expect(got.map(({ claimed }) => idsOf(claimed).sort())).toEqual(ids);
      for (const [at, { nextDueMs }] of got.entries()) {
        const isLeft = [3, 2, 1][at] !== ids[at]?.length;
        expect(nextDueMs === undefined ? 'never' : nextDueMs <= nowMs).toBe(isLeft ? true : 'never');
      }
    });

    it('claims at most so many retries that were stranded before', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2');
      await claimKey(store, want('x', 2));
      const nowMs = START + LEASE;
      for (const one of (await claimKey(other, want('x', 2), nowMs)).claimed)
        await settle(other, ends.failed(one, nowMs + 1), nowMs);
      await putIds(store, 'x', 'x3');
      const claimIds = async (maxStranded: number, maxStrandings: number): Promise<readonly string[]> => {
        const lease = { leaseMs: LEASE, nowMs: nowMs + 1, maxStranded, maxStrandings };
        const [got] = await store.claimKeys([want('x', 3)], lease);
        expect(got?.nextDueMs).toBeLessThanOrEqual(nowMs + 1);
        return idsOf(got?.claimed ?? []);
      };
      expect(await claimIds(9, 0)).toEqual(['x3']);
      expect(await claimIds(0, 9)).toEqual([]);
      expect(await claimIds(1, 1)).toEqual(['x1']);
    });

    it('claims a retry in the first call, behind many that were stranded before', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      const ids = Array.from({ length: 30 }, (_, at) => String(at));
      await putIds(store, 'x', ...ids);
      await claimKey(store, want('x', 30));
      const nowMs = START + LEASE;
      for (const one of (await claimKey(other, want('x', 30), nowMs)).claimed)
        await settle(other, ends.failed(one, nowMs + 1), nowMs);
      await putIds(other, 'x', 'last');
      await settle(other, ends.failed(await claimOneOf(other, 'x', nowMs), nowMs + 2), nowMs);
      const lease = { leaseMs: LEASE, nowMs: nowMs + 2, maxStranded: 0 };
      expect((await other.claimKeys([want('x')], lease)).map(({ claimed }) => idsOf(claimed))).toEqual([
        ['last'],
      ]);
    });

    it('claims another delivery in place of a suspect for which there is no room any more', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      for (const key of ['x', 'y']) await putIds(store, key, `${key}1`);
      await claimKeys(store, [want('x'), want('y')]);
      const nowMs = START + LEASE;
      for (const key of ['x', 'y']) await putIds(store, key, `${key}2`);
      const lease = { leaseMs: LEASE, nowMs: nowMs + 1, maxStranded: 1 };
      const got = await other.claimKeys([want('x'), want('y')], lease);
      expect(got.map(({ claimed }) => idsOf(claimed))).toEqual([['x1'], ['y2']]);
    });

    it('mixes with claim, by the same and another owner', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await putIds(store, 'y', 'y1', 'y2', 'y3');
      expect((await claimOneOf(store, 'x')).id).toBe('x1');
      expect(idsOf(await claim(other, 2)).sort()).toEqual(['x2', 'y1']);
      expect(idsOf((await claimKey(store, want('y', 9))).claimed)).toEqual(['y2', 'y3']);
      await putIds(store, 'y', 'y4');
      expect(idsOf(await claim(store, 9)).sort()).toEqual(['x3', 'y4']);
      expect(await claim(other, 9)).toEqual([]);
    });

    it('leaves the turns of the keys intact that claim takes', async () => {
      const store = await opened(bed());
      for (const key of ['a', 'b', 'c', 'd']) await putIds(store, key, '1', '2');
      await claimKeys(store, [want('b', 2), want('d', 1)]);
      await putIds(store, 'b', '3');
      const keys = (await claim(store, 4)).map(({ key }) => key);
      expect(keys.sort()).toEqual(['a', 'b', 'c', 'd']);
      expect((await claim(store, 9)).map(({ key, id }) => key + id).sort()).toEqual(['a2', 'c2']);
    });
  });
}
