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

const ODD = ['', '__proto__', 'a\u0000b', '"', '\\', '\ud800', 'ÿ', '😀', 'z'];

export function passing(bed: BedOf): void {
  describe('a claim with except', () => {
    it('skips these keys, and rotates among the others', async () => {
      const store = await opened(bed());
      await put(
        store,
        ['a', 'b', 'c', 'd'].flatMap((key) => [1, 2].map((at) => delivery(`${key}${String(at)}`, { key }))),
      );
      const except = ['b', 'd'];
      const got: string[] = [];
      for (let at = 0; at < 4; at += 1) got.push(...idsOf(await claim(store, 1, { except })));
      expect([...got].sort()).toEqual(['a1', 'a2', 'c1', 'c2']);
      expect(got[0]?.[0]).not.toBe(got[1]?.[0]);
      expect(await claim(store, 9, { except })).toEqual([]);
      expect(idsOf(await claim(store, 9, { except: ['b'] })).sort()).toEqual(['d1', 'd2']);
      expect(idsOf(await claim(store, 9)).sort()).toEqual(['b1', 'b2']);
    });

    it.each(ODD)('skips any key: %j', async (key) => {
      const store = await opened(bed());
      await put(
        store,
        ODD.map((one) => delivery('1', { key: one })),
      );
      const others = ODD.filter((one) => one !== key);
      const keys = (await claim(store, 99, { except: [key] })).map((one) => one.key);
      expect(keys.sort()).toEqual(others.sort());
      expect(await store.nextDueMs(new Set([key]))).toBeUndefined();
      expect((await claimOne(store)).key).toBe(key);
    });

    it('skips stranded deliveries of these keys too', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a', { key: 'a' }), delivery('b', { key: 'b' })]);
      await claim(store, 2);
      const nowMs = START + LEASE;
      const got = await claim(other, 9, { nowMs, maxStranded: 9, except: ['a'] });
      expect(idsOf(got)).toEqual(['b']);
      expect(await other.nextDueMs(new Set(['a']))).toBeUndefined();
    });

    it('lets nextDueMs return when another key is due', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a', { key: 'a' }), delivery('b', { key: 'b' })]);
      const [a] = await claim(store, 1, { except: ['b'] });
      await settle(store, ends.failed(a as NonNullable<typeof a>, START + 5000));
      expect(await store.nextDueMs(new Set(['b']))).toBe(START + 5000);
      expect(await store.nextDueMs()).toBeLessThanOrEqual(START);
    });
  });

  describe('stranded deliveries', () => {
    it('are returned up to maxStranded, those stranded once first', async () => {
      const stores = [await opened(bed()), await opened(bed()), await opened(bed())] as const;
      const [first, second, third] = stores;
      await put(
        first,
        ['a', 'b', 'c', 'd', 'e'].map((id) => delivery(id)),
      );
      await claim(first, 5);
      let nowMs = START + LEASE;
      expect(await claim(second, 9, { nowMs, maxStranded: 2 })).toHaveLength(2);
      nowMs += LEASE;
      const once = await claim(third, 9, { nowMs, maxStranded: 9 });
      expect(once.map(({ strandings }) => strandings)).toEqual([1, 1, 1]);
      for (const one of once) await settle(third, ends.completed(one), nowMs);
      // One that was stranded twice is returned alone, whatever maxStranded is.
      const twice = await claim(third, 9, { nowMs, maxStranded: 9 });
      expect(twice.map(({ strandings }) => strandings)).toEqual([2]);
      expect(await claim(third, 9, { nowMs, maxStranded: 0 })).toEqual([]);
    });
  });

  describe('a pause', () => {
    it('applies to a key until it is resumed, and returns whether it is new', async () => {
      const [store, other] = [await opened(bed()), await opened(bed())];
      await put(store, [delivery('a', { key: 'a' }), delivery('b', { key: 'b' })]);
      expect([await store.pause('a'), await other.pause('a')]).toEqual([true, false]);
      expect(idsOf(await claim(other, 9))).toEqual(['b']);
      expect(await other.nextDueMs()).toBeUndefined();
      expect(await store.stats()).toMatchObject({ isPaused: false, pausedKeys: ['a'], depth: 2 });
      expect([await other.resume('a'), await store.resume('a')]).toEqual([true, false]);
      expect(idsOf(await claim(store, 9))).toEqual(['a']);
    });

    it('applies to everything, independently of the keys, and survives a restart', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a', { key: 'a' }), delivery('b', { key: 'b' })]);
      await store.pause('a');
      expect([await store.pause(null), await store.pause(null)]).toEqual([true, false]);
      expect([await claim(store, 9), await store.nextDueMs()]).toEqual([[], undefined]);
      await store.close(START);
      const next = await opened(bed());
      expect(await next.stats()).toMatchObject({ isPaused: true, pausedKeys: ['a'] });
      expect([await next.resume(null), await next.resume(null)]).toEqual([true, false]);
      expect(idsOf(await claim(next, 9))).toEqual(['b']);
      expect(await next.stats()).toMatchObject({ isPaused: false, pausedKeys: ['a'] });
    });

    it('leaves claims to their owner, and applies to a delivery that is released', async () => {
      const store = await opened(bed());
      await put(store, [delivery('a')]);
      const a = await claimOne(store);
      await store.pause('shop');
      expect(await store.renew([a], { leaseMs: LEASE, nowMs: START })).toEqual([true]);
      await settle(store, ends.failed(a, START + 10));
      expect(await claim(store, 9, { nowMs: START + 20 })).toEqual([]);
      await store.resume('shop');
      expect(await claimOne(store, START + 20)).toMatchObject({ id: 'a', attempt: 2 });
    });

    it.each(ODD)('accepts any key: %j', async (key) => {
      const store = await opened(bed());
      await put(
        store,
        ODD.map((one) => delivery('1', { key: one })),
      );
      await store.pause(key);
      expect((await store.stats()).pausedKeys).toEqual([key]);
      expect(await claim(store, 99)).toHaveLength(ODD.length - 1);
      await store.resume(key);
      expect((await claimOne(store)).key).toBe(key);
    });
  });

  it('releases a delivery until a time without counting an attempt', async () => {
    const store = await opened(bed());
    await put(store, [delivery('a'), delivery('b')]);
    await settle(store, ends.released(await claimOne(store), START + 1000));
    expect(idsOf(await claim(store, 9))).toEqual(['b']);
    expect(await store.nextDueMs()).toBe(START + 1000);
    expect(await claimOne(store, START + 1000)).toMatchObject({ id: 'a', attempt: 1, strandings: 0 });
  });
}
