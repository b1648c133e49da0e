import type { Arrival } from '../delivery/arrival.ts';

/** The strategy of Retry-After and its bounds, in seconds. */
export interface RetryAfterSettings {
  readonly strategy: 'booked' | 'depth';
  readonly minSeconds: number;
  readonly maxSeconds: number;
}

/** The queue and the workers at a refusal. */
export interface Situation {
  readonly nowMs: number;
  readonly depth: number;
  /** The low-water mark in deliveries: at this depth shedding ends. */
  readonly low: number;
  /** Completions per second, over minutes; null while unknown. */
  readonly drainRate: number | null;
  /** Completions per second of the last seconds; lower during a long gap. */
  readonly presentRate: number | null;
  /** For how many seconds deliveries have been completed at that rate. */
  readonly paceAgeS: number;
  /** The share of the last seconds in which the process was late, 0 to 1. */
  readonly lateShare: number;
  readonly isStalled: boolean;
  /** Milliseconds without a completion although all workers are busy. */
  readonly gapMs: number;
  /** `gapMs` as a multiple of the longest usual gap; at least 1. */
  readonly gapFactor: number;
}

/** The refused delivery. */
export interface Refused {
  readonly arrival: Arrival;
  /** How many deliveries must start before a retry would start in time; zero or less if none. */
  readonly excess?: number;
  /** The least time between two starts of its key, in milliseconds; 0 if the key may use all workers. */
  readonly spacingMs?: number;
  /** By how much the wait for a worker of its own key exceeds the longest wait, in milliseconds; may be negative. */
  readonly excessMs?: number;
}

/** The rates of the other receivers of a fleet, behind whose retries this one books its own. */
export interface FleetRates {
  /** Retries per second that the others can handle. */
  readonly othersRate: number;
  /** The part of the fleet's rate at which this receiver books. */
  share(nowMs: number): number;
  /** What this receiver knows, completed by what the others know. */
  complete(situation: Situation): Situation;
  /** Whether the number of receivers has been the same for a while. */
  isSettled(nowMs: number): boolean;
  booked(key: string, spacingMs: number): void;
}
