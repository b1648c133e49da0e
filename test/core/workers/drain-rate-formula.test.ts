import { describe, expect, it } from 'vitest';
import { DrainRate } from '../../../packages/core/src/workers/drain-rate.ts';

/** So many deliveries that took so long are completed, one every so many milliseconds. Returns the time of the last one. */
function complete(rate: DrainRate, count: number, tookMs: number, everyMs: number, fromMs = 0): number {
  for (let i = 1; i <= count; i += 1) rate.complete(tookMs, fromMs + i * everyMs, 0);
  return fromMs + count * everyMs;
}

describe('the drain rate', () => {
  it('is unknown before the first completion', () => {
    const rate = new DrainRate(10);
    expect([rate.rate(0), rate.steadyRate]).toEqual([null, null]);
  });

  it('is that of Little while workers are idle, of the last handling times', () => {
    const rate = new DrainRate(10);
    complete(rate, 1, 100, 0);
    expect([rate.rate(0), rate.steadyRate]).toEqual([100, 100]);
    complete(rate, 1, 300, 0);
    expect(rate.rate(0)).toBeCloseTo(50);
    expect(rate.steadyRate).toBeCloseTo(50);
    // 50 of them in the quick average, 4000 in the steady one: each next one counts for a 50th.
    complete(rate, 398, 200, 0);
    complete(rate, 50, 250, 0);
    expect(rate.rate(0)).toBeCloseTo(10 / (0.25 - 0.05 * 0.98 ** 50));
    expect(rate.steadyRate).toBeCloseTo(10 / ((400 * 0.2 + 50 * 0.25) / 450));
  });

  it('combines completions while all workers are busy with handling times', () => {
    const rate = new DrainRate(10);
    rate.look(true, 0);
    // 50/s, but by Little's law ten workers with 100 ms each would complete 100/s.
    const nowMs = complete(rate, 60_000, 100, 20);
    const bin = (tauS: number): number => 1 / (1 - Math.exp(-0.02 / tauS));
    expect(rate.rate(nowMs)).toBeCloseTo((bin(1.8) + 50) / (1.8 + 0.5));
    const sum = 1 - Math.exp(-1200 / 120);
    expect(rate.steadyRate).toBeCloseTo((bin(120) * sum + 4000) / (120 * sum + 40));
  });

  it('is mostly that of Little during the first saturated seconds', () => {
    const rate = new DrainRate(10);
    rate.look(true, 0);
    const nowMs = complete(rate, 10, 100, 50);
    const kept = Math.exp(-0.05 / 1.8);
    const completions = (1 - kept ** 10) / (1 - kept);
    const saturatedS = 1.8 * (1 - kept ** 10);
    const littleS = 1 - saturatedS / 1.8;
    expect(rate.rate(nowMs)).toBeCloseTo((completions + littleS * 100) / (saturatedS + littleS));
  });

  it('does not count the time in which workers are idle', () => {
    const rates = [0, 60_000].map((idleMs) => {
      const rate = new DrainRate(10);
      rate.look(true, 0);
      complete(rate, 50, 100, 20);
      rate.look(true, 1000);
      rate.look(false, 1010);
      rate.look(true, 1010 + idleMs);
      complete(rate, 50, 100, 20, 1000 + idleMs);
      return [rate.rate(2000 + idleMs), rate.steadyRate];
    });
    expect(rates[0]?.[0]).toBeCloseTo(rates[1]?.[0] as number);
    expect(rates[0]?.[1]).toBeCloseTo(rates[1]?.[1] as number);
    expect(rates[0]?.[0]).toBeLessThan(80);
  });

  it.each([
    [0, 100 / 2],
    [50, 100 / (1 + 0.75 / 1.75)],
    [100, 100 / (1 + 0.5 / 1.5)],
    [190, 100 / (1 + 0.05 / 1.05)],
    [500, 100 / (1 + 0.05 / 1.05)],
  ])('counts a handling time in which the process was late for %i of 200 ms less', (lateMs, expected) => {
    const rate = new DrainRate(10);
    rate.complete(100, 0, 0);
    rate.complete(200, 10, lateMs);
    // A mean of 100 ms and this part of the other 100 ms. Without lateness that is half.
    expect(rate.rate(10)).toBeCloseTo(lateMs === 0 ? 100 / 1.5 : expected);
  });

  it('weighs completions and time by the lateness', () => {
    const rates = [0, 50].map((lateMs) => {
      const rate = new DrainRate(10);
      rate.look(true, 0);
      for (let i = 1; i <= 2000; i += 1) rate.complete(100, i * 20, lateMs);
      return [rate.rate(40_000), rate.steadyRate] as [number, number];
    });
    const [quick, late] = rates as [[number, number], [number, number]];
    const half = 0.5 / (1 - Math.exp(-0.02 / 1.8));
    expect(late[0]).toBeCloseTo((half + 50) / (0.9 + 0.5));
    expect(quick[0]).toBeLessThan(late[0]);
  });

  it('is at most its cap', () => {
    const rate = new DrainRate(10);
    complete(rate, 1, 100, 0);
    rate.cap = 30;
    expect([rate.rate(0), rate.steadyRate]).toEqual([30, 30]);
  });

  it('follows more workers by their number', () => {
    const rate = new DrainRate(10);
    rate.look(true, 0);
    const nowMs = complete(rate, 3000, 100, 10);
    const [quick, steady] = [rate.rate(nowMs) as number, rate.steadyRate as number];
    rate.scale(2);
    rate.workers = 20;
    expect((rate.rate(nowMs) as number) / quick).toBeCloseTo(2);
    expect((rate.steadyRate as number) / steady).toBeCloseTo(2);
  });
});

