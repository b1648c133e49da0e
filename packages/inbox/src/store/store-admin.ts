import type { Awaitable, DeliveryRef, StoredDelivery } from '../delivery/stored-delivery.ts';

/** Restricts a call to one key. Absent: any key. */
export interface DeadLetterFilter {
  /** Only deliveries of this key. Undefined: all keys. */
  readonly key?: string | undefined;
}

/** A dead letter. */
export interface StoredDeadLetter extends StoredDelivery {
  /** How many attempts were made. */
  readonly attempts: number;
  /** `dead`: its last attempt failed. `overflow`: it arrived while the inbox was above the high-water mark. */
  readonly reason: 'dead' | 'overflow';
  /** The error of the last attempt; empty for an overflow. */
  readonly error: string;
  /** When it was moved to the dead-letter queue, in milliseconds since 1970. */
  readonly deadAtMs: number;
}

/** Replaces the body in a list: bodies may be large, and lists long. */
export interface WithoutBody {
  /** The length of the body, in bytes. */
  readonly bodyBytes: number;
}

/** A dead letter without its body. */
export interface ListedDelivery extends Omit<StoredDeadLetter, 'rawBody'>, WithoutBody {}

/**
 * - `ready`: due
 * - `delayed`: due later, after a failed attempt
 * - `active`: claimed
 */
export type PendingState = 'ready' | 'delayed' | 'active';

/** An unfinished delivery. */
export interface StoredPending extends StoredDelivery {
  /** Whether it is ready to start, delayed until a retry, or being handled. */
  readonly state: PendingState;
  /** Attempts that were started. */
  readonly attempts: number;
  /** When it became or becomes due. */
  readonly dueMs: number;
}

/** An unfinished delivery without its body. */
export interface ListedPending extends Omit<StoredPending, 'rawBody'>, WithoutBody {}

/** A completed delivery that is kept. */
export interface StoredCompleted extends StoredDelivery {
  /** Attempts until it was completed. */
  readonly attempts: number;
  /** When its handler completed, in milliseconds since 1970. */
  readonly completedAtMs: number;
}

/** A completed delivery without its body. */
export interface ListedCompleted extends Omit<StoredCompleted, 'rawBody'>, WithoutBody {}

/** A delivery that was redriven, replayed or removed. */
export interface MovedDelivery extends DeliveryRef {
  /** By `storedBytes`. */
  readonly bytes: number;
}

/** A page of a list. */
export interface StoredPage<T> {
  /** The deliveries of this page. */
  readonly deliveries: readonly T[];
  /** The `after` of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** Which page of a list. */
export interface PageQuery extends DeadLetterFilter {
  /** The `next` of the page before; 0 for the first page. */
  readonly after: number;
  /** At least 1. */
  readonly limit: number;
}

/** A count at one moment. */
export interface Counted {
  /** The number of deliveries. */
  readonly count: number;
  /** The position of the last counted one in the order of the list. Later ones have a later position, or at worst the same. */
  readonly upTo: number;
}

/** How many deliveries one call moves or removes. Both bounds apply, except that the first one may be of any size. */
export interface Portion {
  /** The most deliveries of this call. */
  readonly limit: number;
  /** Their sum by `storedBytes`. */
  readonly maxBytes: number;
}

/** The calls of a store for operators and maintenance. The rules of `InboxStore` apply to them too. */
export interface StoreAdmin {
  /** Dead letters, the oldest first; those added at the same time in any stable order. */
  listDeadLetters(
    options: DeadLetterFilter & { readonly limit: number; readonly offset: number },
  ): Awaitable<readonly ListedDelivery[]>;
  /** Dead letters in the order of first storing, whenever they died. Bounded as `listPending` is. */
  scanDeadLetters(options: PageQuery): Awaitable<StoredPage<ListedDelivery>>;
  /** The dead letter of this id; of several keys, the oldest. */
  getDeadLetter(id: string, scope: DeadLetterFilter): Awaitable<StoredDeadLetter | undefined>;
  /** How many dead letters have this id, or with null any id. */
  countDeadLetters(id: string | null, scope: DeadLetterFilter): Awaitable<Counted>;
  /**
   * Puts dead letters of this id, or with null of any id, back among the unfinished deliveries, the oldest first: due
   * immediately, with 0 attempts and strandings, whatever the limits are. The stored body is not written again,
   * however large it is. With `upTo` only those up to that position. Returns which.
   */
  redrive(
    id: string | null,
    options: DeadLetterFilter & Portion & { readonly nowMs: number; readonly upTo?: number | undefined },
  ): Awaitable<readonly MovedDelivery[]>;
  /**
   * Deletes dead letters of this id, or with null of any id, the oldest first, and forgets their ids; with `beforeMs`
   * only those added before, with `upTo` only those up to that position. Returns which.
   */
  purge(
    id: string | null,
    options: DeadLetterFilter &
      Portion & { readonly beforeMs?: number | undefined; readonly upTo?: number | undefined },
  ): Awaitable<readonly MovedDelivery[]>;
  /**
   * Stores the low-water mark in deliveries and bytes: a program that redrives without an inbox, such as a command-line
   * tool, stops there. Called when it has changed.
   */
  noteRoom(room: { readonly depth: number; readonly bytes: number }): Awaitable<void>;

  /**
   * Unfinished deliveries in the order of storing. A call reads a bounded number of deliveries, so it may return fewer
   * than `limit`, or none, although there are more.
   */
  listPending(
    options: PageQuery & { readonly state?: PendingState | undefined; readonly nowMs: number },
  ): Awaitable<StoredPage<ListedPending>>;
  /** Returns one delivery that is stored and unfinished, or undefined. */
  getPending(ref: DeliveryRef, nowMs: number): Awaitable<StoredPending | undefined>;

  /** Kept deliveries in the order of completion. Bounded as `listPending` is. */
  listCompleted(options: PageQuery): Awaitable<StoredPage<ListedCompleted>>;
  /** The kept delivery of this id; of several keys, the one completed last. */
  getCompleted(id: string, scope: DeadLetterFilter): Awaitable<StoredCompleted | undefined>;
  /** How many kept deliveries have this id, or with null any id. */
  countCompleted(id: string | null, scope: DeadLetterFilter): Awaitable<Counted>;
  /** Puts kept deliveries back as `redrive` does dead letters, in the order of completion. */
  replay(
    id: string | null,
    options: DeadLetterFilter & Portion & { readonly nowMs: number; readonly upTo?: number | undefined },
  ): Awaitable<readonly MovedDelivery[]>;
  /**
   * Deletes kept deliveries that were completed before `beforeMs`, then the oldest until `keepBytes` are left. Their
   * ids stay remembered. Returns which.
   */
  dropCompleted(
    options: Portion & { readonly beforeMs: number; readonly keepBytes: number },
  ): Awaitable<readonly MovedDelivery[]>;

  /**
   * Forgets ids that were completed before `beforeMs`, then the oldest until `keep` are left. An id is never forgotten
   * earlier than that. A store may forget in groups and so keep some longer: by an eighth of the time from `beforeMs` to
   * `nowMs`, an eighth of `keep`, and the ids completed between two calls. At most `limit`. Returns how many.
   */
  forget(options: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
    readonly nowMs: number;
  }): Awaitable<number>;
  /**
   * Forgets a completed id and deletes its kept delivery, so that the id is accepted again. Returns false when the id is
   * not known as completed.
   */
  forgetId(ref: DeliveryRef): Awaitable<boolean>;
}
