import type { IntakeState } from '@webhook-backpressure/core';
import type { DeadLetters } from './admin/dead-letters.ts';
import type { Completed, Pending } from './admin/lists.ts';
import type { InboxListener, InboxTotals } from './events/inbox-events.ts';
import type { CurrentInboxOptions, DeliveryHandler, InboxTunable } from './options/inbox-options.ts';
import type { InboxRole } from './options/roles.ts';
import type { AddedDelivery, AddOptions, AddResult } from './receive/added-delivery.ts';
import type { InboxAnswer } from './receive/inbox-answers.ts';
import type { InboxRequest } from './receive/inbox-request.ts';

/** The state of an inbox at one moment: a copy that does not change. */
export interface InboxSnapshot {
  /** `both`: it receives and handles deliveries. `receiver`: without workers. `worker`: of `createWorker`. */
  readonly role: InboxRole;
  /** Whether the inbox is accepting, shedding, stalled, closing or closed. */
  readonly state: IntakeState;
  /** Unfinished deliveries. */
  readonly depth: number;
  /** Deliveries whose handlers are running in this process. */
  readonly active: number;
  /** Bytes of unfinished deliveries. */
  readonly bytes: number;
  /** Dead letters, as of the last few seconds. */
  readonly deadLetters: number;
  /** The bytes of all dead letters. */
  readonly deadLetterBytes: number;
  /** Kept completed deliveries, as of the last few seconds. */
  readonly retained: number;
  /** The bytes of completed deliveries that are kept. */
  readonly retainedBytes: number;
  /** The option: how many deliveries may be stored and unfinished. */
  readonly capacity: number;
  /** The capacity; with `maxWaitMs` the smaller of it and longest wait × drain rate. In deliveries. */
  readonly effectiveCapacity: number;
  /** The option: how many bytes may be stored and unfinished. */
  readonly maxBytes: number;
  /** The depth at which shedding begins. */
  readonly highWater: number;
  /** The depth at which shedding ends: that of the option, or higher, so that it is at most 10 s of work below `highWater`. */
  readonly lowWater: number;
  /** How many handlers may run concurrently now. */
  readonly concurrency: number;
  /** Deliveries per second that the workers can complete; null before the first has completed. */
  readonly drainRate: number | null;
  /** Milliseconds since the oldest unfinished delivery was received, as of the last few seconds; 0 for none. */
  readonly oldestAgeMs: number;
  /** Refused deliveries whose Retry-After has not passed yet. */
  readonly booked: number;
  /** See `IntakeSnapshot.bookedAhead`. */
  readonly bookedAhead: readonly number[];
  /** Keys with unfinished deliveries. */
  readonly keys: number;
  /** The duration of the outage of all keys in milliseconds; null while there is none. */
  readonly outageMs: number | null;
  /** Keys that have their own outage. */
  readonly failingKeys: number;
  /** How many keys have a delivery that is due and that `limits` or a `RetryAfter` does not let start in this process. */
  readonly limitedKeys: number;
  /** Whether everything is paused, as of the last few seconds. */
  readonly isPaused: boolean;
  /** Keys that are paused, as of the last few seconds. */
  readonly pausedKeys: readonly string[];
  /**
   * Whether calls of the store failed, and none has worked since. The inbox calls it less often until one works. Calls that store
   * deliveries count apart, since a full disk can be read: after one that failed it is true until a delivery is stored.
   */
  readonly isStoreFailing: boolean;
  /** Names of the senders that are close to disabling the endpoint because of failures, in the order of the warnings. */
  readonly endangered: readonly string[];
  /** The tunable options in force, as plain JSON data. */
  readonly options: CurrentInboxOptions;
  /** Counts since the inbox was created. */
  readonly totals: InboxTotals;
}

/** The result of `close`. */
export interface InboxCloseReport {
  /** Attempts that ended after the call of `close`, in success or failure. */
  readonly completed: number;
  /** Always 0: stored deliveries wait for the next start. */
  readonly refused: 0;
  /** Handlers that were still running at the timeout; their deliveries were released. */
  readonly remaining: number;
}

