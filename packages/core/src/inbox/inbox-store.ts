/** A value now or later: a store on this machine answers at once, one across a network does not. */
export type Awaitable<T> = T | Promise<T>;

/** Which delivery: ids are unique within a key only. Both are any strings. */
export interface DeliveryRef {
  readonly key: string;
  readonly id: string;
}

/** A delivery as it is stored: what the sender sent, and when, by the wall clock. */
export interface StoredDelivery extends DeliveryRef {
  /**
   * Whether the id was made up on arrival. Then it will never come again, and need not be remembered once the
   * delivery is completed.
   */
  readonly isIdGenerated: boolean;
  readonly sender: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
}

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
 * - `duplicate`: the same key and id is unfinished, on the shelf, or completed and remembered, or stands earlier in
 *   the batch as `stored`; it may be acknowledged
 * - `full`: not stored
 */
export type PutResult = 'stored' | 'duplicate' | 'full';

/**
 * How much may be stored and unfinished, counted with the one that is put; and, counted apart, how much may be on the
 * shelf for an overflow to be put there. What is buried finds a place there always.
 */
export interface StoreLimits {
  /** Deliveries. */
  readonly capacity: number;
  /** Bytes, by {@link storedBytes}. */
  readonly maxBytes: number;
}

/** Which claim: of one delivery, no two claims have the same owner and attempt, unless it was released or redriven in between. */
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
    | { /** Done: only the id is remembered, unless it was generated. */ readonly as: 'completed' }
    | {
        /** Not done: due again at `retryAtMs`. */
        readonly as: 'failed';
        readonly retryAtMs: number;
        readonly error: string;
      }
    | { /** Onto the shelf, with `attempt` as its attempts. */ readonly as: 'dead'; readonly error: string }
    | {
        /** Given back, due at once, its attempt and its strandings as before the claim. */
        readonly as: 'released';
      }
  );

/** Where a delivery stands that will not be tried again by itself. */
export interface ShelvedDelivery extends StoredDelivery {
  readonly attempts: number;
  /** `dead`: its attempts are used up. `overflow`: it came while the inbox was above the high-water mark. */
  readonly reason: 'dead' | 'overflow';
  /** What the last attempt failed with; empty for an overflow. */
  readonly error: string;
  readonly shelvedAtMs: number;
}

/** A delivery on the shelf, without its body: bodies may be large, and lists long. */
export interface ListedDelivery extends Omit<ShelvedDelivery, 'rawBody'> {
  readonly bodyBytes: number;
}

/** Narrows what is asked of the shelf to one key; of any when it is left out. */
export interface ShelfScope {
  readonly key?: string | undefined;
}

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
  /** When the oldest unfinished one was received, in ms since 1970; undefined when there is none. */
  readonly oldestReceivedAtMs: number | undefined;
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
export interface InboxStore {
  /**
   * Makes the store ready, migrates it, and takes back what dead owners have left. Called once, first. What has never
   * been tried is due from then on, whatever the clock said when it was stored.
   */
  open(nowMs: number): Awaitable<OpenedStore>;
  /** Stores a batch, all that is not `duplicate` or `full`, or, on an error, none. One result for each, in order. */
  put(
    batch: readonly Put[],
    options: { readonly limits: StoreLimits; readonly nowMs: number },
  ): Awaitable<readonly PutResult[]>;
  /**
   * Claims up to `count` that are due, or whose claim was stranded: the keys in turn, from one call to the next, and
   * of a key the earliest due first, of those due at the same time the one put first. Of those with a stranding, one
   * at most, and with `isStrandedAllowed` false none: whatever killed the process must not be run beside others that
   * were there.
   */
  claim(
    count: number,
    options: { readonly leaseMs: number; readonly nowMs: number; readonly isStrandedAllowed: boolean },
  ): Awaitable<readonly ClaimedDelivery[]>;
  /** Prolongs claims up to `nowMs + leaseMs`. Whether each is still held, in order. */
  renew(
    claims: readonly ClaimRef[],
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]>;
  /** Ends claims, in one commit. Whether each was still held, in order; one that was not is left as it is. */
  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]>;
  /**
   * When something can be claimed next, in ms since 1970: the earliest due time, or end of a lease that is not the
   * own one's; in the past when something can be claimed now. Undefined when nothing waits.
   */
  nextDueMs(): Awaitable<number | undefined>;
  /** The shelf, the oldest first; of those shelved at the same time in any order, but always the same. */
  listShelved(
    options: ShelfScope & { readonly limit: number; readonly offset: number },
  ): Awaitable<readonly ListedDelivery[]>;
  /** The delivery of this id that was shelved first. */
  getShelved(id: string, scope: ShelfScope): Awaitable<ShelvedDelivery | undefined>;
  /**
   * Puts deliveries of this id, or with null of any, back from the shelf, the oldest first, due at once, with no
   * attempts and strandings behind them, and without asking for a place. At most `limit`. Returns which.
   */
  redrive(
    id: string | null,
    options: ShelfScope & { readonly limit: number; readonly nowMs: number },
  ): Awaitable<readonly DeliveryRef[]>;
  /** Throws deliveries of this id, or with null of any, off the shelf, and forgets their ids. Returns how many. */
  purge(id: string | null, options: ShelfScope & { readonly limit: number }): Awaitable<number>;
  /**
   * Forgets ids that were completed before `beforeMs`, and beyond that the oldest ones until `keep` are left. At most
   * `limit`. Returns how many.
   */
  forget(options: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
  }): Awaitable<number>;
  /**
   * Makes due at `nowMs` what waits for a retry that is due after `afterMs`. No delay leads there, so the clock was ahead
   * when it was set. At most `limit`. Returns how many. Cheap where there is none: it is asked every few seconds.
   */
  hasten(options: {
    readonly afterMs: number;
    readonly nowMs: number;
    readonly limit: number;
  }): Awaitable<number>;
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

/** What a delivery counts against a limit in bytes: its body, its strings, and something for what keeps it. */
export function storedBytes({ key, id, headers, rawBody }: StoredDelivery): number {
  let bytes = BYTES_PER_DELIVERY + rawBody.byteLength + key.length + id.length;
  for (const [name, value] of Object.entries(headers)) bytes += BYTES_PER_HEADER + name.length + value.length;
  return bytes;
}
