import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUCKETS, bucketOf, middleOf } from '../../../packages/observe/src/windows/sliced-figures.ts';

const DAY_MS = 86_400_000;

describe('the buckets of a histogram', () => {
  it('represent every value from 1 ms to 24 h with an error of at most 6 %', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: Math.log(DAY_MS), noNaN: true }), (exponent) => {
        const value = Math.exp(exponent);
        expect(Math.abs(middleOf(bucketOf(value)) - value) / value).toBeLessThan(0.06);
      }),
    );
  });

  it('show values below 1 as 0', () => {
    for (const value of [0, 0.001, 0.999_999, -5, Number.NaN]) expect(middleOf(bucketOf(value))).toBe(0);
    expect(middleOf(bucketOf(1))).toBeGreaterThan(1);
  });

  it('put everything above 24 h into the last one', () => {
    expect(bucketOf(DAY_MS)).toBe(BUCKETS - 1);
    expect(bucketOf(1e12)).toBe(BUCKETS - 1);
    expect(bucketOf(Infinity)).toBe(BUCKETS - 1);
    expect(middleOf(BUCKETS - 1) / DAY_MS).toBeCloseTo(1, 1);
  });

  it('keep the order of the values', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        fc.double({ min: 0, max: 1e9, noNaN: true }),
        (a, b) => {
          if (a <= b) expect(bucketOf(a)).toBeLessThanOrEqual(bucketOf(b));
        },
      ),
    );
  });
});