/** Stores and acknowledges deliveries, and processes them later. */
export interface Inbox {
  /**
   * Resolves when the store is open, or the inbox closes before. Never rejects: a store that cannot be opened is tried
   * again. Deliveries need not await it: up to 1,000 wait during the first attempt, each no longer than its sender does.
   * After a failed attempt they are refused until the store is open. Resolves immediately in the build of an app, where the
   * store stays closed.
   */
  readonly opened: Promise<void>;
  /**
   * Receives a delivery. Resolves to the answer, or to null when the sender has disconnected. Rejects with what `context`,
   * `id`, `keyGenerator`, `redact` or `handshake` throws, and with `ERR_WBP_BODY_READ` when another middleware has read
   * the body before.
   */
  receive(request: InboxRequest): Promise<InboxAnswer | null>;
  /**
   * Stores a delivery that the application itself makes or has fetched, without a request: it is processed like one that was
   * received. Resolves when it is committed. With `client` it is stored within the transaction of the application: the promise
   * resolves when the statement has run, and the delivery is processed once the transaction is committed; it is counted
   * and reported from its start on.
   *
   * @param options - see {@link AddOptions}. With a connection of SQLite as `client` and without `encrypt` the delivery is
   * stored, or the call has thrown, when it returns.
   * @throws BackpressureError (as a rejection, with `client` also synchronously) `ERR_WBP_ADD` for an invalid delivery;
   * `ERR_WBP_ADD_FULL` when there is no room; `ERR_WBP_ADD_STORE` when the store did not confirm it, or is not open;
   * `ERR_WBP_TRANSACTION` when the client cannot be used. Then the transaction must be rolled back. With `asReceived`, rejects
   * with what `id` or `keyGenerator` throws.
   */
  add(delivery: AddedDelivery, options?: AddOptions): Promise<AddResult>;
  /** The current state and totals. */
  snapshot(): InboxSnapshot;
  /**
   * Changes options of the running inbox: all that are given, or on an error none.
   *
   * @throws BackpressureError with the code of the first invalid option.
   */
  update(options: InboxTunable): void;
  /**
   * Stops starting attempts of this key, or without a key of all deliveries. Deliveries are still stored and
   * acknowledged, and running handlers finish. A pause lasts until `resume`, survives restarts, and applies to every
   * process on the same store from its next claim on. A key and everything are paused independently: a delivery that is
   * paused in both ways needs both to be resumed.
   *
   * Resolves when the pause is stored, even if it existed before. Rejects with what the store throws.
   *
   * @param key - any string. At most 1,000 keys can be paused.
   * @throws BackpressureError `ERR_WBP_PAUSE` (as a rejection) when the key is not a string, or 1,000 other keys are
   * paused.
   */
  pause(key?: string): Promise<void>;
  /**
   * Ends the pause of this key, or without a key the pause of everything; keys that were paused by name stay paused.
   * Other processes on the same store notice within 5 s.
   *
   * @throws BackpressureError `ERR_WBP_PAUSE` (as a rejection) when the key is not a string.
   */
  resume(key?: string): Promise<void>;
  /**
   * Adds a handler, as the option `on` does. Add it before anything else happens in the process: a delivery that is claimed
   * earlier does not match it.
   *
   * @param type - `sender`, `sender:event.type`, `sender:*`, `*:event.type` or `*`, of at most 128 characters.
   * @param options - `name`: identifies the handler in stored deliveries, also after a restart, so give two handlers of one
   * type different names. 1 to 128 characters. Default: the type.
   * @throws BackpressureError `ERR_WBP_ON` for an invalid type or handler, a name that is taken, or more than 50 handlers;
   * `ERR_WBP_ROLE` for a receiver without workers.
   */
  on(type: string, handler: DeliveryHandler, options?: { name?: string | undefined }): void;
  /** Calls the listener synchronously with each event, in order. Returns a function that ends the subscription. */
  subscribe(listener: InboxListener): () => void;
  /**
   * Shuts down: refuses new deliveries, claims no more, and lets handlers finish until the timeout; then aborts their
   * signals and releases their deliveries. Stored deliveries wait for the next start. A second call returns the same
   * report.
   *
   * @param options - `timeoutMs`: from 0 to 86,400,000, default 10,000.
   */
  close(options?: { timeoutMs?: number | undefined }): Promise<InboxCloseReport>;
  /** The unfinished deliveries. */
  readonly pending: Pending;
  /** The dead-letter queue: deliveries that are not retried automatically. */
  readonly deadLetters: DeadLetters;
  /** Completed deliveries, kept for `keepCompletedMs`, and their ids, remembered for `retentionMs`. */
  readonly completed: Completed;
}
