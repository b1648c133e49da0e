import type { FleetRegistry } from '@webhook-backpressure/fleet';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';

/** A delivery to store. */
export interface Put {
  /** The delivery to store. */
  readonly delivery: StoredDelivery;
  /** Whether it goes straight to the dead-letter queue, as `overflow`. */
  readonly isOverflow: boolean;
}

/**
 * - `stored`: committed; the delivery may be acknowledged
 * - `duplicate`: the same key and id is unfinished, a dead letter, completed and remembered or kept, or appears earlier
 *   in the batch as `stored`; the delivery may be acknowledged
 * - `conflict`: a duplicate with another body, as far as `bodySum` can distinguish them; it may be acknowledged
 * - `full`: not stored
 */
export type PutResult = 'stored' | 'duplicate' | 'conflict' | 'full';

/**
 * The limits that a put must not exceed, the new delivery included. The dead-letter limits apply to overflows only: a
 * settlement as `dead` is always stored, because the caller has checked the room before.
 */
export interface StoreLimits {
  /** Unfinished deliveries. */
  readonly capacity: number;
  /** Bytes of unfinished deliveries, by `storedBytes`. */
  readonly maxBytes: number;
  /** Dead letters. */
  readonly maxDeadLetters: number;
  /** Bytes of dead letters, by `storedBytes`. */
  readonly maxDeadLetterBytes: number;
}

/** What a store holds, as far as a receiver needs it. An `InboxStore` returns every field. */
export interface ReceivingStats {
  /** Unfinished deliveries: ready, waiting for a retry, or in flight. */
  readonly depth: number;
  /** Bytes of unfinished deliveries, by `storedBytes`. */
  readonly bytes: number;
  /**
   * Deliveries that left the unfinished ones since the store exists, by any process: they were completed, or moved to the
   * dead-letter queue. It never falls. Receivers learn from it how fast all workers are.
   */
  readonly drained: number;
  /** Unfinished deliveries that are claimed. Absent: unknown. */
  readonly inFlight?: number | undefined;
  /** When the oldest unfinished delivery was received, in ms since 1970; undefined when there is none, or it is unknown. */
  readonly oldestReceivedAtMs?: number | undefined;
  /** Dead letters. Absent: none. */
  readonly deadLetters?: number | undefined;
  /** The bytes of all dead letters. Absent: none. */
  readonly deadLetterBytes?: number | undefined;
  /** Completed deliveries that are kept. Absent: none. */
  readonly retained?: number | undefined;
  /** The bytes of completed deliveries that are kept. Absent: none. */
  readonly retainedBytes?: number | undefined;
  /** Whether everything is paused. Absent: no. */
  readonly isPaused?: boolean | undefined;
  /** Keys that are paused, in any order. Absent: none. */
  readonly pausedKeys?: readonly string[] | undefined;
}

/** What a store holds when a receiver opens it. */
export interface OpenedReceivingStore extends ReceivingStats {
  /** The depth of each key. Absent: unknown. */
  readonly depthByKey?: ReadonlyMap<string, number> | undefined;
}

/**
 * What a receiver without workers calls: it stores deliveries that other processes handle. Times are passed in, in
 * milliseconds since 1970. Every call is one commit: when it has returned, or its promise has resolved, its effect
 * survives the death of the process (as far as the store is durable at all); when it throws or rejects, it has had no
 * effect, or it is unknown whether it had. An unknown effect is harmless: the sender retries, and a delivery that was
 * stored is a duplicate then.
 *
 * An error may say whose fault it is. A `BackpressureError` of the code `ERR_WBP_STORE_VALUE`: one delivery holds
 * something that cannot be stored. Any other `BackpressureError`: the store itself does not work, and is not called for
 * a while. Unless the store itself does not work, a failed batch is put again in halves, so that only the delivery that
 * cannot be stored is refused.
 */
export interface ReceivingStore {
  /**
   * Sets the listener of the store's events. Called once, before `open`. The store calls the listener from then on until
   * `close`. Absent: the store has no events; workers find deliveries of other processes within seconds.
   */
  watch?(listener: (event: StoreEvent) => void): void;
  /** Prepares the store. Called once, before any other call; again after a rejection. */
  open(nowMs: number): Awaitable<OpenedReceivingStore>;
  /** Stores every delivery of a batch that is not `duplicate` or `full`; on an error, none. One result for each, in order. */
  put(
    batch: readonly Put[],
    options: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]>;
  /**
   * Stores a delivery within the transaction of a client of the application, as `put` does. A store whose clients are
   * synchronous has done it, or has thrown, when the call returns. Absent: the store has no transactions that an
   * application can use.
   *
   * @param client - what the application has passed. Throws or rejects with `ERR_WBP_TRANSACTION` if it cannot be used, or
   * has no open transaction.
   */
  putIn?(
    client: unknown,
    put: Put,
    options: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<PutResult>;
  /** Must be cheap, however much is stored: a receiver without workers calls it every half second. */
  stats(): Awaitable<ReceivingStats>;
  /**
   * The depth of each key. May be slow: called only after another process has used the store. Absent: every key counts
   * what this receiver has stored.
   */
  depthByKey?(): Awaitable<ReadonlyMap<string, number>>;
  /**
   * Where the receivers on this store see each other, so that each books retries at its share of the rate. Called about
   * every two seconds between `open` and `close`. Absent: each receiver books retries as if it was the only one.
   */
  readonly registry?: FleetRegistry | undefined;
  /** Releases every resource. The last call. */
  close(nowMs: number): Awaitable<void>;
}

/** Something that a store reports without having been called. */
export type StoreEvent =
  /**
   * Another process has stored or released deliveries, so that workers look for some now. The store calls it rarely, and
   * at different moments in the processes that share it.
   */
  | { readonly type: 'due' }
  /**
   * The store works, but something needs an operator: its server starves claims, or a clock is wrong. The inbox reports
   * it as `store-warning`. `code` is stable. `message` is logged and printed, so it contains nothing of a delivery.
   */
  | { readonly type: 'warning'; readonly code: `WBP_${string}`; readonly message: string };
