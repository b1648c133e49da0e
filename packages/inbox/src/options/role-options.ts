import type { ReceivingStore } from '../store/receiving-store.ts';
import type { InboxOptions } from './inbox-options.ts';

/** The options of deliveries that arrive: a worker has none of them. */
export type ReceivingOption =
  | (
      | 'verify'
      | 'context'
      | 'redact'
      | 'id'
      | 'keyGenerator'
      | 'handshake'
      | 'senders'
      | 'dryRun'
      | 'pressure'
    )
  | ('successStatus' | 'maxBodyBytes' | 'maxWaitMs' | 'overflow' | 'statusCode' | 'retryAfter' | 'shed');

/** The options of deliveries that are handled: a receiver without workers has none of them. */
export type WorkingOption =
  | (
      | 'process'
      | 'onDead'
      | 'ordered'
      | 'concurrency'
      | 'drainRate'
      | 'maxConcurrencyPerKey'
      | 'maxHandlingMs'
    )
  | ('retry' | 'retentionMs' | 'maxRemembered' | 'maxShelvedAgeMs' | 'keepCompletedMs' | 'maxKeptBytes');

/** The options that a receiver reads. */
export type ReceivingOptions = Pick<InboxOptions<never>, ReceivingOption>;

/**
 * The options of a receiver without workers: it verifies, stores and acknowledges deliveries, and other processes handle
 * them. The options are those of {@link InboxOptions} without the ones of the handling. `R` is the request type of the
 * framework.
 */
export interface ReceiverOptions<R = unknown>
  extends Omit<InboxOptions<R>, WorkingOption | 'store'>, Partial<Record<WorkingOption, undefined>> {
  /**
   * Stores the deliveries. The inbox opens and closes it; no other inbox may use the same object. Workers use another
   * store object with the same deliveries, in any process.
   */
  store: ReceivingStore;
}

/**
 * The options of workers without a receiver: they handle what receivers in other processes store. The options are those
 * of {@link InboxOptions} without the ones of the receiving. `capacity`, `maxBytes` and the water marks limit redrives
 * and replays only; give them the values of the receivers.
 */
export interface WorkerOptions
  extends Omit<InboxOptions<never>, ReceivingOption>, Partial<Record<ReceivingOption, undefined>> {}
