import { describe, expect, it } from 'vitest';
import { AdaptiveConcurrency } from '../../../packages/core/src/limits/adaptive-concurrency.ts';
import { KNEE, runAdaptive } from './adaptive-reach.ts';
import { mean, settingsOf, type Noise } from './saturated-downstream.ts';

const LONG = { timeout: 60_000 };
const NOISES: Noise[] = ['constant', 'uniform', 'exponential'];
const SEEDS = [1, 2, 3];
/** Ten minutes, from 60 s on; afterwards all is as before. */
const INCIDENT = { fromS: 60, toS: 660, afterS: 720, endS: 780 };

describe('the adaptive concurrency in an incident of ten minutes', () => {
  it.each(NOISES)('of a downstream that takes four times as long (%s service)', LONG, (noise) => {
    for (const seed of SEEDS) {
      const run = runAdaptive({}, noise, seed, INCIDENT.endS, [
        { fromS: INCIDENT.fromS, meanMs: 400 },
        { fromS: INCIDENT.toS, meanMs: 100 },
      ]);
      const during = settingsOf(run, INCIDENT.fromS + 60, INCIDENT.toS);
      // A baseline that drifts up to the incident lets the limit back to the knee and beyond.
      expect(Math.max(...during)).toBeLessThanOrEqual(0.6 * KNEE);
      expect(Math.min(...during)).toBeGreaterThanOrEqual(0.2 * KNEE);
      const after = mean(settingsOf(run, INCIDENT.afterS, INCIDENT.endS));
      expect(Math.abs(after / KNEE - 1)).toBeLessThanOrEqual(0.2);
    }
  });

  it.each(NOISES)('of a downstream that is left with a knee at 6 (%s service)', LONG, (noise) => {
    for (const seed of SEEDS) {
      const run = runAdaptive({}, noise, seed, INCIDENT.endS, [
        { fromS: INCIDENT.fromS, knee: 6 },
        { fromS: INCIDENT.toS, knee: KNEE },
      ]);
      const during = mean(settingsOf(run, INCIDENT.fromS + 30, INCIDENT.toS));
      expect(during).toBeGreaterThanOrEqual(6);
      expect(during).toBeLessThanOrEqual(10);
      const after = mean(settingsOf(run, INCIDENT.afterS, INCIDENT.endS));
      expect(Math.abs(after / KNEE - 1)).toBeLessThanOrEqual(0.2);
    }
  });

  it('takes a slowness that stays for the new normal, after half an hour', LONG, () => {
    const run = runAdaptive({}, 'constant', 1, 2400, [{ fromS: 60, meanMs: 200 }]);
    expect(Math.max(...settingsOf(run, 120, 1800))).toBeLessThanOrEqual(0.6 * KNEE);
    expect(Math.min(...settingsOf(run, 2100, 2400))).toBeGreaterThanOrEqual(0.8 * KNEE);
  });
});

describe('failures', () => {
  it('that are over leave a limit that is back in seconds, as it was known to be sound', LONG, () => {
    const run = runAdaptive({}, 'uniform', 1, 80, [
      { fromS: 60, failureShare: 0.5 },
      { fromS: 70, failureShare: 0 },
    ]);
    expect(settingsOf(run, 70, 71).at(-1)).toBeLessThanOrEqual(0.4 * KNEE);
    expect(settingsOf(run, 74, 75).at(-1)).toBeGreaterThanOrEqual(KNEE);
  });

  it.each(NOISES)('of every second delivery cut the limit, and it recovers (%s service)', LONG, (noise) => {
    for (const seed of SEEDS) {
      const run = runAdaptive({}, noise, seed, 120, [
        { fromS: 60, failureShare: 0.5 },
        { fromS: 70, failureShare: 0 },
      ]);
      expect(settingsOf(run, 69, 70).at(-1)).toBeLessThanOrEqual(0.5 * KNEE);
      expect(settingsOf(run, 69, 70).at(-1)).toBeGreaterThanOrEqual(0.3 * KNEE);
      expect(Math.abs(mean(settingsOf(run, 100, 120)) / KNEE - 1)).toBeLessThanOrEqual(0.2);
    }
  });

  it.each(NOISES)('of 3 in 100 are the deliveries own and cost nothing (%s service)', LONG, (noise) => {
    for (const seed of SEEDS) {
      const run = runAdaptive({}, noise, seed, 180, [{ fromS: 60, failureShare: 0.03 }]);
      expect(Math.abs(mean(settingsOf(run, 90, 180)) / KNEE - 1)).toBeLessThanOrEqual(0.2);
    }
  });

  it('cut by a tenth, once in a window and not once each, down to the minimum', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 100, min: 60, max: 100 });
    const limits: number[] = [];
    for (let nowMs = 0; nowMs < 10_000; nowMs += 5) {
      if (adaptive.observe(nowMs, 20, true, 50)) limits.push(adaptive.limit);
    }
    expect(limits).toEqual([90, 81, 73, 66, 60]);
  });
});
