import type { StoreAdmin } from './store-admin.ts';
import type { ReceivingStats, ReceivingStore } from './receiving-store.ts';
import type { Awaitable, DeliveryRef, StoredDelivery } from '../delivery/stored-delivery.ts';

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
export interface StoreStats extends ReceivingStats {
  /** Unfinished deliveries that are claimed. */
  readonly inFlight: number;
  /** Dead letters. */
  readonly deadLetters: number;
  /** The bytes of all dead letters. */
  readonly deadLetterBytes: number;
  /** Completed ids that are remembered. */
  readonly remembered: number;
  /** Completed deliveries that are kept. */
  readonly retained: number;
  /** The bytes of completed deliveries that are kept. */
  readonly retainedBytes: number;
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

/** Restricts a claim of named keys. */
export interface KeyClaimOptions {
  /** How long the claims last without a renewal, in milliseconds. */
  readonly leaseMs: number;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Whether new deliveries are claimed, the latest first. Default false. */
  readonly isNewestFirst?: boolean | undefined;
  /**
   * The most deliveries with a stranding, of all wants together; 0 for none. A want may then get fewer than are due. Not
   * with heads only. Default: any number.
   */
  readonly maxStranded?: number | undefined;
  /** The most strandings that one of these may have. Default: any number. */
  readonly maxStrandings?: number | undefined;
}

/** How much of one key to claim. */
export interface KeyWant {
  /** The key. */
  readonly key: string;
  /** At least 1. */
  readonly count: number;
  /**
   * Whether only the head of the key can be claimed: of its unfinished deliveries the one that was stored first, also
   * after a redrive, and only while no delivery of the key is claimed, by any owner. Then at most one is claimed, whatever
   * the count. A store that was opened with `isOrdered` claims heads only, with and without this.
   */
  readonly isHeadOnly: boolean;
  /**
   * The most claims of the key that there may be after the call, by all owners: no more are made by any of two calls at the
   * same time. `nextDueMs` ignores it. Default: any number.
   */
  readonly maxHeld?: number | undefined;
}

/** The claimed deliveries of one key. */
export interface KeyClaim {
  /** The key. */
  readonly key: string;
  /** Up to the wanted count, in order. */
  readonly claimed: readonly ClaimedDelivery[];
  /**
   * When more of this key can be claimed, in ms since 1970: the earliest due time, or the end of a lease of another owner.
   * In the past when some can be claimed now. With heads only: while no delivery of the key is claimed, the due time of the
   * head; else the end of a lease of another owner. Undefined when nothing waits, or it is paused; also when only this
   * owner's own settlements can make some claimable.
   */
  readonly nextDueMs: number | undefined;
}

/** A key with something to claim. */
export interface DueKey {
  /** The key. */
  readonly key: string;
  /** See {@link KeyClaim.nextDueMs}, for any delivery of the key: the head may be due later. */
  readonly nextDueMs: number;
}

/** A page of keys. */
export interface DueKeys {
  /** In any order, each key once. Fewer than the limit, or none, does not mean that it is the last page. */
  readonly keys: readonly DueKey[];
  /**
   * The `after` of the next page, in a form that is the store's own; undefined on the last one. A key that has something
   * to claim while all pages are read is on one of them.
   */
  readonly next: string | undefined;
}

/** What a store holds when it is opened. */
export interface OpenedStore extends StoreStats {
  /** The depth of each key. */
  readonly depthByKey: ReadonlyMap<string, number>;
}

/**
 * Keeps the deliveries of an inbox. See {@link ReceivingStore} for commits and errors.
 *
 * A claim belongs to an owner: the store object that was opened. Claims of an owner that has died go to the next owner
 * that claims, immediately where the store can detect the death, else when their lease has run out. An expired lease
 * alone ends nothing: until another owner claims, the first one may still renew and settle it. A claim of any delivery may end
 * all claims of other owners whose lease has expired.
 */
export interface InboxStore extends ReceivingStore, StoreAdmin {
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
  /**
   * Claims deliveries of named keys that are due or whose claim was stranded. Within a key the earliest due comes first; of
   * those due at the same time, the one stored first. The claims are the same as those of `claim`. With `isNewestFirst`, the latest due comes first; of those due at the same time, the one stored last. Then
   * only deliveries are claimed that were never tried; those that were delayed once may be left out. Not of an ordered store,
   * and not with heads only. Nothing is claimed of paused keys, of unknown keys, or while everything is paused. The cost depends
   * on the number of wants and claims, not on what else is stored.
   *
   * @param wants - at most 1,000, each of another key.
   * @returns one result for each want, in order.
   */
  claimKeys(wants: readonly KeyWant[], options: KeyClaimOptions): Awaitable<readonly KeyClaim[]>;
  /**
   * Lists the keys that have something to claim, now or later, without paused ones; none while everything is paused. Claims
   * of this owner do not count. The cost of all pages depends on the number of keys, not on how much each has.
   *
   * Between processes that share a store this is how one finds out about the deliveries of others: `watch` reports them
   * where the server announces them, and never for a file.
   *
   * @param options - `after`: undefined for the first page. `limit`: at least 1. `dueByMs`: only keys of which something
   * can be claimed by then.
   */
  dueKeys(options: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly dueByMs: number;
  }): Awaitable<DueKeys>;
  /** Extends claims to `nowMs + leaseMs`. Returns for each, in order, whether it is still held. */
  renew(
    claims: readonly ClaimRef[],
    options: { readonly leaseMs: number; readonly nowMs: number },
  ): Awaitable<readonly boolean[]>;
  /**
   * Ends claims, in one commit. Returns for each, in order, whether it was still held; one that was not stays as it is.
   *
   * A settlement whose call was rejected is repeated. If that call may have been committed, its repetition must not end a
   * later claim of the same owner: a released delivery is claimed again with the same attempt.
   */
  settle(settlements: readonly Settlement[], nowMs: number): Awaitable<readonly boolean[]>;
  /**
   * Ends a claim within the transaction of a client of the application, so that the end is committed and rolled back with
   * it. Returns whether the claim was still held. A store whose clients are synchronous has done it, or has thrown, when
   * the call returns. Absent: the store has no transactions that an application can use.
   *
   * @param client - what the application has passed. Throws or rejects with `ERR_WBP_TRANSACTION` if it cannot be used, or
   * has no open transaction.
   */
  settleIn?(client: unknown, settlement: Settlement, nowMs: number): Awaitable<boolean>;
  /**
   * When the next delivery can be claimed, in ms since 1970: the earliest due time, or the end of a lease of another
   * owner; in the past when one can be claimed now; undefined when none waits. Skips paused deliveries, and due
   * deliveries of keys in `except`; deliveries of those keys that are due later may be skipped too.
   */
  nextDueMs(except?: ReadonlySet<string>): Awaitable<number | undefined>;
  /**
   * Makes retries due at `nowMs` that are due after `afterMs`: no delay is that long, so the clock was ahead when they
   * were scheduled. At most `limit`. Returns how many. Must be cheap when there are none: called every few seconds.
   *
   * @param options - `key`: only those of this key. The cost then depends on the retries of that key.
   */
  hasten(options: {
    readonly key?: string | undefined;
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
  /** Must be cheap, however much is stored: called every half second while several processes use the store. */
  stats(): Awaitable<StoreStats>;
  /** Releases this owner's claims and every resource. The last call. */
  close(nowMs: number): Awaitable<void>;
}
