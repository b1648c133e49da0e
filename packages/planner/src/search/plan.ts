import type { Mode, Burst } from './request.ts';

/** How deliveries are received. `none`: without the middleware, with only the concurrency limited by hand. */
export type PlannedMode = Mode | 'none';

/** The options that the search changes. Absent: the default. */
export interface PlannedOptions {
  /** How many deliveries may be queued, or pending in the inbox. */
  readonly capacity?: number;
  /** The longest wait, in milliseconds. */
  readonly maxWaitMs?: number;
  /** The fraction of the capacity at which shedding begins. */
  readonly highWaterMark?: number;
  /** The longest Retry-After, in seconds. */
  readonly retryAfter?: { readonly maxSeconds: number };
}

/** A configuration that is simulated. */
export interface Configuration {
  /** Whether requests are held, stored, or not limited. */
  readonly mode: PlannedMode;
  /** The options that differ from the defaults. */
  readonly options: PlannedOptions;
  /** How many deliveries are handled concurrently. */
  readonly concurrency: number;
}

/** A text that is equal for equal configurations. */
export function identityOf({ mode, options, concurrency }: Configuration): string {
  const entries = Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([mode, concurrency, entries]);
}

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
  /** Whether the receiver recovers from a stall or a burst; null without ordinary traffic, or with too much to simulate. */
  readonly recovery: Recovery | null;
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

/** How the receiver recovers from a stall of all handlers, with only ordinary traffic before and after it. */
export interface Recovery {
  /**
   * The shortest stall, in seconds, after which the receiver without the middleware stays down: at the end of the simulated
   * time it handles less than 90 % of the ordinary traffic at the first attempt. Null: it recovers from each up to `maxStallS`.
   */
  readonly stallS: number | null;
  /** The smallest burst within one second with the same effect, in deliveries. Null: it recovers from each. */
  readonly burst: number | null;
  /** The longest stall that was simulated, in seconds. The largest burst is the ordinary traffic of that time. */
  readonly maxStallS: number;
  /** How ours receives: `inbox` if a receiver that holds requests stays down too, because a sender disables the endpoint. */
  readonly mode: Mode;
  /**
   * After that stall, or the longest: how long the receiver takes until it handles the ordinary traffic at the first attempt
   * again, in seconds. Null: longer than simulated.
   */
  readonly recoveredS: { readonly nothing: number | null; readonly ours: number | null };
  /** The senders that disable the endpoint of the receiver without the middleware. */
  readonly switchedOff: readonly string[];
  /** The length of a step of the curves, in seconds. The stall begins at 60 s. */
  readonly stepS: number;
  /** Without the middleware: first attempts and retries per second, by step. */
  readonly load: readonly number[];
  /** Deliveries handled in time per second, by step. */
  readonly goodput: { readonly nothing: readonly number[]; readonly ours: readonly number[] };
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

/** The time axis that all curves of a plan share. */
export interface Axis {
  /** The length of a step, in seconds. */
  readonly stepS: number;
  /** The number of steps. */
  readonly steps: number;
}

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

/** What a configuration does with some deliveries. Times are in seconds; null without any. */
export interface Figures {
  /** Distinct deliveries. */
  readonly events: number;
  /** Deliveries that were never handled to the end: their sender has given up. */
  readonly lost: number;
  /** Requests ÷ deliveries. */
  readonly attemptsPerEvent: number;
  /** From the first attempt to the end of the handling, of handled deliveries. */
  readonly delayS: { readonly p50: number | null; readonly p99: number | null };
}

/** What a configuration does with the deliveries of one sender. */
export interface SenderOutcome extends Figures {
  /** The name of the sender. */
  readonly name: string;
  /** Whether the sender disables the endpoint, because of too many failures. */
  readonly switchedOff: boolean;
}

/** What a configuration does with all deliveries. */
export interface Outcome extends Figures {
  /** The same by sender. */
  readonly senders: readonly SenderOutcome[];
  /** From the beginning of the burst until the last delivery that arrived before its end was handled, in seconds. */
  readonly burstDoneS: number | null;
  /** The most deliveries that were queued, or stored and unfinished. */
  readonly maxDepth: number;
  /** The memory that they took, in bytes, besides the bodies. 0 in mode `inbox`, whose store has them on disk. */
  readonly memoryBytes: number;
}
