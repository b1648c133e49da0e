import { describe, expect, it } from 'vitest';
import { effectiveCapacity, Gate, longestSpan } from '../../../packages/core/src/queue/gate.ts';
import { Reserve, type ReserveQueue } from '../../../packages/core/src/queue/reserve.ts';

const MEMORY_MS = 1000;

interface Asked {
  readonly key?: string;
  readonly at?: number;
  readonly isEntitled?: boolean;
  readonly isKeeping?: boolean;
  readonly isNear?: boolean;
  readonly isUnrepeated?: boolean;
}

/** A closed gate at 60 % of the capacity, and a queue of this size in which each key has `line` deliveries. */
function reserve(
  size: number,
  { line, ...queue }: Partial<ReserveQueue> & { readonly line?: number } = {},
  capacity = 100,
): (asked?: Asked) => string {
  const gate = new Gate();
  const marks = { highWaterMark: 0.6, lowWaterMark: 0.5, span: Infinity };
  gate.resize({ effectiveCapacity: capacity, ...marks });
  const lineOf = (): { size: number } | undefined => (line === undefined ? undefined : { size: line });
  const answers = new Reserve({ size, keys: 1, lineOf, ...queue }, gate);
  return ({ key = 'a', at = 0, isEntitled = true, isKeeping, isNear, isUnrepeated } = {}) =>
    answers.ask(key, isEntitled, at, MEMORY_MS, isKeeping, isNear, isUnrepeated);
}

describe('the reserve', () => {
  it.each([
    [100, 89, 90],
    // At most 64 places.
    [1000, 935, 936],
  ])('of a capacity of %i keeps places for deliveries that are near', (capacity, last, kept) => {
    expect(reserve(last, {}, capacity)({ isKeeping: true })).toBe('open');
    expect(reserve(kept, {}, capacity)({ isKeeping: true })).toBe('full');
    expect(reserve(kept, {}, capacity)()).toBe('open');
    expect(reserve(kept, {}, capacity)({ isKeeping: true, isNear: true })).toBe('open');
    expect(reserve(capacity, {}, capacity)({ isKeeping: true, isNear: true })).toBe('full');
  });

  it('gives its lower half to deliveries that are near, and a quarter to other large keys', () => {
    const ask = reserve(79, { line: 50 });
    ask({ key: 'b' });
    expect(ask({ isNear: true })).toBe('open');
    expect(ask()).toBe('full');
  });

  it('takes a key for large that would hold an equal share', () => {
    for (const [line, answer] of [
      [9, 'open'],
      [10, 'full'],
    ] as const) {
      const ask = reserve(75, { line, keys: 9 });
      ask({ key: 'b' });
      expect(ask()).toBe(answer);
    }
  });

  it('treats all deliveries that are never retried as one key', () => {
    const ask = reserve(75, { unrepeated: 50 });
    expect(ask({ isUnrepeated: true })).toBe('open');
    expect(ask({ isUnrepeated: true, at: 10 })).toBe('open');
    expect(ask({ at: 20 })).toBe('open');
    expect(ask({ isUnrepeated: true, at: 20 + MEMORY_MS })).toBe('full');
    expect(ask({ isUnrepeated: true, at: 21 + MEMORY_MS })).toBe('open');
    const fewer = reserve(75, { unrepeated: 49 });
    fewer();
    expect(fewer({ isUnrepeated: true })).toBe('open');
  });

  it('is open to a key by the turns that it would have beside keys that are never retried', () => {
    const ask = reserve(65, { line: 9, keys: 4, unrepeatedKeys: 3 });
    expect(ask({ isEntitled: false })).toBe('open');
  });
});

describe('the marks', () => {
  it('move with each of the figures that they depend on', () => {
    const gate = new Gate();
    const marks = { effectiveCapacity: 100, highWaterMark: 0.6, lowWaterMark: 0.6, span: Infinity };
    gate.resize(marks);
    expect([gate.high, gate.low]).toEqual([60, 59]);
    gate.resize({ ...marks, highWaterMark: 0.8 });
    expect([gate.high, gate.low]).toEqual([80, 60]);
    gate.resize({ ...marks, highWaterMark: 0.8, lowWaterMark: 0.5 });
    expect([gate.high, gate.low]).toEqual([80, 50]);
    gate.resize({ ...marks, highWaterMark: 0.8, lowWaterMark: 0.5, span: 1 });
    expect([gate.high, gate.low]).toEqual([80, 79]);
  });

  it('follow rounded products', () => {
    // 0.29 × 100 is 28.999999999999996.
    expect(effectiveCapacity(1000, 290, 100)).toBe(29);
    expect([longestSpan(5), longestSpan(5, 1000), longestSpan(0.01, 1000)]).toEqual([50, 50_000, 1000]);
  });
});
