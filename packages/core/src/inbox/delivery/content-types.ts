import type { DeadLetterScope, RedriveOptions } from './dead-letter-types.ts';
import type { InboxDelivery } from './inbox-delivery.ts';
import type { PendingState } from '../store/store-admin.ts';

/**
 * What a list has of a delivery: all but the body. Of one that is encrypted, `encryptedBy` is the id of its key; then
 * `method`, `url`, `path`, `params`, `context` and `headers` are empty, and `get` has them.
 */
export type Listed<T> = Omit<T, 'rawBody' | 'text' | 'json'> & {
  readonly bodyBytes: number;
  readonly encryptedBy: string | undefined;
};

/** A part of a list. */
export interface Page<T> {
  readonly deliveries: readonly T[];
  /** What to give as `after` for the next part; undefined when this was the last one. */
  readonly next: number | undefined;
}

/** Which part of a list. */
export interface PageOptions extends DeadLetterScope {
  /** The most that a part has. Integer ≥ 1, default 100. */
  limit?: number | undefined;
  /** The `next` of the part before. Integer ≥ 0; default 0: from the start. */
  after?: number | undefined;
}

/** A delivery that is stored and unfinished. */
export interface PendingDelivery extends InboxDelivery {
  /** `ready`: due. `delayed`: due later, after an attempt that failed. `active`: claimed by a worker. */
  readonly state: PendingState;
  /** Attempts that were begun. */
  readonly attempts: number;
  /** Since when it has been due, or when it will be. */
  readonly dueAt: Date;
}

/** A pending delivery without its body. */
export type ListedPendingDelivery = Listed<PendingDelivery>;

/** What is stored and unfinished. What the store throws, its calls reject with. */
export interface Pending {
  /** In the order of arrival, without their bodies; with `state`, those in that state only. */
  list(options?: PageOptions & { state?: PendingState | undefined }): Promise<Page<ListedPendingDelivery>>;
  /** The one of this id, whole. Without `key`, every key that has something pending is tried, one after the other. */
  get(id: string, options?: DeadLetterScope): Promise<PendingDelivery | undefined>;
}

/** A delivery that was completed and is kept. */
export interface CompletedDelivery extends InboxDelivery {
  /** Attempts that it took. */
  readonly attempts: number;
  readonly completedAt: Date;
}

/** A completed delivery without its body. */
export type ListedCompletedDelivery = Listed<CompletedDelivery>;

/**
 * What was completed. Deliveries are kept for `keepCompletedMs`, ids remembered for `retentionMs`. What the store throws,
 * its calls reject with.
 */
export interface Completed {
  /** What is kept, in the order of completion, without their bodies. */
  list(options?: PageOptions): Promise<Page<ListedCompletedDelivery>>;
  /** The kept one of this id, whole; of several keys, the one that was completed last. */
  get(id: string, options?: DeadLetterScope): Promise<CompletedDelivery | undefined>;
  /**
   * Puts kept deliveries of this id, or with `all` all that are kept now, back among the stored, as
   * `deadLetters.redrive` does those of the shelf.
   *
   * @returns how many, when that is done, or the signal was aborted, or the inbox closes.
   */
  replay(id: string, options?: RedriveOptions): Promise<number>;
  /**
   * Forgets that an id was completed, and lets go of the delivery where it is kept: a delivery of this id is accepted
   * again. False where the id is not known as completed.
   */
  forget(id: string, options: { key: string }): Promise<boolean>;
}
