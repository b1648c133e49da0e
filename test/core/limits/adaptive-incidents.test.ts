import { describe, expect, it } from 'vitest';
import { AdaptiveConcurrency } from '../../../packages/core/src/limits/adaptive-concurrency.ts';
import { KNEE, runAdaptive } from './adaptive-reach.ts';
import { mean, settingsOf, type Noise } from './saturated-downstream.ts';

const LONG = { timeout: 60_000 };
const NOISES: Noise[] = ['constant', 'uniform', 'exponential'];
const SEEDS = [1, 2, 3];
/** Ten minutes from 60 s on; then everything is as before. */
const INCIDENT = { fromS: 60, toS: 660, afterS: 720, endS: 780 };

describe('the adaptive concurrency in an incident of ten minutes', () => {
  it.each(NOISES)(
    'lowers the limit while the downstream takes four times as long (%s service)',
    LONG,
    (noise) => {
      for (const seed of SEEDS) {
        const run = runAdaptive({}, noise, seed, INCIDENT.endS, [
          { fromS: INCIDENT.fromS, meanMs: 400 },
          { fromS: INCIDENT.toS, meanMs: 100 },
        ]);
        const during = settingsOf(run, INCIDENT.fromS + 60, INCIDENT.toS);
        // If the baseline drifted up to the incident, the limit would return to the knee and beyond.
        expect(Math.max(...during)).toBeLessThanOrEqual(0.6 * KNEE);
        expect(Math.min(...during)).toBeGreaterThanOrEqual(0.2 * KNEE);
        const after = mean(settingsOf(run, INCIDENT.afterS, INCIDENT.endS));
        expect(Math.abs(after / KNEE - 1)).toBeLessThanOrEqual(0.2);
      }
    },
  );

  it.each(NOISES)('follows a knee that falls to 6 (%s service)', LONG, (noise) => {
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

  it('accepts a lasting slowness as normal after half an hour', LONG, () => {
    const run = runAdaptive({}, 'constant', 1, 2400, [{ fromS: 60, meanMs: 200 }]);
    expect(Math.max(...settingsOf(run, 120, 1800))).toBeLessThanOrEqual(0.6 * KNEE);
    expect(Math.min(...settingsOf(run, 2100, 2400))).toBeGreaterThanOrEqual(0.8 * KNEE);
  });
});

describe('the adaptive concurrency during failures', () => {
  it('returns to the last sound limit within seconds after them', LONG, () => {
    const run = runAdaptive({}, 'uniform', 1, 80, [
      { fromS: 60, failureShare: 0.5 },
      { fromS: 70, failureShare: 0 },
    ]);
    expect(settingsOf(run, 70, 71).at(-1)).toBeLessThanOrEqual(0.4 * KNEE);
    expect(settingsOf(run, 75, 76).at(-1)).toBeGreaterThanOrEqual(KNEE);
  });

  it.each(NOISES)('cuts the limit while half of the deliveries fail (%s service)', LONG, (noise) => {
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

  it.each(NOISES)('keeps the limit while 3 in 100 fail (%s service)', LONG, (noise) => {
    for (const seed of SEEDS) {
      const run = runAdaptive({}, noise, seed, 180, [{ fromS: 60, failureShare: 0.03 }]);
      expect(Math.abs(mean(settingsOf(run, 90, 180)) / KNEE - 1)).toBeLessThanOrEqual(0.2);
    }
  });

  it('cuts the limit by a tenth once per window, down to the minimum', () => {
    const adaptive = new AdaptiveConcurrency({ initial: 100, min: 60, max: 100 });
    const limits: number[] = [];
    for (let nowMs = 0; nowMs < 10_000; nowMs += 5) {
      if (adaptive.observe(nowMs, 20, true, 50)) limits.push(adaptive.limit);
    }
    expect(limits).toEqual([90, 81, 73, 66, 60]);
  });
});
