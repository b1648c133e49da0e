import type { PlanRequest } from '../request/plan-request.ts';
import type { Request } from '../request/read-request.ts';
import { burstStartS, drainRateOf, durationS, readArriving } from './arrivals.ts';
import type { Configuration } from './configuration.ts';
import { arrivalCurve, axisOf, curvesOf } from './curves.ts';
import type { Plan, PlannedRequest, PlannedRun, TriedConfiguration } from './plan.ts';
import { reasonsFor, warningsFor } from './reasons.ts';
import { search, type Found } from './search.ts';
import { Trials, type Trial } from './trials.ts';

/** Settings of {@link plan}. */
export interface PlanSettings {
  /** Called before each simulation, with its number from 1. */
  readonly onRun?: ((configuration: Configuration, run: number) => void) | undefined;
}

/** As many simulated requests take some seconds. The search ends when they are used up. */
const BUDGET = 1_000_000;

/**
 * Simulates the traffic with the real queue: without the middleware, with its defaults, and with other options. Returns
 * the figures and a recommendation. Equal requests give equal plans. Takes some seconds for 50,000 deliveries, and blocks
 * the thread for most of that time.
 *
 * @throws ScenarioError at the first mistake in the request.
 */
export async function plan(request: PlanRequest, { onRun }: PlanSettings = {}): Promise<Plan> {
  const read = readArriving(request);
  const trials = new Trials(read, onRun ?? ((): void => undefined), BUDGET);
  const found = await search(read, trials);
  const kept = keptRuns(found);
  const axis = axisOf(
    kept.map(({ trial }) => trial.played),
    durationS(read),
  );
  const { configuration } = found.recommended;
  return {
    request: shownRequest(read),
    drainPerSecond: drainRateOf(read, read.concurrency),
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
    ...{ lost, attemptsPerEvent, p50S: delayS.p50, p99S: delayS.p99 },
    switchedOff: senders.filter((sender) => sender.switchedOff).map(({ name }) => name),
  };
}