describe('a gap between completions', () => {
  /** Ten workers, all busy, complete 100/s for ten seconds. */
  function busy(tookMs = 100): DrainRate {
    const rate = new DrainRate(10);
    rate.look(true, 0);
    complete(rate, 1000, tookMs, tookMs / 10);
    return rate;
  }

  it('lowers the rate from a second on, to 3 ÷ gap', () => {
    const rate = busy();
    const rates = [10_000, 11_000, 11_100, 14_000, 20_000].map((nowMs) => rate.rate(nowMs) as number);
    expect(rates.map((one) => Math.round(one * 100) / 100)).toEqual([100.22, 100.22, 2.73, 0.75, 0.3]);
    expect(rate.steadyRate).toBeGreaterThan(99);
  });

  it('is longer than usual from three usual gaps on', () => {
    // A completion each second.
    const rate = busy(10_000);
    expect([0, 3000, 6000].map((gapMs) => [rate.gapMs(1e6 + gapMs), rate.gapFactor(1e6 + gapMs)])).toEqual([
      [0, 1],
      [3000, 1],
      [6000, 2],
    ]);
    expect(rate.rate(1e6 + 3000)).toBeGreaterThan(0.99);
    expect(rate.rate(1e6 + 6000)).toBe(0.5);
    expect([99_000, 101_000].map((ms) => rate.isStalled(1e6 + ms))).toEqual([false, true]);
  });

  it('is none while a worker is idle', () => {
    const rate = busy();
    rate.look(false, 10_000);
    expect([rate.gapMs(60_000), rate.gapFactor(60_000), rate.isStalled(60_000)]).toEqual([0, 1, false]);
    rate.look(true, 60_000);
    expect([rate.gapMs(70_000), rate.isStalled(70_000), rate.isStalled(70_001)]).toEqual([
      10_000,
      false,
      true,
    ]);
  });

  it('that was a stall leaves the steady rate as it was', () => {
    const rate = busy();
    const before = rate.steadyRate as number;
    // Ten handlers were interrupted for a minute.
    for (let i = 0; i < 10; i += 1) rate.complete(60_100, 70_000, 0);
    expect((rate.steadyRate as number) / before).toBeGreaterThan(0.9);
    expect(rate.rate(70_000)).toBeLessThan(before / 4);
    complete(rate, 990, 100, 10, 70_000);
    expect((rate.steadyRate as number) / before).toBeGreaterThan(0.95);
  });
});

describe('the age of the pace', () => {
  it('grows by the time between completions, and by no more than a long gap', () => {
    const rate = new DrainRate(10);
    complete(rate, 1, 100, 0);
    expect(rate.paceAgeS).toBe(1);
    complete(rate, 6, 100, 500);
    expect(rate.paceAgeS).toBe(4);
    complete(rate, 1, 100, 60_000, 3000);
    expect(rate.paceAgeS).toBe(5);
  });

  /** Ages at the end of each second after the handling time has changed. */
  function agesAfter(tookMs: number): readonly number[] {
    const rate = new DrainRate(10);
    rate.look(true, 0);
    let nowMs = complete(rate, 6000, 100, 10);
    expect(rate.paceAgeS).toBeCloseTo(60.99);
    return Array.from({ length: 12 }, () => {
      nowMs = complete(rate, 10_000 / tookMs, tookMs, tookMs / 10, nowMs);
      return Math.round(rate.paceAgeS * 100) / 100;
    });
  }

  it('begins anew with a faster pace, when the quick average shows it', () => {
    // It shows it after 0.63 s, and contains 1.8 s.
    expect(agesAfter(50)).toEqual(
      Array.from({ length: 12 }, (_, second) => Math.round((2.17 + second) * 100) / 100),
    );
  });

  it('counts as little for seven seconds after a slower one', () => {
    expect(agesAfter(200)).toEqual([
      61.99, 1.25, 1.25, 1.25, 1.25, 1.25, 7.78, 8.78, 9.78, 10.78, 11.78, 12.78,
    ]);
  });
});
