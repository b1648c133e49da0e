import type { ClaimedDelivery, Settlement } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { claim, claimOne, delivery, ends, idsOf, opened, put, settle, START } from './store-fixtures.ts';

const LATER = START + 1000;
const ways: readonly [string, (claimed: ClaimedDelivery) => Settlement][] = [
  ['completed', ends.completed],
  ['failed', (claimed) => ends.failed(claimed, LATER)],
  ['dead', ends.dead],
  ['released', ends.released],
];

export function settlements(bed: BedOf): void {
  describe('settle', () => {
    it.each(ways)('ends a claim once: %s', async (_, end) => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      expect(await settle(store, end(a))).toBe(true);
      const stats = await store.stats();
      for (const [, again] of ways) expect(await settle(store, again(a))).toBe(false);
      expect(await store.stats()).toEqual(stats);
    });

    it.each(ways)('returns false for an unclaimed delivery: %s', async (_, end) => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      const unclaimed = { ...delivery('a'), attempt: 1, strandings: 0 };
      expect(await settle(store, end(unclaimed))).toBe(false);
      expect(await settle(store, end({ ...unclaimed, attempt: 0 }))).toBe(false);
      expect(await settle(store, end({ ...unclaimed, id: 'unknown' }))).toBe(false);
      expect(idsOf(await claim(store, 1))).toEqual(['a']);
    });

    it('ends a batch of different settlements, and returns which were held', async () => {
      const store = await opened(bed());
      await put(
        store,
        ['a', 'b', 'c', 'd', 'e'].map((id) => delivery(id)),
      );
      const [a, b, c, d] = (await claim(store, 4)) as [
        ClaimedDelivery,
        ClaimedDelivery,
        ClaimedDelivery,
        ClaimedDelivery,
      ];
      const e = { ...delivery('e'), attempt: 1 };
      const results = await store.settle(
        [
          ends.completed(a),
          ends.failed(b, LATER),
          ends.completed(e),
          ends.dead(c),
          ends.completed(a),
          ends.released(d),
        ],
        START,
      );
      expect(results).toEqual([true, true, false, true, false, true]);
      expect(await store.stats()).toMatchObject({ depth: 3, inFlight: 0, deadLetters: 1, remembered: 1 });
      expect(idsOf(await claim(store, 9)).sort()).toEqual(['d', 'e']);
    });

    it('removes a completed delivery', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      await settle(store, ends.completed(await claimOne(store)));
      expect(await claim(store, 1, { nowMs: START + 1e9 })).toEqual([]);
      expect(await store.nextDueMs()).toBeUndefined();
    });

    it('does not count a released attempt', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      await settle(store, ends.released(await claimOne(store)));
      expect(await claimOne(store)).toMatchObject({ id: 'a', attempt: 1, strandings: 0 });
    });

    it('repeats an attempt under its number when it failed with isRepeated', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      await settle(store, ends.failed(await claimOne(store), START));
      const second = await claimOne(store);
      await settle(store, { ...ends.failed(second, LATER), isRepeated: true } as Settlement);
      expect(await claim(store, 1)).toEqual([]);
      expect(await claimOne(store, LATER)).toMatchObject({ id: 'a', attempt: 2, strandings: 0 });
    });

    it('keeps the delay of a first attempt that is repeated or given back, when it is opened again', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a'), delivery('b')]);
      const [a, b] = (await claim(store, 2)) as [ClaimedDelivery, ClaimedDelivery];
      await settle(store, { ...ends.failed(a, LATER), isRepeated: true } as Settlement);
      await settle(store, { ...ends.released(b), retryAtMs: LATER } as Settlement);
      const other = await opened(bed());
      expect(await claim(other, 2)).toEqual([]);
      expect(idsOf(await claim(other, 2, { nowMs: LATER })).sort()).toEqual(['a', 'b']);
    });

    it('counts failed attempts', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      for (let attempt = 1; attempt <= 5; attempt += 1) {
        const claimed = await claimOne(store, START + attempt);
        expect(claimed.attempt).toBe(attempt);
        await settle(store, ends.failed(claimed, START + attempt + 1));
      }
      expect((await store.stats()).depth).toBe(1);
    });
  });
}
