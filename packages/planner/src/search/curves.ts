import { percentile } from '../base/statistics.ts';
import type { Played } from './outcome.ts';

/** A run over time: entry `i` of each list is of the `i`th step. */
export interface Curves {
  /** The most queued deliveries, or stored and unfinished ones. */
  readonly depth: readonly number[];
  /** Refused requests per second. */
  readonly refused: readonly number[];
  /** Handled deliveries per second. */
  readonly completed: readonly number[];
  /** By sender: the median delay of the deliveries that arrived in the step, in seconds; null without any. */
  readonly delayS: Readonly<Record<string, readonly (number | null)[]>>;
}

/** More steps are indistinguishable in a chart. */
const STEPS = 240;

/** The time axis that all curves of a plan share. */
export interface Axis {
  /** The length of a step, in seconds. */
  readonly stepS: number;
  /** The number of steps. */
  readonly steps: number;
}

/** An axis from 0 that shows the arrivals, and what follows until nearly all deliveries are handled. */
export function axisOf(runs: readonly Played[], arrivalsS: number): Axis {
  const endS = Math.max(arrivalsS, ...runs.map((run) => Math.min(2 * arrivalsS, nearlyDoneS(run))));
  const stepS = Math.max(1, Math.ceil(endS / STEPS));
  return { stepS, steps: Math.ceil(endS / stepS) };
}

function nearlyDoneS({ seen }: Played): number {
  const times = seen.completedMs.filter((ms) => !Number.isNaN(ms)).sort();
  return times.length === 0 ? 0 : percentile(times, 0.99) / 1000;
}

/** First attempts per second. */
export function arrivalCurve({ traffic }: Played, { stepS, steps }: Axis): number[] {
  const counts = new Array<number>(steps).fill(0);
  for (const ms of traffic.firstMs) {
    const step = Math.floor(ms / 1000 / stepS);
    if (step < steps) counts[step] = (counts[step] as number) + 1;
  }
  return counts.map((count) => rounded(count / stepS));
}

export function curvesOf(played: Played, axis: Axis): Curves {
  const { stepS, steps } = axis;
  const { seconds } = played.seen.series;
  const indexes = Array.from({ length: steps }, (_, index) => index);
  const partOf = (index: number): typeof seconds => seconds.slice(index * stepS, (index + 1) * stepS);
  return {
    depth: indexes.map((index) => Math.max(0, ...partOf(index).map(({ depth }) => depth))),
    refused: indexes.map((index) =>
      rounded(partOf(index).reduce((sum, { refusals }) => sum + refusals, 0) / stepS),
    ),
    completed: indexes.map((index) =>
      rounded(partOf(index).reduce((sum, { completions }) => sum + completions, 0) / stepS),
    ),
    delayS: delayCurves(played, axis),
  };
}

function delayCurves({ scenario, traffic, seen }: Played, { stepS, steps }: Axis): Curves['delayS'] {
  const delays = scenario.senders.map(() => Array.from({ length: steps }, (): number[] => []));
  for (let i = 0; i < traffic.count; i += 1) {
    const firstMs = traffic.firstMs[i] as number;
    const delayMs = (seen.completedMs[i] as number) - firstMs;
    const step = Math.floor(firstMs / 1000 / stepS);
    if (!Number.isNaN(delayMs)) delays[traffic.sender[i] as number]?.[step]?.push(delayMs);
  }
  return Object.fromEntries(
    delays.map((ofSender, index) => [
      scenario.senders[index]?.key ?? '',
      ofSender.map((ms) =>
        ms.length === 0 ? null : rounded(percentile(Float64Array.from(ms).sort(), 0.5) / 1000),
      ),
    ]),
  );
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
