import type { Delivery } from '../delivery/delivery.ts';
import type { Listener } from '../delivery/events.ts';
import type { Tunable } from './options.ts';
import type { Admission } from '../delivery/admission.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { IntakeSnapshot } from '../delivery/snapshot.ts';

/** A bounded queue with water marks in front of a worker pool. */
export interface Intake {
  /** The option: it decides and reports, and lets everything in. */
  readonly dryRun: boolean;
  /**
   * Lets a delivery in, or says why not and when to come back. Synchronous and O(1).
   *
   * @throws BackpressureError `ERR_WBP_DELIVERY` when a field of the delivery is wrong.
   */
  admit(delivery?: Delivery): Admission | Refusal;
  /**
   * Whether `admit` would let the delivery in now. Books nothing, counts nothing and changes nothing: for a
   * caller that has something to wait for first, such as the body of a request.
   *
   * @throws BackpressureError `ERR_WBP_DELIVERY` when a field of the delivery is wrong.
   */
  accepts(delivery?: Delivery): boolean;
  snapshot(): IntakeSnapshot;
  /**
   * Changes options while it runs: all that are given, or on an error none. What waits keeps the deadline it
   * was admitted with, and nothing that waits is dropped.
   *
   * @throws BackpressureError with the code of the first option that is wrong.
   */
  update(options: Tunable): void;
  /** Calls the listener at each event, in order, at once. Returns the function that ends it. */
  subscribe(listener: Listener): () => void;
  /**
   * Shuts down: new deliveries are refused, what waits is still worked off until the timeout, then what is left
   * is refused. A second call returns the same report.
   *
   * @param options - `timeoutMs`: from 0 to 86,400,000, default 10,000.
   * @throws BackpressureError `ERR_WBP_CLOSE` when that is out of range.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<CloseReport>;
}

/** What a shutdown came to, counted from the call of `close`. */
export interface CloseReport {
  /** Deliveries whose handling ended, in success or failure. */
  readonly completed: number;
  /** Deliveries that still waited at the timeout and were refused. */
  readonly refused: number;
  /** Deliveries still being handled at the timeout. */
  readonly remaining: number;
}
