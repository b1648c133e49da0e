import type { Outcome, WithdrawalCause } from '../delivery/events.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';
import type { Arrival } from '../delivery/arrival.ts';

/**
 * A rule beside the queue and its marks. The intake asks each rule about deliveries, and reports to it what happens to
 * them. Without its rules the intake would be a bounded queue with two marks, a reserve and a Retry-After.
 */
export interface Rule {
  /** Whether the delivery may use the reserve above the high-water mark. */
  entitles?(arrival: Arrival): boolean;
  /** How long the sender waits, in milliseconds, if its timeout is not known otherwise; Infinity if not known. */
  longestWaitMs?(arrival: Arrival): number;
  /** It has been admitted, and starts or is queued. */
  admitted?(arrival: Arrival): void;
  /** Whether a delivery is queued, or stays queued, instead of being refused, and then that it is. */
  defers?(delivery: Pick<Arrival, 'delivery' | 'key'>): boolean;
  deferred?(admitted: AdmittedDelivery): void;
  /** It is about to leave the queue: it starts, is withdrawn, or ends in a dry run. */
  leaves?(admitted: AdmittedDelivery): void;
  /** Its sender has disconnected while it is being handled. */
  abandoned?(admitted: AdmittedDelivery, nowMs: number): void;
  /** Its handling has ended. */
  ended?(admitted: AdmittedDelivery, outcome: Outcome, nowMs: number): void;
  /** It left the queue without a start. */
  withdrawn?(admitted: AdmittedDelivery, cause: WithdrawalCause, nowMs: number): void;
  /** It was refused on arrival. */
  refused?(arrival: Arrival, refusal: Refusal): void;
}
