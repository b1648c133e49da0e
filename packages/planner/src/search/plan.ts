import type { Burst, Mode } from '../request/plan-request.ts';
import type { Configuration, PlannedOptions } from './configuration.ts';
import type { Axis, Curves } from './curves.ts';
import type { Outcome } from './outcome.ts';

/** The answer to a {@link PlanRequest}: the simulated runs, and a recommendation. Plain JSON. */
export interface Plan {
  /** The request, with all defaults. */
  readonly request: PlannedRequest;
  /** Deliveries completed per second while all handlers are busy. */
  readonly drainPerSecond: number;
  /** What happens without the middleware, with its defaults, with the recommended options, and in the other mode. */
  readonly runs: readonly PlannedRun[];
  /** The recommended mode and options, with reasons. */
  readonly recommendation: Recommendation;
  /**
   * The least concurrency that was tried and with which holding requests loses nothing; null if it loses nothing anyway, or
   * with none.
   */
  readonly enoughConcurrency: number | null;
  /** Sentences about what the simulation leaves out. */
  readonly warnings: readonly string[];
  /** All configurations that were simulated, in that order. */
  readonly tried: readonly TriedConfiguration[];
  /** The time axis of the curves, and the arrivals. */
  readonly time: PlannedTime;
}

/** A request with all defaults. */
export interface PlannedRequest {
  /** Their shares add up to 1. */
  readonly senders: readonly { readonly name: string; readonly share: number }[];
  /** Deliveries per second outside of the burst. */
  readonly normalPerSecond: number;
  /** The burst; null without one. */
  readonly burst: Burst | null;
  /** How long handlers take. */
  readonly service: { readonly meanMs: number; readonly distribution: 'constant' | 'exponential' };
  /** How many deliveries are handled concurrently. */
  readonly concurrency: number;
  /** The mode that was asked for; null if the plan chooses it. */
  readonly mode: Mode | null;
  /** Processes behind a balancer. */
  readonly receivers: number;
  /** The given capacity; null for the default. */
  readonly capacity: number | null;
  /** The given longest wait, in milliseconds; null for the default. */
  readonly maxWaitMs: number | null;
  /** The timeout of senders that publish none, in milliseconds. */
  readonly timeoutMs: number;
  /** The seed of all random numbers. */
  readonly seed: number;
}

/** A configuration, its figures and its curves. */
export interface PlannedRun extends Configuration, Outcome {
  /** `hold` and `inbox`: the best options found in the mode that is not recommended. */
  readonly name: 'nothing' | 'defaults' | 'recommended' | 'hold' | 'inbox';
  /** Whether this is the recommended configuration. */
  readonly isRecommended: boolean;
  /** Depth, completions, refusals and delays over time. */
  readonly curves: Curves;
}

/** The recommended mode and options. */
export interface Recommendation {
  /** Hold the requests, or use an inbox. */
  readonly mode: Mode;
  /** Options that differ from the defaults, besides `concurrency`. */
  readonly options: PlannedOptions;
  /** How many deliveries are handled concurrently. */
  readonly concurrency: number;
  /** Sentences. */
  readonly reasons: readonly string[];
}

/** A configuration that was simulated. */
export interface TriedConfiguration extends Configuration {
  /** Deliveries that were lost. */
  readonly lost: number;
  /** Requests ÷ deliveries. */
  readonly attemptsPerEvent: number;
  /** The median delay, in seconds; null without a handled delivery. */
  readonly p50S: number | null;
  /** The 99th percentile of the delay, in seconds. */
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
