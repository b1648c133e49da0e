import { effectiveCapacity, Gate, longestSpan } from '@webhook-backpressure/core/extend';
import { describe, expect, it } from 'vitest';
import { type Marks } from '../../../packages/core/src/queue/gate.ts';

function marks(effectiveCapacity: number, highWaterMark = 0.8, lowWaterMark = 0.5, span = Infinity): Marks {
  return { effectiveCapacity, highWaterMark, lowWaterMark, span };
}

describe('the gate', () => {
  it.each([
    [400, 0.8, 0.5, 320, 200],
    [1000, 0.8, 0.5, 800, 500],
    [100, 0.55, 0.29, 55, 29],
    [7, 0.8, 0.5, 6, 3],
    [3, 1, 0.99, 3, 2],
    [1, 0.8, 0.5, 1, 0],
    [2, 0.8, 0.5, 2, 1],
    [10, 1e-9, 1e-12, 1, 0],
    [100, 0.5, 0.5 - 1e-13, 50, 49],
  ])('of %i places has its marks %d and %d at %i and %i', (size, highMark, lowMark, high, low) => {
    const gate = new Gate();
    gate.resize(marks(size, highMark, lowMark));
    expect(gate).toMatchObject({ effectiveCapacity: size, high, low });
  });

  it.each([
    ['unknown', null, 50_000],
    ['higher than the fractions allow', 5000, 50_000],
    ['100/s', 100, 79_000],
    ['1/s', 1, 79_990],
    ['one in 100 s', 0.01, 79_999],
    ['0', 0, 79_999],
  ])(
    'has its marks at most 10 s of work and at least one delivery apart at a drain rate of %s',
    (_, rate, low) => {
      const gate = new Gate();
      gate.resize(marks(100_000, 0.8, 0.5, longestSpan(rate)));
      expect(gate).toMatchObject({ high: 80_000, low, lowest: 50_000 });
    },
  );

  it.each([
    [100, 1_000_000, 500_000_000],
    [100, 1000, 799_000_000],
    [0.01, 1_000_000, 799_000_000],
    [0.01, 1000, 799_999_000],
  ])('has its marks in bytes as far apart at %d/s, for deliveries of %i bytes', (rate, bytes, low) => {
    const gate = new Gate();
    gate.resize(marks(1_000_000_000, 0.8, 0.5, longestSpan(rate, bytes)));
    expect(gate.low).toBe(low);
  });

  it('follows the drain rate with its low mark', () => {
    const gate = new Gate();
    for (const [rate, low] of [
      [100, 7000],
      [200, 6000],
      [1000, 5000],
      [100, 7000],
    ] as const) {
      gate.resize(marks(10_000, 0.8, 0.5, longestSpan(rate)));
      expect(gate.low).toBe(low);
    }
  });

  it('closes at the high mark and opens at the low mark, and nowhere between', () => {
    const gate = new Gate();
    gate.resize(marks(10));
    const path = [0, 5, 7, 8, 9, 8, 7, 6, 5, 6, 7, 8, 10, 6, 4];
    const toggles = path.filter((depth) => gate.judge(depth));
    expect(toggles).toEqual([8, 5, 8, 4]);
  });

  it('does not change when its marks pass the depth', () => {
    const gate = new Gate();
    gate.resize(marks(100));
    gate.judge(60);
    gate.resize(marks(10));
    expect(gate.shedding).toBe(false);
    expect(gate.judge(60)).toBe(true);
    gate.resize(marks(1000));
    expect(gate.shedding).toBe(true);
    expect(gate.judge(60)).toBe(true);
  });
});

describe('the effective capacity', () => {
  it.each([
    [400, 2000, null, 400],
    [400, 2000, 200, 400],
    [400, 2000, 100, 200],
    [400, 2000, 0.1, 2],
    [1, 2000, 0.1, 1],
    [2, 2000, 0.1, 2],
    [1000, 10_000, 29.3, 293],
  ])('of %i places and %i ms at %d/s is %i', (capacity, maxWaitMs, drainRate, expected) => {
    expect(effectiveCapacity(capacity, maxWaitMs, drainRate)).toBe(expected);
  });
});
