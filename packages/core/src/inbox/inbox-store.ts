/** A value now or later: a store on this machine answers at once, one across a network does not. */
export type Awaitable<T> = T | Promise<T>;

/** A delivery as it is stored: what the sender sent, and when, by the wall clock. */
export interface StoredDelivery {
  /** Unique among the deliveries of its key for as long as the store remembers it. */
  readonly id: string;
  readonly key: string;
  readonly sender: string | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rawBody: Uint8Array;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
}

/**
 * - `stored`: committed; it may be acknowledged
 * - `duplicate`: an id that is stored, or was completed within the retention; it may be acknowledged
 * - `full`: not stored
 */
export type PutResult = 'stored' | 'duplicate' | 'full';

/** How much may be stored and unfinished. What is on the shelf does not count. */
export interface StoreLimits {
  readonly capacity: number;
  readonly maxBytes: number;
}

/** A delivery that was claimed. */
export interface ClaimedDelivery extends StoredDelivery {
  /** 1 for the first. Counted, and committed, when it is claimed: a handler that kills the process has used one. */
  readonly attempt: number;
}

/** Where a delivery stands that will not be tried again by itself. */
export interface ShelvedDelivery extends StoredDelivery {
  readonly attempts: number;
  /** `dead`: its attempts are used up. `overflow`: it came while the inbox was above the high-water mark. */
  readonly reason: 'dead' | 'overflow';
  /** What the last attempt failed with; empty for an overflow. */
  readonly error: string;
  readonly shelvedAtMs: number;
}

/** What is stored. */
export interface StoreStats {
  /** Unfinished: ready, waiting for a retry, or in flight. */
  readonly depth: number;
  /** Of these, claimed by somebody. */
  readonly inFlight: number;
  /** On the shelf. */
  readonly shelved: number;
  /** Bytes of body and headers of what is unfinished. */
  readonly bytes: number;
  /** When the oldest unfinished one was received, in ms since 1970; undefined when there is none. */
  readonly oldestReceivedAtMs: number | undefined;
}

/**
 * Where the inbox keeps deliveries. Times are passed in, in milliseconds since 1970. Every call is one commit:
 * when it has returned, or its promise has resolved, what it did survives the death of the process (as far as the
 * store is durable at all); when it throws or rejects, nothing was done.
 *
 * A claim belongs to an owner, the process that opened the store. Claims of an owner that has died are given to the
 * next one that asks, at once where the store can tell, and else when their lease has run out.
 */
export interface InboxStore {
  /** Makes the store ready, migrates it, and takes back what dead owners have left. Called once, first. */
  open(nowMs: number): Awaitable<StoreStats>;
  /** Stores a batch, all or, on an error, none. One result for each, in order. `shelf`: straight onto the shelf. */
  put(
    deliveries: readonly StoredDelivery[],
    options: { readonly limits: StoreLimits; readonly nowMs: number; readonly shelf?: boolean },
  ): Awaitable<readonly PutResult[]>;
  /** Claims up to `count` that are due, the earliest first. */
  claim(
    count: number,
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly ClaimedDelivery[]>;
  /** Prolongs claims. Returns the ids that are no longer held. */
  renew(
    ids: readonly DeliveryRef[],
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly DeliveryRef[]>;
  /** Done: only the id is remembered. False when the claim was no longer held. */
  complete(ref: DeliveryRef, nowMs: number): Awaitable<boolean>;
  /** Not done: due again at `retryAtMs`. False when the claim was no longer held. */
  fail(
    ref: DeliveryRef,
    options: { readonly retryAtMs: number; readonly error: string; readonly nowMs: number },
  ): Awaitable<boolean>;
  /** Onto the shelf. False when the claim was no longer held. */
  bury(ref: DeliveryRef, options: { readonly error: string; readonly nowMs: number }): Awaitable<boolean>;
  /** Gives claims back without counting the attempt: the handler was not run to its end by our own wish. */
  release(refs: readonly DeliveryRef[], nowMs: number): Awaitable<void>;
  /** When the next delivery is due, in ms since 1970; undefined when nothing waits. */
  nextDueMs(): Awaitable<number | undefined>;
  /** The shelf, the oldest first. */
  listShelved(options: {
    readonly limit: number;
    readonly offset: number;
  }): Awaitable<readonly ShelvedDelivery[]>;
  getShelved(id: string): Awaitable<ShelvedDelivery | undefined>;
  /** Puts deliveries of this id, or with `all` every one, back from the shelf, with all attempts before them. Returns how many. */
  redrive(id: string, nowMs: number): Awaitable<number>;
  /** Throws deliveries of this id, or with `all` every one, off the shelf. Returns how many. */
  purge(id: string, nowMs: number): Awaitable<number>;
  /** Forgets ids that were completed before `beforeMs`. Returns how many. Bounded work per call. */
  forget(beforeMs: number): Awaitable<number>;
  stats(): Awaitable<StoreStats>;
  /** Gives back what is claimed, and lets go of every resource. */
  close(): Awaitable<void>;
}

/** Which delivery: ids are unique within a key only. */
export interface DeliveryRef {
  readonly key: string;
  readonly id: string;
}
