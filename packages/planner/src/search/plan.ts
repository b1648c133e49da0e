import type { Burst, Mode, PlanRequest } from '../request/plan-request.ts';
import { readRequest, type Request } from '../request/read-request.ts';
import { burstStartS, drainRateOf, durationS } from './arrivals.ts';
import type { Candidate, Options, Way } from './candidate.ts';
import { arrivalCurve, axisOf, curvesOf, type Axis, type Curves } from './curves.ts';
import type { Outcome } from './outcome.ts';
import { reasonsFor, warningsFor } from './reasons.ts';
import { search, type Found } from './search.ts';
import { Trials, type Trial } from './trials.ts';

/** The answer to a {@link PlanRequest}: what was simulated, and what is recommended. Plain JSON. */
export interface Plan {
  /** The request, with all defaults. */
  readonly request: PlannedRequest;
  /** Deliveries completed per second while all handlers are busy. */
  readonly drainPerSecond: number;
  /** What happens without the middleware, with its defaults, with the recommended options, and in the other mode. */
  readonly runs: readonly PlannedRun[];
  readonly recommendation: Recommendation;
  /** What holding requests would need to lose nothing; null if it loses nothing, or with no concurrency that was tried. */
  readonly enoughConcurrency: number | null;
  readonly warnings: readonly string[];
  /** All configurations that were simulated, in that order. */
  readonly tried: readonly TriedConfiguration[];
  readonly time: PlannedTime;
}

/** A request with all defaults. */
export interface PlannedRequest extends Omit<
  Request,
  'senders' | 'mode' | 'burst' | 'capacity' | 'maxWaitMs'
> {
  readonly senders: readonly { readonly name: string; readonly share: number }[];
  readonly burst: Burst | null;
  readonly mode: Mode | null;
  readonly capacity: number | null;
  readonly maxWaitMs: number | null;
}

/** A configuration, its figures and its curves. */
export interface PlannedRun extends Outcome {
  readonly name: 'nothing' | 'defaults' | 'recommended' | 'hold' | 'inbox';
  readonly way: Way;
  readonly options: Options;
  readonly concurrency: number;
  readonly isRecommended: boolean;
  readonly curves: Curves;
}

/** The recommended mode and options. */
export interface Recommendation {
  readonly mode: Mode;
  /** Options that differ from the defaults, besides `concurrency`. */
  readonly options: Options;
  readonly concurrency: number;
  /** Sentences. */
  readonly reasons: readonly string[];
}

/** A configuration that was simulated. */
export interface TriedConfiguration extends Candidate {
  readonly lost: number;
  readonly attemptsPerEvent: number;
  readonly p50S: number | null;
  readonly p99S: number | null;
  /** The senders that would disable the endpoint. */
  readonly switchedOff: readonly string[];
}

/** The time axis of all curves, which begins at 0. */
export interface PlannedTime extends Axis {
  /** When the burst begins. */
  readonly burstAtS: number;
  /** How long deliveries arrive. */
  readonly arrivalsS: number;
  /** First attempts per second, by step. */
  readonly arrivals: readonly number[];
}

/** Settings of {@link plan}. */
export interface PlanSettings {
  /** Called before each simulation, with its number from 1. */
  readonly onRun?: ((candidate: Candidate, run: number) => void) | undefined;
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
  const read = readRequest(request);
  const trials = new Trials(read, onRun ?? ((): void => undefined), BUDGET);
  const found = await search(read, trials);
  const kept = keptRuns(found);
  const axis = axisOf(
    kept.map(({ trial }) => trial.played),
    durationS(read),
  );
  const { candidate } = found.recommended;
  return {
    request: shownRequest(read),
    drainPerSecond: drainRateOf(read, read.concurrency),
    runs: kept.map(({ name, trial }) => ({
      name,
      ...trial.candidate,
      isRecommended: trial === found.recommended,
      ...trial.outcome,
      curves: curvesOf(trial.played, axis),
    })),
    recommendation: {
      mode: candidate.way === 'inbox' ? 'inbox' : 'hold',
      options: candidate.options,
      concurrency: candidate.concurrency,
      reasons: reasonsFor(read, found),
    },
    enoughConcurrency: found.enough?.candidate.concurrency ?? null,
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
    ...(recommended.candidate.way === 'inbox'
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

function tried({ candidate, outcome }: Trial): TriedConfiguration {
  const { lost, attemptsPerEvent, delayS, senders } = outcome;
  return {
    ...candidate,
    ...{ lost, attemptsPerEvent, p50S: delayS.p50, p99S: delayS.p99 },
    switchedOff: senders.filter((sender) => sender.switchedOff).map(({ name }) => name),
  };
}
