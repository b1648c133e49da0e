import type { Awaitable, DeliveryRef, StoredDelivery } from '../delivery/stored-delivery.ts';

/** Narrows what is asked for to one key; to any when it is left out. */
export interface ShelfScope {
  readonly key?: string | undefined;
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

/** The same without its body: bodies may be large, and lists long. */
export interface WithoutBody {
  readonly bodyBytes: number;
}

/** A delivery on the shelf, without its body. */
export interface ListedDelivery extends Omit<ShelvedDelivery, 'rawBody'>, WithoutBody {}

/**
 * - `ready`: due
 * - `delayed`: due at a later time, after an attempt that failed
 * - `active`: claimed
 */
export type PendingState = 'ready' | 'delayed' | 'active';

/** A delivery that is stored and unfinished. */
export interface StoredPending extends StoredDelivery {
  readonly state: PendingState;
  /** Attempts that were begun. */
  readonly attempts: number;
  /** Since when it has been due, or when it will be. */
  readonly dueMs: number;
}

/** The same without its body. */
export interface ListedPending extends Omit<StoredPending, 'rawBody'>, WithoutBody {}

/** A delivery that was completed and is kept. */
export interface StoredCompleted extends StoredDelivery {
  /** Attempts that it took. */
  readonly attempts: number;
  readonly completedAtMs: number;
}

/** The same without its body. */
export interface ListedCompleted extends Omit<StoredCompleted, 'rawBody'>, WithoutBody {}

/** A delivery that has changed its place, or has gone. */
export interface MovedDelivery extends DeliveryRef {
  /** By `storedBytes`. */
  readonly bytes: number;
}

/** A part of a list. */
export interface StoredPage<T> {
  readonly deliveries: readonly T[];
  /** What to give as `after` for the next part; undefined when there is none. */
  readonly next: number | undefined;
}

/** Which part of a list. */
export interface PageQuery extends ShelfScope {
  /** What the part before had as `next`; 0 at the start. */
  readonly after: number;
  /** At least 1. */
  readonly limit: number;
}

/** What there is, at one moment. */
export interface Counted {
  readonly count: number;
  /** The place of the last one in the order of the list. What comes later has a later place, or at worst the same. */
  readonly upTo: number;
}

/** How many deliveries one call moves or removes: both bounds hold, but for the first one, which may be of any size. */
export interface Portion {
  readonly limit: number;
  /** By `storedBytes`, of all together. */
  readonly maxBytes: number;
}

/** What operators and upkeep ask of a store, beside the work itself. All calls keep to what `InboxStore` says of calls. */
export interface StoreAdmin {
  /** The shelf, the oldest first; of those shelved at the same time in any order, but always the same. */
  listShelved(
    options: ShelfScope & { readonly limit: number; readonly offset: number },
  ): Awaitable<readonly ListedDelivery[]>;
  /** The delivery of this id that was shelved first. */
  getShelved(id: string, scope: ShelfScope): Awaitable<ShelvedDelivery | undefined>;
  /** How many of this id, or with null of any, are on the shelf. */
  countShelved(id: string | null, scope: ShelfScope): Awaitable<Counted>;
  /**
   * Puts deliveries of this id, or with null of any, back from the shelf, the oldest first, due immediately, with no
   * attempts and strandings behind them, and without asking for a place. What is stored of a delivery is not written
   * anew, however large it is. With `upTo` only those up to that place. Returns which.
   */
  redrive(
    id: string | null,
    options: ShelfScope & Portion & { readonly nowMs: number; readonly upTo?: number | undefined },
  ): Awaitable<readonly MovedDelivery[]>;
  /**
   * Throws deliveries of this id, or with null of any, off the shelf, the oldest first, and forgets their ids; with
   * `beforeMs` only those that were shelved before, with `upTo` only those up to that place. Returns which.
   */
  purge(
    id: string | null,
    options: ShelfScope &
      Portion & { readonly beforeMs?: number | undefined; readonly upTo?: number | undefined },
  ): Awaitable<readonly MovedDelivery[]>;
  /**
   * Up to how many deliveries and bytes may be unfinished when somebody puts deliveries back who has no inbox, such as
   * a tool: the low-water mark. Called when it has changed.
   */
  noteRoom(room: { readonly depth: number; readonly bytes: number }): Awaitable<void>;

  /**
   * Of what is stored and unfinished, what was put first comes first. A call looks at a bounded number of deliveries,
   * so that it may give fewer than `limit`, or none, although there are more.
   */
  listPending(
    options: PageQuery & { readonly state?: PendingState | undefined; readonly nowMs: number },
  ): Awaitable<StoredPage<ListedPending>>;
  getPending(ref: DeliveryRef, nowMs: number): Awaitable<StoredPending | undefined>;

  /** Of what is completed and kept, what was completed first comes first. A call is bounded as that of `listPending`. */
  listCompleted(options: PageQuery): Awaitable<StoredPage<ListedCompleted>>;
  /** The kept delivery of this id that was completed last. */
  getCompleted(id: string, scope: ShelfScope): Awaitable<StoredCompleted | undefined>;
  /** How many of this id, or with null of any, are kept. */
  countCompleted(id: string | null, scope: ShelfScope): Awaitable<Counted>;
  /** Puts completed deliveries back as `redrive` does those of the shelf, what was completed first in front. */
  replay(
    id: string | null,
    options: ShelfScope & Portion & { readonly nowMs: number; readonly upTo?: number | undefined },
  ): Awaitable<readonly MovedDelivery[]>;
  /**
   * Lets go of deliveries that were kept: those completed before `beforeMs`, and beyond that the first ones until
   * `keepBytes` are left. Their ids stay remembered. Returns which.
   */
  dropCompleted(
    options: Portion & { readonly beforeMs: number; readonly keepBytes: number },
  ): Awaitable<readonly MovedDelivery[]>;

  /**
   * Forgets ids that were completed before `beforeMs`, and beyond that the ones completed first until `keep` are left.
   * Never an id that is to be remembered; but a store may forget in groups, and then some stay for longer: up to an
   * eighth of the time from `beforeMs` to `nowMs`, up to an eighth of `keep`, and for what is completed from one call
   * to the next. At most `limit`. Returns how many.
   */
  forget(options: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
    readonly nowMs: number;
  }): Awaitable<number>;
  /**
   * Forgets that an id was completed, and lets go of the delivery where it was kept, so that the id is accepted again.
   * False where it is not known as completed.
   */
  forgetId(ref: DeliveryRef): Awaitable<boolean>;
}
