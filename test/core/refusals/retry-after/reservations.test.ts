import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Promises } from '../../../../packages/core/src/refusals/reservations.ts';

const MAX = 10_000;

interface Kept {
  readonly key: string;
  readonly id: string;
  readonly dueMs: number;
}

/** How many of these are still promised. */
function kept(promises: Promises, all: readonly Kept[]): Kept[] {
  return all.filter(({ key, id }) => promises.find(key, id) !== undefined);
}

function fill(promises: Promises, key: string, count: number, dueMs = 60_000, nowMs = 0): Kept[] {
  return Array.from({ length: count }, (_, i) => {
    const promise = { key, id: `${key} ${String(i)}`, dueMs };
    promises.add(key, promise.id, dueMs, nowMs);
    return promise;
  });
}

describe('a promise', () => {
  it('is due from one second before its booking until 60 s after it', () => {
    const promises = new Promises();
    promises.add('shop', 'a', 100_000, 0);
    const promise = promises.find('shop', 'a');
    const due = [98_999, 99_000, 100_000, 160_000, 160_001].map((ms) => promise?.isDue(ms));
    expect(due).toEqual([false, true, true, true, false]);
    expect([160_000, 160_001].map((ms) => promise?.isLapsed(ms))).toEqual([false, true]);
  });

  it('belongs to one key and one id', () => {
    const promises = new Promises();
    promises.add('shop', 'a', 1000, 0);
    for (const [key, id] of [
      ['shop', 'b'],
      ['bank', 'a'],
      ['shopa', ''],
      ['', 'shopa'],
      ['__proto__', 'a'],
    ]) {
      expect(promises.find(key as string, id as string)).toBeUndefined();
    }
    promises.add('__proto__', 'constructor', 1000, 0);
    expect(promises.find('__proto__', 'constructor')?.key).toBe('__proto__');
  });

  it('can be forgotten once, and forgetting nothing does nothing', () => {
    const promises = new Promises();
    promises.add('shop', 'a', 1000, 0);
    promises.forget(promises.find('shop', 'a'));
    expect([promises.size, promises.find('shop', 'a')]).toEqual([0, undefined]);
    promises.forget(promises.find('shop', 'a'));
    promises.forget(null);
    expect(promises.size).toBe(0);
  });
});

describe('of promises', () => {
  it('ten thousand are kept, the latest', () => {
    const promises = new Promises();
    const all = fill(promises, 'shop', MAX + 2500);
    expect(promises.size).toBe(MAX);
    expect(kept(promises, all)).toEqual(all.slice(2500));
  });

  it('each of two keys gets half at the most when both want more', () => {
    const promises = new Promises();
    const noisy = fill(promises, 'noisy', 2 * MAX);
    const other = fill(promises, 'other', 2 * MAX);
    expect(promises.size).toBe(MAX);
    expect(kept(promises, noisy)).toHaveLength(MAX / 2);
    expect(kept(promises, other)).toEqual(other.slice(-MAX / 2));
  });

  it('a key that is content keeps all of its own, whatever ids another invents', () => {
    const promises = new Promises();
    const honest = fill(promises, 'honest', 1000);
    fill(promises, 'forger', 100_000);
    expect(kept(promises, honest)).toHaveLength(1000);
    expect(promises.size).toBe(1000 + MAX / 2);
  });

  it('those of a key that holds more than others give way to invented keys', () => {
    const promises = new Promises();
    const honest = fill(promises, 'honest', 2000);
    const left: number[] = [];
    for (let i = 0; i < 30_000; i += 1) {
      promises.add(`invented ${String(i)}`, 'x', 60_000, 0);
      if (i % 5000 === 4999) left.push(kept(promises, honest).length);
    }
    expect(promises.size).toBe(MAX);
    // 5,000 keys leave an equal share of two. What was invented first is not kept for ever either.
    expect(left[0]).toBe(2000);
    expect(promises.find('invented 0', 'x')).toBeUndefined();
    expect(promises.find('invented 29999', 'x')).toBeDefined();
  });

  it('those of a small key stay when a large one can give way', () => {
    const promises = new Promises();
    const small = Array.from({ length: 5 }, (_, i) => fill(promises, `small ${String(i)}`, 1)).flat();
    // Nearly all, which is its share as long as it is alone with those.
    for (let i = 0; i < MAX; i += 1) promises.add('large', String(i), 60_000, 0);
    const before = promises.size;
    for (let i = 0; promises.size < MAX; i += 1) promises.add(`other ${String(i)}`, 'x', 60_000, 0);
    expect(before).toBeLessThan(MAX);
    for (let i = 0; i < 500; i += 1) promises.add(`one more ${String(i)}`, 'x', 60_000, 0);
    expect(promises.size).toBe(MAX);
    expect(kept(promises, small)).toHaveLength(5);
  });

  it('those that nobody came for leave one at a time, also while there is room', () => {
    const promises = new Promises();
    fill(promises, 'a', 1000, 1000);
    for (let i = 0; i < 1000; i += 1) promises.add('b', String(i), 400_000, 100_000);
    expect(promises.size).toBe(1000);
  });

  it('those that nobody came for make room first', () => {
    const promises = new Promises();
    const lapsed = fill(promises, 'a', MAX / 2, 1000);
    const live = fill(promises, 'a', MAX / 2, 400_000).map((one, i) => ({ ...one, id: `live ${String(i)}` }));
    for (const { id } of live) promises.add('b', id, 400_000, 100_000);
    expect(promises.size).toBeLessThanOrEqual(MAX);
    expect(kept(promises, lapsed).length).toBeLessThan(MAX / 2);
    expect(live.filter(({ id }) => promises.find('b', id) !== undefined)).toHaveLength(MAX / 2);
  });

  it('never more than ten thousand, and no key beyond its share grows, whatever comes', () => {
    const script = fc.array(fc.tuple(fc.nat(6), fc.integer({ min: 1, max: 3000 })), { maxLength: 25 });
    fc.assert(
      fc.property(script, (steps) => {
        const promises = new Promises();
        const counts = new Map<string, number>();
        let id = 0;
        for (const [key, count] of steps) {
          const name = String(key);
          const before = counts.get(name) ?? 0;
          const ids: string[] = [];
          for (let i = 0; i < count; i += 1) {
            const next = String((id += 1));
            ids.push(next);
            promises.add(name, next, 60_000, 0);
          }
          expect(promises.size).toBeLessThanOrEqual(MAX);
          const keys = new Set([...counts.keys(), name]).size;
          const now = Math.min(before + count, Math.max(before, Math.ceil(MAX / keys)));
          counts.set(name, now);
          // Its own latest are there, as many as its share allows.
          const latest = ids.slice(-Math.floor(MAX / keys));
          expect(latest.every((one) => promises.find(name, one) !== undefined)).toBe(true);
        }
      }),
      { seed: 5, numRuns: 15 },
    );
  });
});
