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
  readonly recommendation: Recommendation;
  /**
   * The least concurrency that was tried and with which holding requests loses nothing; null if it loses nothing anyway, or
   * with none.
   */
  readonly enoughConcurrency: number | null;
  readonly warnings: readonly string[];
  /** All configurations that were simulated, in that order. */
  readonly tried: readonly TriedConfiguration[];
  readonly time: PlannedTime;
}

/** A request with all defaults. */
export interface PlannedRequest {
  /** Their shares add up to 1. */
  readonly senders: readonly { readonly name: string; readonly share: number }[];
  readonly normalPerSecond: number;
  readonly burst: Burst | null;
  readonly service: { readonly meanMs: number; readonly distribution: 'constant' | 'exponential' };
  readonly concurrency: number;
  readonly mode: Mode | null;
  readonly receivers: number;
  readonly capacity: number | null;
  readonly maxWaitMs: number | null;
  readonly timeoutMs: number;
  readonly seed: number;
}

/** A configuration, its figures and its curves. */
export interface PlannedRun extends Configuration, Outcome {
  /** `hold` and `inbox`: the best options found in the mode that is not recommended. */
  readonly name: 'nothing' | 'defaults' | 'recommended' | 'hold' | 'inbox';
  readonly isRecommended: boolean;
  readonly curves: Curves;
}

/** The recommended mode and options. */
export interface Recommendation {
  readonly mode: Mode;
  /** Options that differ from the defaults, besides `concurrency`. */
  readonly options: PlannedOptions;
  readonly concurrency: number;
  /** Sentences. */
  readonly reasons: readonly string[];
}

/** A configuration that was simulated. */
export interface TriedConfiguration extends Configuration {
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
