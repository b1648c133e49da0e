import type { RetryAfterHabit } from '../senders/sender-profile.ts';

/** The strategy of Retry-After and its bounds, in seconds. */
export interface RetryAfterSettings {
  readonly strategy: 'booked' | 'depth';
  readonly minSeconds: number;
  readonly maxSeconds: number;
}

/** The state of the intake at a refusal. */
export interface Situation {
  readonly nowMs: number;
  readonly depth: number;
  /** The low-water mark in deliveries: at this depth shedding ends. */
  readonly low: number;
  /** The high-water mark in deliveries; undefined: the queue is never too small for the retries of a second. */
  readonly high?: number;
  /** The queue with its reserve, in deliveries; undefined as above. */
  readonly capacity?: number;
  /** Per second; null while unknown. */
  readonly drainRate: number | null;
  /** The drain rate over a longer time, not capped during a stall. */
  readonly steadyRate: number | null;
  /** How long deliveries have been handled at that rate, in seconds. */
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
  readonly key: string;
  readonly id: string | undefined;
  readonly maxWaitMs: number | undefined;
  /** Deliveries handled until its turn, including itself; undefined: the whole queue. */
  readonly turns?: number | undefined;
  /** The minimum time between two starts of its key, in milliseconds; 0 if the key may use all workers. */
  readonly spacingMs?: number;
  /** How long it would wait for its key's workers, in milliseconds; 0 if the key may use all workers. */
  readonly ownWaitMs?: number;
  readonly habit: RetryAfterHabit | 'ignored' | undefined;
}
