import { describe, expect, it } from 'vitest';
import { FirstAttempts } from '../../../packages/core/src/refusals/first-attempts.ts';

/** So many arrivals in each 10 s, the first of them from 0 on. */
function arrived(perBin: readonly number[], mostPerS?: number): FirstAttempts {
  const arrivals = new FirstAttempts();
  for (const [bin, count] of perBin.entries())
    for (let i = 0; i < count; i += 1) arrivals.note(bin * 10_000 + i, mostPerS);
  return arrivals;
}

/** The rate after a first refusal at this time. */
function rateAt(arrivals: FirstAttempts, nowMs: number): number {
  arrivals.shed(nowMs, false);
  return arrivals.perSecond;
}

describe('the rate of first attempts', () => {
  it.each<[string, readonly number[], number, number]>([
    ['of the six bins of 10 s before the burst', [900, 36, 36, 36, 36, 36, 36, 500], 36, 6],
    ['without the largest and the smallest', [36, 500, 36, 0, 36, 36, 7], 36, 6],
    ['in which bins without arrivals count', [64, 64, 64, 64, 0, 0, 9], 48, 6],
    ['of fewer bins if there are no more', [16, 100, 4, 9], 16, 3],
    ['of all if there are two', [16, 48, 9], 32, 2],
    ['of one', [16, 9], 16, 1],
  ])('is the mean %s, plus a standard error', (_, perBin, mean, bins) => {
    const rate = rateAt(arrived(perBin), (perBin.length - 1) * 10_000 + 600);
    expect(rate).toBeCloseTo((mean + Math.sqrt(mean / bins)) / 10);
  });

  it('is 0 without earlier arrivals', () => {
    expect([rateAt(new FirstAttempts(), 1e9), rateAt(arrived([9]), 9999)]).toEqual([0, 0]);
  });

  it('counts the time since the last arrival', () => {
    expect(rateAt(arrived([40, 40, 40]), 1e6)).toBe(0);
    expect(rateAt(arrived([40, 40, 40]), 50_000)).toBeCloseTo((80 / 3 + Math.sqrt(80 / 15)) / 10);
  });

  it('leaves out bins with more arrivals than the queue would take', () => {
    expect(rateAt(arrived([20, 21, 20, 1], 2), 30_000)).toBeCloseTo((20 + Math.sqrt(20 / 2)) / 10);
  });

  it('is measured again after a minute without shedding and without booked retries', () => {
    const arrivals = arrived([16, 9]);
    const first = rateAt(arrivals, 10_000);
    expect(first).toBeGreaterThan(0);
    arrivals.shed(69_999, false);
    arrivals.shed(129_999, true);
    expect(arrivals.perSecond).toBe(first);
    expect(arrivals.burstS(130_000)).toBe(120);
    arrivals.shed(189_999, false);
    expect(arrivals.perSecond).toBe(0);
    expect([arrivals.burstS(190_999), arrivals.burstS(0)]).toEqual([1, 0]);
  });

  it('leaves at least a quarter of the drain rate for retries', () => {
    const arrivals = arrived([100, 1]);
    expect(arrivals.shareForRetries(1)).toBe(1);
    // 100 and a standard error of 10 in 10 s.
    expect(rateAt(arrivals, 10_000)).toBe(11);
    expect([110, 22, 12, 1].map((rate) => arrivals.shareForRetries(rate))).toEqual([0.9, 0.5, 0.25, 0.25]);
  });
});

it('reports shedding of this receiver for five seconds', () => {
  const arrivals = new FirstAttempts();
  arrivals.shed(1000, false, false);
  expect([arrivals.isShedding(1000), arrivals.burstS(3000)]).toEqual([false, 2]);
  arrivals.shed(2000, false);
  expect([2000, 6999, 7000].map((nowMs) => arrivals.isShedding(nowMs))).toEqual([true, true, false]);
});
