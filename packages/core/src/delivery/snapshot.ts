import type { Totals } from './ledger.ts';

/**
 * - `accepting`: deliveries are let in
 * - `shedding`: the queue reached the high-water mark and is not yet back at the low-water mark
 * - `stalled`: all workers are busy and nothing has completed for 10 s, or for ten mean service times
 * - `closing`, `closed`: shutting down; a readiness probe should fail
 */
export type IntakeState = 'accepting' | 'shedding' | 'stalled' | 'closing' | 'closed';

/** The intake at one moment. It is a copy and does not change. */
export interface IntakeSnapshot {
  readonly state: IntakeState;
  /** Deliveries that wait. */
  readonly depth: number;
  /** Deliveries that are being handled. */
  readonly active: number;
  readonly capacity: number;
  /** Deliveries: the smaller of the capacity and longest wait × drain rate. */
  readonly effectiveCapacity: number;
  /** Deliveries: at this depth shedding begins. */
  readonly highWater: number;
  /** Deliveries: at this depth it ends. */
  readonly lowWater: number;
  readonly concurrency: number;
  /** Completions per second that the workers can sustain; null before the first completion. */
  readonly drainRate: number | null;
  /** Milliseconds that the oldest waiting delivery has waited; 0 when none waits. */
  readonly oldestWaitMs: number;
  /** Refused deliveries that were given a second to come back and that are not due yet. */
  readonly booked: number;
  /** Keys that have something waiting. */
  readonly keys: number;
  readonly totals: Totals;
}
