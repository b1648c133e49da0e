import type { StoreAdmin } from './store-admin.ts';
import type { StoreEvent } from './store-event.ts';
import type { Awaitable, DeliveryRef, StoredDelivery } from '../delivery/stored-delivery.ts';

/** A delivery to store. */
export interface Put {
  /** The delivery to store. */
  readonly delivery: StoredDelivery;
  /** Whether it goes straight to the dead-letter queue, as `overflow`. */
  readonly isOverflow: boolean;
  /**
   * Whether the store may take over the memory of the body because nothing else reads it any more. When the call fails,
   * the same object can be put again. Default false: the bytes stay as they are.
   */
  readonly isBodyGiven?: boolean | undefined;
}

/**
 * - `stored`: committed; the delivery may be acknowledged
 * - `duplicate`: the same key and id is unfinished, a dead letter, completed and remembered or kept, or appears earlier
 *   in the batch as `stored`; the delivery may be acknowledged
 * - `conflict`: a duplicate with another body, as far as {@link bodySum} can distinguish them; it may be acknowledged
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
  /** Bytes of unfinished deliveries, by {@link storedBytes}. */
  readonly maxBytes: number;
  /** Dead letters. */
  readonly maxShelved: number;
  /** Bytes of dead letters, by {@link storedBytes}. */
  readonly maxShelvedBytes: number;
}

/**
 * Identifies a claim. No two claims of one delivery have the same owner and attempt, unless the delivery was released,
 * repeated or redriven in between.
 */
export interface ClaimRef extends DeliveryRef {
  /** 1 for the first. */
  readonly attempt: number;
}

/** A delivery that was claimed. */
export interface ClaimedDelivery extends StoredDelivery, ClaimRef {
  /** Counted, and committed, when it is claimed: a handler that kills the process has used an attempt. */
  readonly attempt: number;
  /** How many earlier claims were never settled: their owner died, or their lease ran out. */
  readonly strandings: number;
}

/** How a claim ends. */
export type Settlement = ClaimRef &
  (
    | {
        /** The id is remembered, unless it was generated. */
        readonly as: 'completed';
        /** Whether the delivery itself is kept as well, to be listed and replayed. */
        readonly keep: boolean;
      }
    | {
        /** Due again at `retryAtMs`. */
        readonly as: 'failed';
        readonly retryAtMs: number;
        readonly error: string;
        /**
         * Whether this attempt is repeated under the same number: it was the last one, and the dead-letter queue is full.
         * Default false.
         */
        readonly isRepeated?: boolean | undefined;
      }
    | {
        /** Moved to the dead-letter queue, with `attempt` as its attempts. */
        readonly as: 'dead';
        readonly error: string;
      }
    | {
        /** Given back. The attempt and the strandings are as before the claim. */
        readonly as: 'released';
        /** When it is due again. Absent: immediately. */
        readonly retryAtMs?: number | undefined;
      }
  );

/** What a store holds. */
export interface StoreStats {
  /** Unfinished deliveries: ready, waiting for a retry, or in flight. */
  readonly depth: number;
  /** Unfinished deliveries that are claimed. */
  readonly inFlight: number;
  /** Bytes of unfinished deliveries, by {@link storedBytes}. */
  readonly bytes: number;
  /** Dead letters. */
  readonly shelved: number;
  /** The bytes of all dead letters. */
  readonly shelvedBytes: number;
  /** Completed ids that are remembered. */
  readonly remembered: number;
  /** Completed deliveries that are kept. */
  readonly kept: number;
  /** The bytes of completed deliveries that are kept. */
  readonly keptBytes: number;
  /** When the oldest unfinished delivery was received, in ms since 1970; undefined when there is none. */
  readonly oldestReceivedAtMs: number | undefined;
  /** Whether everything is paused. */
  readonly isPaused: boolean;
  /** Keys that are paused, in any order. */
  readonly pausedKeys: readonly string[];
}

/** Restricts a claim. */
export interface ClaimOptions {
  /** How long the claims last without a renewal, in milliseconds. */
  readonly leaseMs: number;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
  /** The most deliveries with a stranding; 0 for none. */
  readonly maxStranded: number;
  /** Keys to skip: a few thousand at most. */
  readonly except: ReadonlySet<string>;
}

/** What a store holds when it is opened. */
export interface OpenedStore extends StoreStats {
  /** The depth of each key. */
  readonly depthByKey: ReadonlyMap<string, number>;
}

