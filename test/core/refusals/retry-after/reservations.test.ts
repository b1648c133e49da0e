import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Reservations } from '../../../../packages/core/src/refusals/reservations.ts';

const MAX = 10_000;

interface Kept {
  readonly key: string;
  readonly id: string;
  readonly dueMs: number;
}

/** The deliveries that still have a reservation. */
function kept(reservations: Reservations, all: readonly Kept[]): Kept[] {
  return all.filter(({ key, id }) => reservations.find(key, id) !== undefined);
}

function fill(reservations: Reservations, key: string, count: number, dueMs = 60_000, nowMs = 0): Kept[] {
  return Array.from({ length: count }, (_, i) => {
    const reservation = { key, id: `${key} ${String(i)}`, dueMs };
    reservations.add(key, reservation.id, dueMs, nowMs);
    return reservation;
  });
}

describe('a reservation', () => {
  it('is due from one second before its booking until 60 s after it', () => {
    const reservations = new Reservations();
    reservations.add('shop', 'a', 100_000, 0);
    const reservation = reservations.find('shop', 'a');
    const due = [98_999, 99_000, 100_000, 160_000, 160_001].map((ms) => reservation?.isDue(ms));
    expect(due).toEqual([false, true, true, true, false]);
    expect([160_000, 160_001].map((ms) => reservation?.isLapsed(ms))).toEqual([false, true]);
  });

  it('belongs to one key and one id', () => {
    const reservations = new Reservations();
    reservations.add('shop', 'a', 1000, 0);
    for (const [key, id] of [
      ['shop', 'b'],
      ['bank', 'a'],
      ['shopa', ''],
      ['', 'shopa'],
      ['__proto__', 'a'],
    ]) {
      expect(reservations.find(key as string, id as string)).toBeUndefined();
    }
    reservations.add('__proto__', 'constructor', 1000, 0);
    expect(reservations.find('__proto__', 'constructor')?.key).toBe('__proto__');
  });

  it('can be dropped once, and dropping nothing does nothing', () => {
    const reservations = new Reservations();
    reservations.add('shop', 'a', 1000, 0);
    reservations.forget(reservations.find('shop', 'a'));
    expect([reservations.size, reservations.find('shop', 'a')]).toEqual([0, undefined]);
    reservations.forget(reservations.find('shop', 'a'));
    reservations.forget(null);
    expect(reservations.size).toBe(0);
  });
});

describe('the reservations', () => {
  it('are the latest ten thousand', () => {
    const reservations = new Reservations();
    const all = fill(reservations, 'shop', MAX + 2500);
    expect(reservations.size).toBe(MAX);
    expect(kept(reservations, all)).toEqual(all.slice(2500));
  });

  it('are divided equally between two keys that want more', () => {
    const reservations = new Reservations();
    const noisy = fill(reservations, 'noisy', 2 * MAX);
    const other = fill(reservations, 'other', 2 * MAX);
    expect(reservations.size).toBe(MAX);
    expect(kept(reservations, noisy)).toHaveLength(MAX / 2);
    expect(kept(reservations, other)).toEqual(other.slice(-MAX / 2));
  });

  it('of a key below its share stay, whatever ids another key invents', () => {
    const reservations = new Reservations();
    const others = fill(reservations, 'shop', 1000);
    fill(reservations, 'flood', 100_000);
    expect(kept(reservations, others)).toHaveLength(1000);
    expect(reservations.size).toBe(1000 + MAX / 2);
  });

  it('of a key above its share make room for invented keys', () => {
    const reservations = new Reservations();
    const others = fill(reservations, 'shop', 2000);
    const left: number[] = [];
    for (let i = 0; i < 30_000; i += 1) {
      reservations.add(`invented ${String(i)}`, 'x', 60_000, 0);
      if (i % 5000 === 4999) left.push(kept(reservations, others).length);
    }
    expect(reservations.size).toBe(MAX);
    // 5,000 keys leave an equal share of two. The first invented keys are dropped too.
    expect(left[0]).toBe(2000);
    expect(reservations.find('invented 0', 'x')).toBeUndefined();
    expect(reservations.find('invented 29999', 'x')).toBeDefined();
  });

  it('of small keys stay while a large key can make room', () => {
    const reservations = new Reservations();
    const small = Array.from({ length: 5 }, (_, i) => fill(reservations, `small ${String(i)}`, 1)).flat();
    // Nearly all, which is its share next to the small keys.
    for (let i = 0; i < MAX; i += 1) reservations.add('large', String(i), 60_000, 0);
    const before = reservations.size;
    for (let i = 0; reservations.size < MAX; i += 1) reservations.add(`other ${String(i)}`, 'x', 60_000, 0);
    expect(before).toBeLessThan(MAX);
    for (let i = 0; i < 500; i += 1) reservations.add(`one more ${String(i)}`, 'x', 60_000, 0);
    expect(reservations.size).toBe(MAX);
    expect(kept(reservations, small)).toHaveLength(5);
  });

  it('that have lapsed are dropped one at a time, also while there is room', () => {
    const reservations = new Reservations();
    fill(reservations, 'a', 1000, 1000);
    for (let i = 0; i < 1000; i += 1) reservations.add('b', String(i), 400_000, 100_000);
    expect(reservations.size).toBe(1000);
  });

  it('that have lapsed make room first', () => {
    const reservations = new Reservations();
    const lapsed = fill(reservations, 'a', MAX / 2, 1000);
    const live = fill(reservations, 'a', MAX / 2, 400_000).map((one, i) => ({
      ...one,
      id: `live ${String(i)}`,
    }));
    for (const { id } of live) reservations.add('b', id, 400_000, 100_000);
    expect(reservations.size).toBeLessThanOrEqual(MAX);
    expect(kept(reservations, lapsed).length).toBeLessThan(MAX / 2);
    expect(live.filter(({ id }) => reservations.find('b', id) !== undefined)).toHaveLength(MAX / 2);
  });

  it('are at most ten thousand, and no key grows beyond its share', () => {
    const script = fc.array(fc.tuple(fc.nat(6), fc.integer({ min: 1, max: 3000 })), { maxLength: 25 });
    fc.assert(
      fc.property(script, (steps) => {
        const reservations = new Reservations();
        const counts = new Map<string, number>();
        let id = 0;
        for (const [key, count] of steps) {
          const name = String(key);
          const before = counts.get(name) ?? 0;
          const ids: string[] = [];
          for (let i = 0; i < count; i += 1) {
            const next = String((id += 1));
            ids.push(next);
            reservations.add(name, next, 60_000, 0);
          }
          expect(reservations.size).toBeLessThanOrEqual(MAX);
          const keys = new Set([...counts.keys(), name]).size;
          const now = Math.min(before + count, Math.max(before, Math.ceil(MAX / keys)));
          counts.set(name, now);
          // The latest reservations of the key are kept, up to its share.
          const latest = ids.slice(-Math.floor(MAX / keys));
          expect(latest.every((one) => reservations.find(name, one) !== undefined)).toBe(true);
        }
      }),
      { seed: 5, numRuns: 15 },
    );
  });
});
