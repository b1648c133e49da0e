import { AdaptiveConcurrency } from '../../../packages/core/src/limits/adaptive-concurrency.ts';
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

export const KNEE = 25;
export const HALVED = KNEE / 2;
const HALVED_AT_S = 180;
const END_S = 240;
const SETTLED_S = 60;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** The 99th percentile of the handling time without load: constant 100 ms, ±20 %, or exponential. */
export const UNLOADED_P99_MS: Record<Noise, number> = { constant: 100, uniform: 119.6, exponential: 460.5 };

/** The worst results of ten seeds at 3 times overload; the knee halves after 180 s. */
export interface Reach {
  /** Seconds until the limit is first within 20 % of the knee. */
  readonly settledS: number;
  /** The mean limit from 60 to 180 s, lowest and highest of the seeds. */
  readonly lowMean: number;
  readonly highMean: number;
  /** The share of the time from 60 to 180 s in which the limit is within 20 % of the knee. */
  readonly shareNear: number;
  /** The lowest limit from 60 to 180 s. */
  readonly lowest: number;
  /** The 99th percentile of the handling time from 60 to 180 s, as a multiple of the one without load. */
  readonly p99: number;
  /** Seconds until the limit is first within 20 % of the new knee, and the mean limit from 30 s on. */
  readonly halvedS: number;
  readonly halvedLowMean: number;
  readonly halvedHighMean: number;
}

export function runAdaptive(
  { initial = 20, min = 1, max = 200 }: { initial?: number; min?: number; max?: number },
  noise: Noise,
  seed: number,
  seconds: number,
  phases: readonly Phase[] = [],
): Run {
  const adaptive = new AdaptiveConcurrency({ initial, min, max });
  return simulate(
    { seed, noise, seconds, phases },
    {
      concurrency: () => adaptive.limit,
      complete: (nowMs, tookMs, isFailure, active) => {
        adaptive.observe(nowMs, tookMs, isFailure, active);
      },
    },
  );
}

/** One row of the table: how well the limit finds a knee and follows it. */
export function reach(noise: Noise, initial: number): Reach {
  const runs = SEEDS.map((seed) =>
    runAdaptive({ initial }, noise, seed, END_S, [{ fromS: HALVED_AT_S, knee: HALVED }]),
  );
  const settled = runs.map((run) => settingsOf(run, SETTLED_S, HALVED_AT_S));
  const halved = runs.map((run) => mean(settingsOf(run, HALVED_AT_S + 30, END_S)));
  return {
    settledS: Math.max(...runs.map((run) => secondsUntilNear(settingsOf(run, 0, HALVED_AT_S), KNEE))),
    lowMean: Math.min(...settled.map(mean)),
    highMean: Math.max(...settled.map(mean)),
    shareNear: Math.min(...settled.map((limits) => limits.filter(isNear(KNEE)).length / limits.length)),
    lowest: Math.min(...settled.flat()),
    p99: Math.max(
      ...runs.map((run) => percentile(timesOf(run, SETTLED_S, HALVED_AT_S), 0.99) / UNLOADED_P99_MS[noise]),
    ),
    halvedS: Math.max(...runs.map((run) => secondsUntilNear(settingsOf(run, HALVED_AT_S, END_S), HALVED))),
    halvedLowMean: Math.min(...halved),
    halvedHighMean: Math.max(...halved),
  };
}

function isNear(knee: number): (limit: number) => boolean {
  return (limit) => Math.abs(limit - knee) <= 0.2 * knee;
}

function secondsUntilNear(limits: readonly number[], knee: number): number {
  const index = limits.findIndex(isNear(knee));
  return index < 0 ? Infinity : index / 10;
}
