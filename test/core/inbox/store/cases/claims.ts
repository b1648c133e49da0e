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

export function claims(bed: BedOf): void {
  describe('claim', () => {
    it('returns each delivery once, in the order of storing', async () => {
      const store = await opened(bed());
      await put(store, [delivery('c'), delivery('a')]);
      await put(store, [delivery('b')]);
      expect(idsOf(await claim(store, 2))).toEqual(['c', 'a']);
      expect(idsOf(await claim(store, 2))).toEqual(['b']);
      expect(await claim(store, 2)).toEqual([]);
    });

    it('returns nothing for a count of 0', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      expect(await claim(store, 0)).toEqual([]);
      expect(idsOf(await claim(store, 1))).toEqual(['a']);
    });

    it('takes the keys in turn within a call, so that a long queue of one key does not delay others', async () => {
      const store = await opened(bed());
      await put(
        store,
        Array.from({ length: 20 }, (_, at) => delivery(`n${String(at)}`, { key: 'noisy' })),
      );
      await put(store, [delivery('x', { key: 'x' }), delivery('y', { key: 'y' })]);
      expect(idsOf(await claim(store, 3)).sort()).toEqual(['n0', 'x', 'y']);
      expect(idsOf(await claim(store, 2))).toEqual(['n1', 'n2']);
    });

    it('continues the rotation of keys from call to call', async () => {
      const store = await opened(bed());
      const keys = ['a', 'b', 'c'];
      await put(
        store,
        keys.flatMap((key) => [1, 2, 3].map((at) => delivery(String(at), { key }))),
      );
      const turns: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const turn: string[] = [];
        for (let at = 0; at < 3; at += 1) turn.push((await claimOne(store)).key);
        turns.push(turn.sort().join(''));
      }
      expect(turns).toEqual(['abc', 'abc', 'abc']);
    });

    it('does not return a retry before it is due, and returns the earliest due first', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a'), delivery('b')]);
      const [a, b] = await claim(store, 2);
      await settle(store, ends.failed(a as NonNullable<typeof a>, START + 2000));
      await settle(store, ends.failed(b as NonNullable<typeof b>, START + 1000));
      expect(await claim(store, 2, { nowMs: START + 999 })).toEqual([]);
      const retried = await claim(store, 2, { nowMs: START + 2000 });
      expect(retried.map(({ id, attempt }) => [id, attempt])).toEqual([
        ['b', 2],
        ['a', 2],
      ]);
    });

    it('nextDueMs returns when the next delivery is due', async () => {
      const store = await opened(bed());
      expect(await store.nextDueMs()).toBeUndefined();
      await put(store, [delivery('a')]);
      expect(await store.nextDueMs()).toBeLessThanOrEqual(START);
      const a = await claimOne(store);
      // The owner's own lease does not count.
      expect(await store.nextDueMs()).toBeUndefined();
      await settle(store, ends.failed(a, START + 5000));
      expect(await store.nextDueMs()).toBe(START + 5000);
    });

    it('hasten makes retries due that are scheduled too far ahead', async () => {
      const store = await opened(bed());
      const day = 86_400_000;
      await put(store, [delivery('a'), delivery('b'), delivery('c'), delivery('held')]);
      const dueMs: Record<string, number> = { a: day + 1, b: day, c: 2 * day };
      for (const one of await claim(store, 4)) {
        const inMs = dueMs[one.id];
        if (inMs !== undefined) await settle(store, ends.failed(one, START + inMs));
      }
      const hasten = (limit: number): unknown => store.hasten({ afterMs: START + day, nowMs: START, limit });
      expect([await hasten(1), await hasten(9), await hasten(9)]).toEqual([1, 1, 0]);
      expect(idsOf(await claim(store, 9)).sort()).toEqual(['a', 'c']);
      expect(await store.nextDueMs()).toBe(START + day);
    });

    it('hasten with a key makes only the retries of that key due', async () => {
      const store = await opened(bed());
      await put(
        store,
        ['a', 'b', 'c'].map((id) => delivery(id, { key: id === 'c' ? 'other' : 'key' })),
      );
      for (const one of await claim(store, 3)) await settle(store, ends.failed(one, START + 5000));
      const hasten = (key: string, limit = 9): unknown =>
        store.hasten({ key, afterMs: START, nowMs: START, limit });
      expect(await hasten('unknown')).toBe(0);
      expect([await hasten('key', 1), await hasten('key'), await hasten('key')]).toEqual([1, 1, 0]);
      expect(idsOf(await claim(store, 9)).sort()).toEqual(['a', 'b']);
      expect(await store.nextDueMs()).toBe(START + 5000);
      expect(await hasten('other')).toBe(1);
      expect(idsOf(await claim(store, 9))).toEqual(['c']);
    });

    it('open makes untried deliveries due when the clock has gone back', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      await store.close(START);
      const hourAgo = START - 3_600_000;
      const next = await opened(bed(), hourAgo);
      expect(idsOf(await claim(next, 1, { nowMs: hourAgo }))).toEqual(['a']);
    });
  });

  describe('a claim', () => {
    it('excludes other owners during its lease, renewals included', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      expect(await claim(other, 1, { nowMs: START + LEASE - 1 })).toEqual([]);
      expect(await store.renew([a], { leaseMs: LEASE, nowMs: START + LEASE - 1 })).toEqual([true]);
      expect(await claim(other, 1, { nowMs: START + LEASE + 1 })).toEqual([]);
      expect(await other.nextDueMs()).toBe(START + 2 * LEASE - 1);
    });

    it('is taken over after its lease, with its attempt used and the stranding counted', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      const nowMs = START + LEASE;
      const [taken] = await claim(other, 1, { nowMs });
      expect(taken).toMatchObject({ id: 'a', attempt: 2, strandings: 1 });
      expect(await store.renew([a], { leaseMs: LEASE, nowMs })).toEqual([false]);
      for (const end of [ends.completed(a), ends.failed(a, nowMs), ends.dead(a), ends.released(a)]) {
        expect(await settle(store, end, nowMs)).toBe(false);
      }
      expect(await settle(other, ends.completed(taken as NonNullable<typeof taken>), nowMs)).toBe(true);
    });

    it('may be renewed and settled after its lease until another owner has claimed the delivery', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      const late = START + 2 * LEASE;
      expect(await claim(store, 1, { nowMs: late })).toEqual([]);
      expect(await store.renew([a], { leaseMs: LEASE, nowMs: late })).toEqual([true]);
      expect(await settle(store, ends.completed(a), late)).toBe(true);
    });

    it('belongs to its owner and its attempt', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      expect(await settle(other, ends.completed(a))).toBe(false);
      expect(await other.renew([a], { leaseMs: LEASE, nowMs: START })).toEqual([false]);
      expect(await settle(store, ends.completed({ ...a, attempt: 2 }))).toBe(false);
      expect(await settle(store, ends.completed({ ...a, key: 'other' }))).toBe(false);
      expect(await store.renew([{ ...a, id: 'b' }, a], { leaseMs: LEASE, nowMs: START })).toEqual([
        false,
        true,
      ]);
    });

    it('is returned alone, or not at all, once it was stranded', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a'), delivery('b'), delivery('c')]);
      await claim(store, 3);
      await put(store, [delivery('d')]);
      const nowMs = START + LEASE;
      expect(idsOf(await claim(other, 9, { nowMs, maxStranded: 0 }))).toEqual(['d']);
      const claimed = await claim(other, 9, { nowMs });
      expect(claimed.map(({ strandings }) => strandings)).toEqual([1]);
      // The caller waits until it is over; the store does not check that.
      expect(await claim(other, 9, { nowMs })).toHaveLength(1);
    });

    it('is released when its owner closes, due immediately and without using an attempt', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a'), delivery('b')]);
      const [a] = await claim(store, 2);
      await settle(store, ends.failed(a as NonNullable<typeof a>, START + 10));
      await claim(store, 1, { nowMs: START + 10 });
      await store.close(START + 20);
      const taken = await claim(other, 2, { nowMs: START + 20 });
      expect(taken.map(({ id, attempt, strandings }) => [id, attempt, strandings]).sort()).toEqual([
        ['a', 2, 0],
        ['b', 1, 0],
      ]);
    });
  });
}
