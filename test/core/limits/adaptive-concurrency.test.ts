import { describe, expect, it } from 'vitest';
import { AdaptiveConcurrency } from '../../../packages/core/src/limits/adaptive-concurrency.ts';
import { HALVED, KNEE, reach, runAdaptive, UNLOADED_P99_MS } from './adaptive-reach.ts';
import { mean, settingsOf, timesOf, type Noise } from './saturated-downstream.ts';
import { percentile } from '../workshop.ts';

const LONG = { timeout: 60_000 };

describe('the adaptive concurrency at 3 times overload', () => {
  it.each([
    ['constant', 100],
    ['uniform', 5],
  ] as const)('finds the knee and follows it (%s service, from %i)', LONG, (noise, initial) => {
    const found = reach(noise, initial);
    expect(found.settledS).toBeLessThanOrEqual(20);
    expect(found.shareNear).toBe(1);
    expect(found.p99).toBeLessThanOrEqual(1.2);
    expect(found.halvedS).toBeLessThanOrEqual(5);
    expect(found.halvedLowMean).toBeGreaterThanOrEqual(0.8 * HALVED);
    expect(found.halvedHighMean).toBeLessThanOrEqual(1.2 * HALVED);
  });

  // The limit fluctuates: a 90th percentile of 250 exponential times is off by 8 %, and the allowed queue is 10 %.
  it('finds the knee and follows it (exponential service)', LONG, () => {
    const found = reach('exponential', 5);
    expect(found.settledS).toBeLessThanOrEqual(90);
    expect(found.lowMean).toBeGreaterThanOrEqual(0.8 * KNEE);
    expect(found.highMean).toBeLessThanOrEqual(1.2 * KNEE);
    expect(found.shareNear).toBeGreaterThanOrEqual(0.8);
    expect(found.lowest).toBeGreaterThanOrEqual(0.4 * KNEE);
    expect(found.p99).toBeLessThanOrEqual(1.3);
    expect(found.halvedS).toBeLessThanOrEqual(30);
    expect(found.halvedLowMean).toBeGreaterThanOrEqual(0.8 * HALVED);
    expect(found.halvedHighMean).toBeLessThanOrEqual(1.4 * HALVED);
  });

  it.each<Noise>(['constant', 'uniform', 'exponential'])(
    'keeps the tail short from the beginning if it starts below the knee (%s service)',
    LONG,
    (noise) => {
      const run = runAdaptive({ initial: 10 }, noise, 1, 60);
      expect(percentile(timesOf(run, 0, 60), 0.99)).toBeLessThanOrEqual(2 * UNLOADED_P99_MS[noise]);
    },
  );

  it.each([10, 150])('finds a knee at %i as well', LONG, (knee) => {
    const run = runAdaptive({}, 'uniform', 1, 60, [{ fromS: 0, knee }]);
    const limits = settingsOf(run, 40, 60);
    expect(Math.min(...limits)).toBeGreaterThanOrEqual(0.8 * knee);
    expect(Math.max(...limits)).toBeLessThanOrEqual(1.2 * knee);
  });

  it('grows when the downstream does', LONG, () => {
    const run = runAdaptive({}, 'uniform', 1, 90, [{ fromS: 60, knee: 50 }]);
    const limits = settingsOf(run, 80, 90);
    expect(mean(limits)).toBeGreaterThanOrEqual(40);
    expect(Math.max(...limits)).toBeLessThanOrEqual(60);
  });

  it('stays within min and max', LONG, () => {
    expect(Math.max(...runAdaptive({ initial: 10, max: 15 }, 'uniform', 1, 60).settings)).toBe(15);
    expect(Math.min(...runAdaptive({ initial: 60, min: 40 }, 'uniform', 1, 60).settings)).toBe(40);
    expect(new Set(runAdaptive({ initial: 30, min: 30, max: 30 }, 'uniform', 1, 30).settings)).toEqual(
      new Set([30]),
    );
  });

  it('is deterministic', LONG, () => {
    const once = runAdaptive({}, 'exponential', 1, 60);
    expect(runAdaptive({}, 'exponential', 1, 60).settings).toEqual(once.settings);
  });
});

describe('the adaptive concurrency with single completions', () => {
  /** 100 completions per second, with `active` deliveries in service. */
  function feed(
    adaptive: AdaptiveConcurrency,
    fromS: number,
    toS: number,
    active: number,
    tookMs = 10,
  ): number {
    let changes = 0;
    for (let nowMs = fromS * 1000; nowMs < toS * 1000; nowMs += 10) {
      if (adaptive.observe(nowMs, tookMs, false, active)) changes += 1;
    }
    return changes;
  }

  it('does not change the limit while less than half of it is in use', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 20, min: 1, max: 100 });
    expect(feed(adaptive, 0, 30, 9)).toBe(0);
    expect(feed(adaptive, 30, 60, 9, 80)).toBe(0);
    expect(adaptive.limit).toBe(20);
    expect(feed(adaptive, 60, 90, 20)).toBeGreaterThan(0);
    expect(adaptive.limit).toBeGreaterThan(20);
  });

  it('reports exactly the changes of the limit', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 20, min: 1, max: 100 });
    let limit = adaptive.limit;
    for (let nowMs = 0; nowMs < 60_000; nowMs += 10) {
      const isChanged = adaptive.observe(nowMs, 10, nowMs > 40_000 && nowMs % 50 === 0, limit);
      expect(isChanged).toBe(adaptive.limit !== limit);
      limit = adaptive.limit;
      expect(Number.isInteger(limit)).toBe(true);
    }
  });

  it('decides nothing before one second and 50 completions', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 20, min: 1, max: 100 });
    for (let i = 0; i < 1000; i += 1) expect(adaptive.observe(i / 2, 10, true, 20)).toBe(false);
    const slow = new AdaptiveConcurrency({ initial: 20, min: 1, max: 100 });
    for (let i = 0; i < 49; i += 1) expect(slow.observe(i * 1000, 900, false, 20)).toBe(false);
  });

  it('applies new bounds immediately and keeps its state', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 20, min: 10, max: 100 });
    adaptive.retune({ initial: 1, min: 1, max: 8 });
    expect(adaptive.limit).toBe(8);
    adaptive.retune({ initial: 1, min: 40, max: 80 });
    expect(adaptive.limit).toBe(40);
    feed(adaptive, 0, 60, 80);
    expect(adaptive.limit).toBe(80);
  });

  it('stays valid with times of 0, of days, and with a stopped clock', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 20, min: 1, max: 100 });
    feed(adaptive, 0, 10, 20, 0);
    feed(adaptive, 10, 20, 20, 1e12);
    for (let i = 0; i < 10_000; i += 1) adaptive.observe(20_000, 10, i % 2 === 0, 20);
    expect(adaptive.limit).toSatisfy((limit: number) => limit >= 1 && limit <= 100);
  });
});
