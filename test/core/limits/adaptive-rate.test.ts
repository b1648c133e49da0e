import { describe, expect, it } from 'vitest';
import { AdaptiveRate } from '../../../packages/core/src/limits/adaptive-rate.ts';
import {
  mean,
  settingsOf,
  simulate,
  timesOf,
  type Noise,
  type Phase,
  type Run,
} from './saturated-downstream.ts';
import { percentile } from '../workshop.ts';

const RANGE = { min: 20, max: 200, targetP99Ms: 150 };

/** `count` completions evenly over one second; the first `slow` are above the target. */
function second(adaptive: AdaptiveRate, fromS: number, count: number, slow = 0): number {
  for (let i = 0; i < count; i += 1) {
    adaptive.observe((fromS + (i + 1) / count) * 1000, i < slow ? 151 : 150);
  }
  return adaptive.rate;
}

/** A rate whose window is open, so that each second of the test is one window. */
function started(range = RANGE): AdaptiveRate {
  const adaptive = new AdaptiveRate(range);
  adaptive.observe(0, 1);
  return adaptive;
}

describe('the adaptive rate', () => {
  it('starts at the maximum', () => {
    expect(new AdaptiveRate(RANGE).rate).toBe(200);
  });

  it('falls to three quarters in each slow second, down to the minimum', () => {
    const adaptive = started();
    const rates = Array.from({ length: 10 }, (_, s) => second(adaptive, s, 150, 10));
    expect(rates.slice(0, 4)).toEqual([150, 112.5, 84.375, 63.28125]);
    expect(rates.at(-1)).toBe(20);
  });

  it('grows by 5 % of the maximum in each fast second, up to the maximum', () => {
    const adaptive = started();
    for (let s = 0; s < 10; s += 1) second(adaptive, s, 150, 150);
    const rates = Array.from({ length: 19 }, (_, s) => second(adaptive, 10 + s, 150));
    expect(rates.slice(0, 3)).toEqual([30, 40, 50]);
    expect(rates.slice(-2)).toEqual([200, 200]);
  });

  it('grows by at least 1/s', () => {
    const adaptive = started({ min: 1, max: 10, targetP99Ms: 150 });
    second(adaptive, 0, 150, 150);
    expect(second(adaptive, 1, 150)).toBe(8.5);
  });

  it('follows the 99th percentile: of 200 deliveries two may be slow, but not three', () => {
    const adaptive = started();
    expect(second(adaptive, 0, 199, 3)).toBe(150);
    expect(second(adaptive, 1, 200, 2)).toBe(160);
    expect(second(adaptive, 2, 200, 3)).toBe(120);
  });

  it('waits for a second slow delivery, or for the hundredth, if one of a few is slow', () => {
    const adaptive = started();
    second(adaptive, 0, 150, 150);
    expect(second(adaptive, 1, 20, 1)).toBe(150);
    expect(second(adaptive, 2, 20)).toBe(150);
    expect(second(adaptive, 3, 20, 1)).toBe(112.5);
    expect(second(adaptive, 4, 20, 1)).toBe(112.5);
    for (let s = 5; s < 8; s += 1) expect(second(adaptive, s, 20)).toBe(112.5);
    expect(second(adaptive, 8, 20)).toBe(122.5);
  });

  it('stays while nothing completes, and counts a pause as one second', () => {
    const adaptive = started();
    second(adaptive, 0, 150, 150);
    adaptive.observe(1100, 1);
    expect(adaptive.observe(3_600_000, 1)).toBe(true);
    expect(adaptive.rate).toBe(160);
    expect(adaptive.observe(3_600_001, 1)).toBe(false);
  });

  it('changes at most once a second, and reports each change', () => {
    const adaptive = new AdaptiveRate(RANGE);
    const changesMs: number[] = [];
    for (let nowMs = 0; nowMs < 20_000; nowMs += 5) {
      const before = adaptive.rate;
      const isChanged = adaptive.observe(nowMs, nowMs < 5000 ? 500 : 10);
      expect(isChanged).toBe(adaptive.rate !== before);
      if (isChanged) changesMs.push(nowMs);
    }
    expect(changesMs.slice(0, 3)).toEqual([1000, 2000, 3000]);
  });

  it('moves into a new range immediately, and uses only the new target', () => {
    const adaptive = started();
    for (let i = 1; i < 100; i += 1) adaptive.observe(i, 151);
    adaptive.retune({ min: 5, max: 50, targetP99Ms: 1000 });
    expect(adaptive.rate).toBe(50);
    adaptive.observe(500, 151);
    expect(second(adaptive, 1, 150, 150)).toBe(50);
    adaptive.retune({ min: 80, max: 100, targetP99Ms: 1000 });
    expect(adaptive.rate).toBe(80);
  });
});

describe('the adaptive rate in front of a downstream of 100/s', () => {
  function run(noise: Noise, targetP99Ms: number, phases: readonly Phase[] = []): Run {
    const adaptive = new AdaptiveRate({ ...RANGE, targetP99Ms });
    const downstream: Phase = { fromS: 0, knee: 10, meanMs: 100, overload: 3 };
    return simulate(
      { seed: 1, noise, seconds: 120, phases: [downstream, ...phases] },
      {
        startsPerSecond: () => adaptive.rate,
        complete: (nowMs, tookMs) => {
          adaptive.observe(nowMs, tookMs);
        },
      },
    );
  }

  it.each<[Noise, number]>([
    ['constant', 150],
    ['uniform', 150],
    ['exponential', 700],
  ])('oscillates around the rate of the downstream (%s service)', (noise, targetP99Ms) => {
    const found = run(noise, targetP99Ms);
    const rates = settingsOf(found, 20, 120);
    expect(mean(rates)).toBeGreaterThanOrEqual(70);
    expect(mean(rates)).toBeLessThanOrEqual(100);
    const times = timesOf(found, 20, 120);
    expect(times.length / 100).toBeGreaterThanOrEqual(70);
    expect(percentile(times, 0.5)).toBeLessThanOrEqual(targetP99Ms);
  });

  it('stays at the maximum while the downstream sustains more', () => {
    expect(new Set(run('uniform', 150, [{ fromS: 0, knee: 30 }]).settings)).toEqual(new Set([200]));
  });

  it('falls to the minimum while the downstream is slow at any rate, and recovers', () => {
    const found = run('uniform', 150, [
      { fromS: 40, meanMs: 300 },
      { fromS: 80, meanMs: 100 },
    ]);
    expect(settingsOf(found, 60, 80)).toEqual(Array.from({ length: 200 }, () => 20));
    expect(Math.max(...settingsOf(found, 80, 100))).toBeGreaterThanOrEqual(90);
  });
});
