import { describe, expect, it } from 'vitest';
import type { BedOf } from '../../store-bed.ts';
import { allDueKeys, claimKey, claimOneOf, putIds, want } from './key-fixtures.ts';
import { claimOne, delivery, ends, idsOf, LEASE, opened, put, settle, START } from './store-fixtures.ts';

export function dueKeys(bed: BedOf): void {
  describe('dueKeys', () => {
    it('lists the keys that have something to claim, with the time when it is due, in pages', async () => {
      const store = await opened(bed());
      for (const key of ['a', 'b', 'c', 'd', 'ü "', '']) await putIds(store, key, '1', '2');
      await put(store, [delivery('over', { key: 'overflow' })], { isOverflow: true });
      await settle(store, ends.completed(await claimOneOf(store, 'b')));
      await settle(store, ends.failed(await claimOneOf(store, 'b'), START + 500));
      await claimKey(store, want('c', 2));
      for (const limit of [1, 2, 4, 100]) {
        const found = await allDueKeys(store, Infinity, limit);
        expect([...found.keys()].sort()).toEqual(['', 'a', 'b', 'd', 'ü "']);
        expect(found.get('b')).toBe(START + 500);
        expect(found.get('a')).toBeLessThanOrEqual(START);
      }
      expect([...(await allDueKeys(store, START + 499)).keys()].sort()).toEqual(['', 'a', 'd', 'ü "']);
      expect([...(await allDueKeys(store, START + 500)).keys()].sort()).toEqual(['', 'a', 'b', 'd', 'ü "']);
    });

    it('returns nothing of an empty store', async () => {
      const store = await opened(bed());
      expect(await store.dueKeys({ after: undefined, limit: 5, dueByMs: Infinity })).toEqual({
        keys: [],
        next: undefined,
      });
    });

    it('skips paused keys, and lists none while everything is paused', async () => {
      const store = await opened(bed());
      for (const key of ['a', 'b', 'c']) await putIds(store, key, '1');
      await store.pause('b');
      expect([...(await allDueKeys(store)).keys()].sort()).toEqual(['a', 'c']);
      await store.pause(null);
      expect(await allDueKeys(store)).toEqual(new Map());
      await store.resume(null);
      await store.resume('b');
      expect([...(await allDueKeys(store)).keys()].sort()).toEqual(['a', 'b', 'c']);
    });

    it('counts claims of other owners until their lease ends, but not those of the caller', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(store, 'a', '1', '2');
      await claimKey(store, want('a', 2));
      expect(await allDueKeys(store)).toEqual(new Map());
      expect(await allDueKeys(other)).toEqual(new Map([['a', START + LEASE]]));
    });

    it('counts the deliveries of another owner, also of one that closed', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await putIds(other, 'a', '1');
      await claimOne(other);
      await putIds(other, 'b', '1');
      await other.close(START);
      expect([...(await allDueKeys(store, START)).keys()].sort()).toEqual(['a', 'b']);
    });

    it.each([false, true])(
      'counts untried deliveries as due when the clock has gone back, ordered: %s',
      async (isOrdered) => {
        const store = await opened(bed(), START, isOrdered);
        await putIds(store, 'a', '1', '2');
        await store.close(START);
        const hourAgo = START - 3_600_000;
        const next = await opened(bed(), hourAgo, isOrdered);
        expect([...(await allDueKeys(next, hourAgo)).keys()]).toEqual(['a']);
        const { claimed, nextDueMs } = await claimKey(next, want('a'), hourAgo);
        expect(idsOf(claimed)).toEqual(['1']);
        // In an ordered store when the first one is settled.
        expect(nextDueMs ?? hourAgo).toBeLessThanOrEqual(hourAgo);
      },
    );

    it('counts the head of each key of an ordered store', async () => {
      const store = await opened(bed(), START, true);
      await putIds(store, 'a', '1', '2');
      await putIds(store, 'b', '1', '2');
      await settle(store, ends.failed(await claimOneOf(store, 'a'), START + 100));
      await claimOneOf(store, 'b');
      expect(await allDueKeys(store)).toEqual(new Map([['a', START + 100]]));
    });

    it('finds every key that is there all the time, although others enter and leave between the pages', async () => {
      const store = await opened(bed());
      const lasting = Array.from({ length: 10 }, (_, at) => `k${String(at)}`);
      for (const key of lasting) await putIds(store, key, '1');
      const found = new Set<string>();
      let after: string | undefined;
      for (let round = 0; round < 100; round += 1) {
        const { keys, next } = await store.dueKeys({ after, limit: 1, dueByMs: Infinity });
        for (const { key } of keys) found.add(key);
        after = next;
        if (after === undefined) break;
        if (round % 2 === 0) await putIds(store, `j${String(round)}`, '1');
        else await settle(store, ends.completed(await claimOneOf(store, `j${String(round - 1)}`)));
      }
      expect(after).toBeUndefined();
      expect(lasting.filter((key) => !found.has(key))).toEqual([]);
    });
  });
}
