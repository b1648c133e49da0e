import type { Delivery } from '../delivery/delivery.ts';
import type { Listener, SubscribeOptions } from '../delivery/events.ts';
import type { Tunable } from './options.ts';
import type { Admission } from '../delivery/admission.ts';
import type { Refusal } from '../delivery/refusal.ts';
import type { IntakeSnapshot } from '../delivery/snapshot.ts';

/** A bounded queue with water marks in front of a worker pool. */
export interface Intake {
  /** The option `dryRun`: it decides and reports, and admits every delivery. */
  readonly dryRun: boolean;
  /**
   * Admits a delivery, or refuses it with the reason and the time to retry. Synchronous and O(1).
   *
   * @throws BackpressureError `ERR_WBP_DELIVERY` if a field of the delivery is invalid.
   */
  admit(delivery?: Delivery): Admission | Refusal;
  /**
   * Whether `admit` would admit the delivery now. Changes nothing: for a caller that has to wait for something first,
   * such as the body of a request.
   *
   * @throws BackpressureError `ERR_WBP_DELIVERY` if a field of the delivery is invalid.
   */
  accepts(delivery?: Delivery): boolean;
  /** The state and the totals at this moment, as a copy. */
  snapshot(): IntakeSnapshot;
  /**
   * Changes options of the running intake: all that are given or, on an error, none. Queued deliveries keep their
   * deadlines, and none is dropped.
   *
   * @throws BackpressureError with the code of the first invalid option.
   */
  update(options: Tunable): void;
  /**
   * Calls the listener synchronously at each event, in order. Returns a function that ends the subscription.
   *
   * @throws BackpressureError `ERR_WBP_LISTENER` if the listener is not a function, or `inRequestContext` not a boolean.
   */
  subscribe(listener: Listener, options?: SubscribeOptions): () => void;
  /**
   * Shuts down: new deliveries are refused, the queue is drained until the timeout, then queued deliveries that are left
   * are refused. A second call returns the same report.
   *
   * @param options - `timeoutMs`: from 0 to 86,400,000, default 10,000.
   * @throws BackpressureError `ERR_WBP_CLOSE` if that is out of range.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<CloseReport>;
}

/** The result of a shutdown, counted from the call of `close`. */
export interface CloseReport {
  /** Deliveries whose handling ended, in success or failure. */
  readonly completed: number;
  /** Deliveries that were still queued at the timeout and were refused. */
  readonly refused: number;
  /** Deliveries still being handled at the timeout. */
  readonly remaining: number;
}
