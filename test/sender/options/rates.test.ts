import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fractionOfRate, limitOf, TokenLevel } from '@webhook-backpressure/fleet';

const PER_DAY = 1 / 86_400;

describe('a rate', () => {
  it.each([
    [{ perSecond: 10 }, { amount: 1, periodMs: 100 }],
    [{ perSecond: 1_000_000 }, { amount: 1000, periodMs: 1 }],
    [{ perSecond: 0.5 }, { amount: 1, periodMs: 2000 }],
    [{ perMinute: 90 }, { amount: 3, periodMs: 2000 }],
    [{ perMinute: 1 }, { amount: 1, periodMs: 60_000 }],
    [{ perSecond: 1 / 3600 }, { amount: 1, periodMs: 3_600_000 }],
    [{ perSecond: 7 / 3600 }, { amount: 7, periodMs: 3_600_000 }],
    [{ perSecond: PER_DAY }, { amount: 1, periodMs: 86_400_000 }],
    [{ perSecond: 0.1 + 0.2 }, { amount: 3, periodMs: 10_000 }],
    [
      { perSecond: 10, perMinute: undefined },
      { amount: 1, periodMs: 100 },
    ],
  ])('%j is a fraction of integers', (rate, fraction) => {
    expect(fractionOfRate(rate)).toEqual(fraction);
  });

  it('is a fraction of safe integers that is hardly below it, and never above', () => {
    const rates = fc.double({ min: PER_DAY, max: 1_000_000, noNaN: true });
    fc.assert(
      fc.property(rates, (perSecond) => {
        const { amount, periodMs } = fractionOfRate({ perSecond });
        expect(Number.isSafeInteger(amount) && amount >= 1).toBe(true);
        expect(Number.isSafeInteger(periodMs) && periodMs >= 1).toBe(true);
        const ratio = (amount * 1000) / periodMs / perSecond;
        expect(ratio).toBeLessThanOrEqual(1 + 2e-9);
        expect(ratio).toBeGreaterThan(1 - 2e-5);
        const limit = limitOf({ perSecond });
        expect(new TokenLevel(limit, 0).size).toBeGreaterThanOrEqual(Math.min(limit.burst, 90_000));
      }),
      { seed: 1, numRuns: 2000 },
    );
  });

  it.each([
    [undefined],
    [null],
    [10],
    ['10/s'],
    [{}],
    [{ perHour: 10 }],
    [{ perSecond: 1, perMinute: 60 }],
    [{ perSecond: 0 }],
    [{ perSecond: -1 }],
    [{ perSecond: Number.NaN }],
    [{ perSecond: Infinity }],
    [{ perSecond: 1_000_001 }],
    [{ perSecond: PER_DAY / 2 }],
    [{ perMinute: 60_000_001 }],
    [{ perSecond: '10' }],
    [{ perSecond: 10n }],
  ])('%o is refused', (rate) => {
    expect(() => fractionOfRate(rate)).toThrow(expect.objectContaining({ code: 'ERR_WBP_RATE' }));
  });

  it('saves the tokens of five seconds by default, at least one', () => {
    expect(limitOf({ perSecond: 10 }).burst).toBe(50);
    expect(limitOf({ perMinute: 30 }).burst).toBe(2);
    expect(limitOf({ perSecond: 0.7 }).burst).toBe(3);
    expect(limitOf({ perMinute: 1 }).burst).toBe(1);
    expect(limitOf({ perMinute: 1 }, 7).burst).toBe(7);
  });
});
