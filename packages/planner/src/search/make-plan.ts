import { percentile, thousandths } from '../base/numbers.ts';
import type { Second } from '../senders/observations.ts';
import type { Axis, Curves, Plan, PlannedRequest, PlannedRun, TriedConfiguration } from './plan.ts';
import { reasonsFor, warningsFor } from './reasons.ts';
import { recoveryOf } from './recovery.ts';
import {
  type PlanRequest,
  type Request,
  burstStartS,
  maxStartsOf,
  durationS,
  readArriving,
} from './request.ts';
import { search, type Found } from './search.ts';
import { Trials, type PlanSettings, type Trial, type Played } from './trials.ts';

/** As many simulated requests take some seconds. The search ends when they are used up. */
const BUDGET = 1_000_000;

/**
 * Simulates the traffic with the real queue: without the middleware, with its defaults, and with other options. Returns
 * the figures and a recommendation. Equal requests give equal plans. Takes some seconds for 50,000 deliveries, and blocks
 * the thread for most of that time.
 *
 * @throws ScenarioError at the first mistake in the request.
 */
export async function plan(request: PlanRequest, settings: PlanSettings = {}): Promise<Plan> {
  const read = readArriving(request);
  const trials = new Trials(read, settings, BUDGET);
  const found = await search(read, trials);
  const kept = keptRuns(found);
  const axis = axisOf(
    kept.map(({ trial }) => trial.played),
    durationS(read),
  );
  const { configuration } = found.recommended;
  return {
    request: shownRequest(read),
    drainPerSecond: maxStartsOf(read, read.concurrency),
    runs: kept.map(({ name, trial }) => ({
      name,
      ...trial.configuration,
      isRecommended: trial === found.recommended,
      ...trial.outcome,
      curves: curvesOf(trial.played, axis),
    })),
    recommendation: {
      mode: configuration.mode === 'inbox' ? 'inbox' : 'hold',
      options: configuration.options,
      concurrency: configuration.concurrency,
      reasons: reasonsFor(read, found),
    },
    enoughConcurrency: found.enough?.configuration.concurrency ?? null,
    warnings: warningsFor(read, found),
    tried: trials.all.map(tried),
    time: {
      ...axis,
      burstAtS: burstStartS(read),
      arrivalsS: durationS(read),
      arrivals: arrivalCurve(found.nothing.played, axis),
    },
    recovery: await recoveryOf(read, found.bestHold.configuration, found.bestInbox.configuration),
  };
}

/** The runs that a plan shows, each once. */
function keptRuns(found: Found): { name: PlannedRun['name']; trial: Trial }[] {
  const { nothing, defaults, recommended, bestHold, bestInbox } = found;
  const named = [
    { name: 'nothing', trial: nothing },
    { name: 'defaults', trial: defaults },
    { name: 'recommended', trial: recommended },
    ...(recommended.configuration.mode === 'inbox'
      ? [{ name: 'hold', trial: bestHold } as const]
      : [{ name: 'inbox', trial: bestInbox } as const]),
  ] as const;
  return named.filter(({ trial }, index) => named.findIndex((one) => one.trial === trial) === index);
}

function shownRequest({ senders, mode, burst, capacity, maxWaitMs, ...others }: Request): PlannedRequest {
  return {
    ...others,
    senders: senders.map(({ name, share }) => ({ name, share })),
    burst: burst ?? null,
    mode: mode ?? null,
    capacity: capacity ?? null,
    maxWaitMs: maxWaitMs ?? null,
  };
}

function tried({ configuration, outcome }: Trial): TriedConfiguration {
  const { lost, attemptsPerEvent, delayS, senders } = outcome;
  return {
    ...configuration,
    lost,
    attemptsPerEvent,
    p50S: delayS.p50,
    p99S: delayS.p99,
    switchedOff: senders.filter((sender) => sender.switchedOff).map(({ name }) => name),
  };
}

/** More steps are indistinguishable in a chart. */
const STEPS = 240;

/** An axis from 0 that shows the arrivals, and what follows until nearly all deliveries are handled. */
function axisOf(runs: readonly Played[], arrivalsS: number): Axis {
  const endS = Math.max(arrivalsS, ...runs.map((run) => Math.min(2 * arrivalsS, nearlyDoneS(run))));
  const stepS = Math.max(1, Math.ceil(endS / STEPS));
  return { stepS, steps: Math.ceil(endS / stepS) };
}

function nearlyDoneS({ seen }: Played): number {
  const times = seen.completedMs.filter((ms) => !Number.isNaN(ms)).sort();
  return times.length === 0 ? 0 : percentile(times, 0.99) / 1000;
}

/** First attempts per second. */
function arrivalCurve({ traffic }: Played, { stepS, steps }: Axis): number[] {
  const counts = new Array<number>(steps).fill(0);
  for (const ms of traffic.firstMs) {
    const step = Math.floor(ms / 1000 / stepS);
    if (step < steps) counts[step] = (counts[step] as number) + 1;
  }
  return counts.map((count) => thousandths(count / stepS));
}

function curvesOf(played: Played, axis: Axis): Curves {
  const { stepS, steps } = axis;
  const { seconds } = played.seen.series;
  const indexes = Array.from({ length: steps }, (_, index) => index);
  const partOf = (index: number): Second[] => seconds.slice(index * stepS, (index + 1) * stepS);
  const rate = (of: (second: Second) => number): number[] =>
    indexes.map((index) => thousandths(partOf(index).reduce((sum, second) => sum + of(second), 0) / stepS));
  return {
    depth: indexes.map((index) => Math.max(0, ...partOf(index).map(({ depth }) => depth))),
    refused: rate(({ refusals }) => refusals),
    completed: rate(({ completions }) => completions),
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
        ms.length === 0 ? null : thousandths(percentile(Float64Array.from(ms).sort(), 0.5) / 1000),
      ),
    ]),
  );
}
