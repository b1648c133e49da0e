import type { InboxStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import {
  claim,
  claimOne,
  delivery,
  ends,
  idsOf,
  LEASE,
  opened,
  put,
  settle,
  START,
} from './store-fixtures.ts';

async function putIds(store: InboxStore, key: string, ...ids: readonly string[]): Promise<void> {
  await put(
    store,
    ids.map((id) => delivery(id, { key })),
  );
}

export function order(bed: BedOf): void {
  describe('an ordered store', () => {
    const ordered = (nowMs: number = START): Promise<InboxStore> => opened(bed(), nowMs, true);

    it('lets any owner claim only the head of each key', async () => {
      const [store, other] = [await ordered(), await ordered()];
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await putIds(other, 'y', 'y1', 'y2');
      const heads = await claim(store, 9);
      expect(idsOf(heads).sort()).toEqual(['x1', 'y1']);
      expect(await claim(other, 9)).toEqual([]);
      expect(await store.nextDueMs()).toBeUndefined();
      for (const head of heads) await settle(store, ends.completed(head));
      expect(idsOf(await claim(other, 9)).sort()).toEqual(['x2', 'y2']);
      expect(await store.stats()).toMatchObject({ depth: 3, inFlight: 2 });
      expect(new Map(await store.depthByKey())).toEqual(
        new Map([
          ['x', 2],
          ['y', 1],
        ]),
      );
    });

    it('keeps a head that fails, is released or is stranded', async () => {
      const [store, other] = [await ordered(), await ordered()];
      await putIds(store, 'x', 'x1', 'x2');
      await settle(store, ends.failed(await claimOne(store), START + 100));
      expect(await claim(store, 9)).toEqual([]);
      await settle(store, ends.released(await claimOne(store, START + 100)), START + 100);
      await settle(store, ends.released(await claimOne(store, START + 100), START + 200), START + 100);
      expect(await claim(store, 9, { nowMs: START + 150 })).toEqual([]);
      const nowMs = START + 200;
      expect(idsOf(await claim(store, 9, { nowMs }))).toEqual(['x1']);
      const late = nowMs + LEASE;
      const taken = await claim(other, 9, { nowMs: late });
      expect(taken.map(({ id, strandings }) => [id, strandings])).toEqual([['x1', 1]]);
      await settle(other, ends.dead(taken[0] as NonNullable<(typeof taken)[0]>), late);
      expect(idsOf(await claim(store, 9, { nowMs: late }))).toEqual(['x2']);
    });

    it('puts a redriven delivery at its old position, behind the head', async () => {
      const store = await ordered();
      await putIds(store, 'x', 'x1', 'x2', 'x3', 'x4');
      await settle(store, ends.dead(await claimOne(store)));
      const second = await claimOne(store);
      await settle(store, ends.dead(second));
      const third = await claimOne(store);
      await store.redrive('x2', { limit: 9, maxBytes: 1 << 30, nowMs: START });
      await store.redrive('x1', { limit: 9, maxBytes: 1 << 30, nowMs: START });
      expect(await claim(store, 9)).toEqual([]);
      await settle(store, ends.completed(third));
      const rest: string[] = [];
      for (let at = 0; at < 3; at += 1) {
        const one = await claimOne(store);
        rest.push(one.id);
        await settle(store, ends.completed(one));
      }
      expect(rest).toEqual(['x1', 'x2', 'x4']);
    });

    it('makes a redriven delivery the head of an empty key', async () => {
      const store = await ordered();
      await putIds(store, 'x', 'x1');
      await settle(store, ends.dead(await claimOne(store)));
      await store.redrive(null, { limit: 9, maxBytes: 1 << 30, nowMs: START });
      await putIds(store, 'x', 'x2');
      expect(idsOf(await claim(store, 9))).toEqual(['x1']);
    });

    it('excludes overflows, and is not blocked by a clock that has gone back', async () => {
      const store = await ordered();
      await put(store, [delivery('over', { key: 'x' })], { isOverflow: true });
      await putIds(store, 'x', 'x1', 'x2');
      await store.close(START);
      const hourAgo = START - 3_600_000;
      const next = await ordered(hourAgo);
      const head = await claimOne(next, hourAgo);
      await settle(next, ends.completed(head), hourAgo);
      expect([head.id, (await claimOne(next, hourAgo)).id]).toEqual(['x1', 'x2']);
    });

    it('keeps the heads of an owner that closes', async () => {
      const [store, other] = [await ordered(), await ordered()];
      await putIds(store, 'x', 'x1', 'x2');
      await claimOne(store);
      await store.close(START);
      expect(idsOf(await claim(other, 9))).toEqual(['x1']);
    });
  });

  describe('a change of the order', () => {
    it('orders stored deliveries, including those that wait for a retry', async () => {
      const store = await opened(bed());
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await putIds(store, 'y', 'y1');
      const [first] = (await claim(store, 9)).filter(({ id }) => id === 'x1');
      await settle(store, ends.failed(first as NonNullable<typeof first>, START + 1000));
      await store.close(START);
      const next = await opened(bed(), START, true);
      expect(idsOf(await claim(next, 9))).toEqual(['y1']);
      const head = await claimOne(next, START + 1000);
      expect(head).toMatchObject({ id: 'x1', attempt: 2 });
      await settle(next, ends.completed(head), START + 1000);
      expect(idsOf(await claim(next, 9, { nowMs: START + 1000 }))).toEqual(['x2']);
      expect(await next.stats()).toMatchObject({ depth: 3, inFlight: 2 });
    });

    it('makes all deliveries of a key claimable when it ends, except waiting retries', async () => {
      const store = await opened(bed(), START, true);
      await putIds(store, 'x', 'x1', 'x2', 'x3');
      await settle(store, ends.failed(await claimOne(store), START + 1000));
      await store.close(START);
      const next = await opened(bed(), START, false);
      expect(idsOf(await claim(next, 9))).toEqual(['x2', 'x3']);
      await putIds(next, 'x', 'x4');
      expect(idsOf(await claim(next, 9, { nowMs: START + 1000 })).sort()).toEqual(['x1', 'x4']);
    });

    it('is made only by an owner that requests it', async () => {
      const store = await opened(bed(), START, true);
      await putIds(store, 'x', 'x1', 'x2');
      await opened(bed());
      expect(idsOf(await claim(store, 9))).toEqual(['x1']);
    });
  });
}
