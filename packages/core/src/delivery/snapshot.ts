import type { GlanceField } from '@webhook-backpressure/base';
import type { CurrentOptions } from './current-options.ts';
import type { FleetSnapshot } from './fleet-snapshot.ts';
import type { Totals } from './ledger.ts';

/**
 * - `accepting`: deliveries are admitted
 * - `shedding`: the queue reached the high-water mark and is not yet back at the low-water mark
 * - `stalled`: all workers are busy and none has completed a delivery for 10 s and ten mean handling times
 * - `closing`, `closed`: shutting down; a readiness probe should fail
 */
export type IntakeState = 'accepting' | 'shedding' | 'stalled' | 'closing' | 'closed';

/** See {@link glanceAt}. */
export type IntakeGlance = Pick<IntakeSnapshot, GlanceField>;

/** The intake at one moment, as a copy that does not change. */
export interface IntakeSnapshot {
  /** Whether the intake is accepting, shedding, stalled, closing or closed. */
  readonly state: IntakeState;
  /** Queued deliveries. */
  readonly depth: number;
  /** Deliveries that are being handled. */
  readonly active: number;
  /** The option: how many deliveries may be queued. */
  readonly capacity: number;
  /** The smaller of `capacity` and `maxWaitMs` × drain rate: the queue that can be drained in time, in deliveries. */
  readonly effectiveCapacity: number;
  /** The depth at which shedding begins, in deliveries. */
  readonly highWater: number;
  /** The depth at which shedding ends, in deliveries: at most 10 s of work below `highWater`. */
  readonly lowWater: number;
  /** How many deliveries may be handled concurrently, now. */
  readonly concurrency: number;
  /** Completions per second that the workers can sustain; null before the first completion. */
  readonly drainRate: number | null;
  /** How long the oldest queued delivery has waited, in milliseconds; 0 if the queue is empty. */
  readonly oldestWaitMs: number;
  /** Refused deliveries with a booked time to retry that has not come yet. */
  readonly booked: number;
  /**
   * The booked retries that are due in each 10 s of the next 15 minutes: 90 numbers, the nearest first. The first one
   * counts those of the current second too. Bookings beyond 15 minutes are only in `booked`.
   */
  readonly bookedAhead: readonly number[];
  /** Keys that have queued deliveries. */
  readonly keys: number;
  /** Names of the senders that are close to disabling the endpoint because of failures. */
  readonly endangered: readonly string[];
  /** The tunable options in force, as plain JSON data. */
  readonly options: CurrentOptions;
  /** The fleet that the intake has joined; null without one. */
  readonly fleet: FleetSnapshot | null;
  /** Counts since the intake was created. */
  readonly totals: Totals;
}