/**
 * Keeps the deliveries of an inbox. Times are passed in, in milliseconds since 1970. Every call is one commit: when it
 * has returned, or its promise has resolved, its effect survives the death of the process (as far as the store is
 * durable at all); when it throws or rejects, it has had no effect.
 *
 * An error may say whose fault it is. A `BackpressureError` of the code `ERR_WBP_STORE_VALUE`: one delivery holds
 * something that cannot be stored. Any other `BackpressureError`: the store itself does not work, and is not called for
 * a while. Unless the store itself does not work, a failed batch is put again in halves, so that only the delivery that
 * cannot be stored is refused.
 *
 * A claim belongs to an owner: the store object that was opened. Claims of an owner that has died go to the next owner
 * that claims, immediately where the store can detect the death, else when their lease has run out. An expired lease
 * alone ends nothing: until another owner has claimed the delivery, the first one may still renew and settle it.
 */
export interface InboxStore extends StoreAdmin {
  /**
   * Sets the listener of the store's events. Called once, before `open`. The store calls the listener from then on until
   * `close`. Absent: the store has no events; workers find deliveries of other processes within seconds.
   */
  watch?(listener: (event: StoreEvent) => void): void;
  /**
   * Prepares the store, migrates it, and takes back the claims of dead owners. Called once, before any other call. A
   * delivery that was never tried is due from then on, whatever the clock said when it was stored.
   *
   * With `isOrdered` only the head of each key can be claimed: the delivery of the key that was stored first, until it
   * is completed or a dead letter. Then the next one is the head, and is due immediately if it was never tried. A
   * redriven delivery takes its place in the order of first storing, behind the head. The order is a property of the
   * stored deliveries, so it binds every owner from then on; an `open` with the other value converts them. Absent: the
   * order stays as it is, and a new store has none.
   */
  open(nowMs: number, options?: { readonly isOrdered: boolean }): Awaitable<OpenedStore>;
  /** Stores every delivery of a batch that is not `duplicate` or `full`; on an error, none. One result for each, in order. */
  put(
    batch: readonly Put[],
    options: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]>;
  /**
   * Claims up to `count` deliveries that are due or whose claim was stranded. Keys take turns, across calls too. Within
   * a key the earliest due comes first; of those due at the same time, the one stored first. Keys in `except` and
   * paused keys are skipped.
   *
   * At most `maxStranded` of them have a stranding, because a delivery that killed the process must not run beside all
   * others that were in flight then. Deliveries stranded once come first; when there are none, a single one of those
   * that were stranded more often.
   */
  claim(count: number, options: ClaimOptions): Awaitable<readonly ClaimedDelivery[]>;
  /** Extends claims to `nowMs + leaseMs`. Returns for each, in order, whether it is still held. */
  renew(
    claims: readonly ClaimRef[],
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]>;
  /** Ends claims, in one commit. Returns for each, in order, whether it was still held; one that was not stays as it is. */
  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]>;
  /**
   * When the next delivery can be claimed, in ms since 1970: the earliest due time, or the end of a lease of another
   * owner; in the past when one can be claimed now; undefined when none waits. Skips paused deliveries, and due
   * deliveries of keys in `except`; deliveries of those keys that are due later may be skipped too.
   */
  nextDueMs(except?: ReadonlySet<string>): Awaitable<number | undefined>;
  /**
   * Makes retries due at `nowMs` that are due after `afterMs`: no delay is that long, so the clock was ahead when they
   * were scheduled. At most `limit`. Returns how many. Must be cheap when there are none: called every few seconds.
   */
  hasten(options: {
    readonly afterMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Awaitable<number>;
  /**
   * Makes every owner skip the deliveries of this key, or with null all deliveries, until they are resumed, also after
   * the next `open`. Existing claims stay. A key and everything are paused independently.
   *
   * @returns whether it was not paused before.
   */
  pause(key: string | null): Awaitable<boolean>;
  /** Ends a pause. Returns whether there was one. */
  resume(key: string | null): Awaitable<boolean>;
  /** The depth of each key. May be slow: called only after another process has used the store. */
  depthByKey(): Awaitable<ReadonlyMap<string, number>>;
  /** Must be cheap, however much is stored: called every few seconds. */
  stats(): Awaitable<StoreStats>;
  /** Releases this owner's claims and every resource. The last call. */
  close(nowMs: number): Awaitable<void>;
}
