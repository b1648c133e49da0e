import type { StoreAdmin } from './store-admin.ts';
import type { Awaitable, DeliveryRef, StoredDelivery } from '../delivery/stored-delivery.ts';

/** A delivery to be stored. */
export interface Put {
  readonly delivery: StoredDelivery;
  /** Straight onto the shelf, as `overflow`. */
  readonly isOverflow: boolean;
  /**
   * Whether the store may take the memory of the body for itself: nobody else looks at it any more. When the call
   * fails, the same object can be put again. Default false: then the bytes stay as they are.
   */
  readonly isBodyGiven?: boolean | undefined;
}

/**
 * - `stored`: committed; it may be acknowledged
 * - `duplicate`: the same key and id is unfinished, on the shelf, completed and remembered or kept, or stands earlier
 *   in the batch as `stored`; it may be acknowledged
 * - `conflict`: a duplicate whose body is another one, as far as {@link bodySum} tells; it may be acknowledged
 * - `full`: not stored
 */
export type PutResult = 'stored' | 'duplicate' | 'conflict' | 'full';

/**
 * How much may be stored and unfinished, counted with the one that is put; and, counted apart, how much may be on the
 * shelf for an overflow to be put there. A settlement as `dead` finds a place there always: whether there is one has
 * been decided before.
 */
export interface StoreLimits {
  /** Deliveries. */
  readonly capacity: number;
  /** Bytes, by {@link storedBytes}. */
  readonly maxBytes: number;
  /** Deliveries on the shelf. */
  readonly maxShelved: number;
  /** Bytes on the shelf, by {@link storedBytes}. */
  readonly maxShelvedBytes: number;
}

/**
 * Which claim: of one delivery, no two claims have the same owner and attempt, unless it was released, repeated or put
 * back in between.
 */
export interface ClaimRef extends DeliveryRef {
  /** 1 for the first. */
  readonly attempt: number;
}

/** A delivery that was claimed. */
export interface ClaimedDelivery extends StoredDelivery, ClaimRef {
  /** Counted, and committed, when it is claimed: a handler that kills the process has used one. */
  readonly attempt: number;
  /** How many of its earlier claims ended without a word: their owner died, or their lease ran out. */
  readonly strandings: number;
}

/** How a claim ends. */
export type Settlement = ClaimRef &
  (
    | {
        /** Done: its id is remembered, unless it was generated. */
        readonly as: 'completed';
        /** Whether the delivery itself is kept as well, to be looked at and replayed. */
        readonly keep: boolean;
      }
    | {
        /** Not done: due again at `retryAtMs`. */
        readonly as: 'failed';
        readonly retryAtMs: number;
        readonly error: string;
        /**
         * Whether this attempt is to be made again under its number: it was the last one, and the shelf is full.
         * Default false.
         */
        readonly isRepeated?: boolean | undefined;
      }
    | { /** Onto the shelf, with `attempt` as its attempts. */ readonly as: 'dead'; readonly error: string }
    | {
        /** Given back, its attempt and its strandings as before the claim. */
        readonly as: 'released';
        /** When it is due again. Left out: immediately. */
        readonly retryAtMs?: number | undefined;
      }
  );

/** What is stored. */
export interface StoreStats {
  /** Unfinished: ready, waiting for a retry, or in flight. */
  readonly depth: number;
  /** Of these, claimed by somebody. */
  readonly inFlight: number;
  /** Bytes of what is unfinished, by {@link storedBytes}. */
  readonly bytes: number;
  /** On the shelf. */
  readonly shelved: number;
  readonly shelvedBytes: number;
  /** Completed ids that are remembered. */
  readonly remembered: number;
  /** Completed deliveries that are kept. */
  readonly kept: number;
  readonly keptBytes: number;
  /** When the oldest unfinished one was received, in ms since 1970; undefined when there is none. */
  readonly oldestReceivedAtMs: number | undefined;
  /** Whether everything is paused. */
  readonly isPaused: boolean;
  /** Keys that are paused, in any order. */
  readonly pausedKeys: readonly string[];
}

/** How many are claimed, and which. */
export interface ClaimOptions {
  /** How long the claims last when they are not renewed, in milliseconds. */
  readonly leaseMs: number;
  readonly nowMs: number;
  /** So many of those with a stranding at the most; 0 for none. */
  readonly maxStranded: number;
  /** Keys to pass over. A few thousand at the most. */
  readonly except: ReadonlySet<string>;
}

/** What is found at the start. */
export interface OpenedStore extends StoreStats {
  /** The part of the depth that each key has. */
  readonly depthByKey: ReadonlyMap<string, number>;
}

/**
 * Where the inbox keeps deliveries. Times are passed in, in milliseconds since 1970. Every call is one commit:
 * when it has returned, or its promise has resolved, what it did survives the death of the process (as far as the
 * store is durable at all); when it throws or rejects, nothing was done.
 *
 * What it throws may say whose fault that is. A `BackpressureError` of the code `ERR_WBP_STORE_VALUE`: something of one
 * delivery cannot be kept. Of any other code: the store itself does not work, and is left alone for a while. After
 * anything but the latter, a batch is put again in halves, so that what cannot be kept is refused alone.
 *
 * A claim belongs to an owner, the one that opened the store. Claims of an owner that has died are given to the next
 * one that asks, at once where the store can tell, and else when their lease has run out. A lease that has run out
 * ends nothing by itself: until somebody else has claimed the delivery, its owner may still renew and settle it.
 */
export interface InboxStore extends StoreAdmin {
  /**
   * Makes the store ready, migrates it, and takes back what dead owners have left. Called once, first. What has never
   * been tried is due from then on, whatever the clock said when it was stored.
   *
   * With `isOrdered` only the head of each key can be claimed: the delivery of the key that was stored first, until it is
   * completed or on the shelf. Then the next one is the head, and is due immediately if it has never been tried. What is
   * redriven stands in the order in which it was first stored, behind the head. The order is a property of what is stored,
   * so it binds every owner from then on; an `open` with the other value converts what is there. Left out, it stays as it is,
   * and what is new has no order.
   */
  open(nowMs: number, options?: { readonly isOrdered: boolean }): Awaitable<OpenedStore>;
  /** Stores a batch, all that is not `duplicate` or `full`, or, on an error, none. One result for each, in order. */
  put(
    batch: readonly Put[],
    options: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]>;
  /**
   * Claims up to `count` that are due, or whose claim was stranded: the keys in turn, from one call to the next, and
   * of a key the earliest due first, of those due at the same time the one put first. Nothing of keys in `except`, and
   * nothing that is paused.
   *
   * Of those with a stranding, `maxStranded` at the most: whatever killed the process must not be run beside all others
   * that were there. First those that were stranded once; when there are none, a single one of those that were stranded
   * more often.
   */
  claim(count: number, options: ClaimOptions): Awaitable<readonly ClaimedDelivery[]>;
  /** Prolongs claims up to `nowMs + leaseMs`. Whether each is still held, in order. */
  renew(
    claims: readonly ClaimRef[],
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]>;
  /** Ends claims, in one commit. Whether each was still held, in order; one that was not is left as it is. */
  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]>;
  /**
   * When something can be claimed next, in ms since 1970: the earliest due time, or end of a lease that is not the
   * own one's; in the past when something can be claimed now. Undefined when nothing waits. What is paused is passed over,
   * and what is due of the keys in `except`; of what is not due yet, it may be passed over.
   */
  nextDueMs(except?: ReadonlySet<string>): Awaitable<number | undefined>;
  /**
   * Makes due at `nowMs` what waits for a retry that is due after `afterMs`. No delay leads there, so the clock was ahead
   * when it was set. At most `limit`. Returns how many. Cheap where there is none: it is asked every few seconds.
   */
  hasten(options: {
    readonly afterMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Awaitable<number>;
  /**
   * Makes every owner pass over what is stored of this key, or with null over everything, until it is resumed, also after
   * the next `open`. What is claimed stays claimed. A key, and everything, are paused independently of each other.
   *
   * @returns whether it was not paused before.
   */
  pause(key: string | null): Awaitable<boolean>;
  /** Ends a pause. Whether there was one. */
  resume(key: string | null): Awaitable<boolean>;
  /** The part of the depth that each key has. It may take its time: it is asked when somebody else has used the store. */
  depthByKey(): Awaitable<ReadonlyMap<string, number>>;
  /** Cheap, whatever is stored: it is asked every few seconds. */
  stats(): Awaitable<StoreStats>;
  /** Releases the own claims, and lets go of every resource. Nothing is called after it. */
  close(nowMs: number): Awaitable<void>;
}

/** What the names and values of headers take beside their characters, and a delivery beside all of them. */
const BYTES_PER_HEADER = 8;
const BYTES_PER_DELIVERY = 256;

/**
 * What a delivery counts against a limit in bytes: its body, its strings, its context, and something for what keeps it;
 * of an encrypted one, what is stored of it.
 */
export function storedBytes({ key, id, request, context, headers, rawBody }: StoredDelivery): number {
  let bytes = BYTES_PER_DELIVERY + rawBody.byteLength + key.length + id.length;
  bytes += request.method.length + request.url.length;
  if (context !== null) bytes += JSON.stringify(context).length;
  for (const fields of [headers, request.params]) {
    for (const [name, value] of Object.entries(fields))
      bytes += BYTES_PER_HEADER + name.length + value.length;
  }
  return bytes;
}
