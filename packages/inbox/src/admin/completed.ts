import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import type { Encryption } from '../encryption/encryption.ts';
import { invalid } from '@webhook-backpressure/base';
import type { InboxStore } from '../store/inbox-store.ts';
import {
  checkedId,
  checkedKey,
  checkedPage,
  type DeadLetterScope,
  type PageOptions,
  type RedriveOptions,
} from './call-options.ts';
import { fullPage, listed, type Listed, type Page } from './listing.ts';
import type { Redriving } from './redriving.ts';

/** A completed delivery that is kept. */
export interface CompletedDelivery extends InboxDelivery {
  /** Attempts until it was completed. */
  readonly attempts: number;
  /** When its handler completed. */
  readonly completedAt: Date;
}

/** A completed delivery without its body. */
export type ListedCompletedDelivery = Listed<CompletedDelivery>;

/**
 * The completed deliveries, which are kept for `keepCompletedMs`; their ids are remembered for `retentionMs`. Its calls
 * reject with what the store throws.
 */
export interface Completed {
  /** Lists the kept deliveries in the order of completion, without their bodies. */
  list(options?: PageOptions): Promise<Page<ListedCompletedDelivery>>;
  /** The kept delivery of this id with its body; of several keys, the one completed last. */
  get(id: string, options?: DeadLetterScope): Promise<CompletedDelivery | undefined>;
  /**
   * Puts the kept deliveries of this id, or with `all` every one kept at the time of the call, back among the unfinished
   * deliveries, as `deadLetters.redrive` does dead letters.
   *
   * @returns how many were put back, when all were, or the signal was aborted, or the inbox closes.
   */
  replay(id: string, options?: RedriveOptions): Promise<number>;
  /**
   * Forgets that an id was completed and deletes its kept delivery, so that a delivery with this id is accepted again.
   * Resolves to false when the id is not known as completed.
   */
  forget(id: string, options: { key: string }): Promise<boolean>;
}

export interface CompletedParts {
  readonly store: InboxStore;
  readonly redriving: Redriving;
  readonly encryption: Encryption;
}

export function completed({ store, redriving, encryption }: CompletedParts): Completed {
  return {
    list: async (options = {}) =>
      await fullPage(
        checkedPage(options),
        (query) => store.listCompleted(query),
        (one) => ({
          ...listed(one),
          ...{ attempts: one.attempts, completedAt: new Date(one.completedAtMs) },
        }),
      ),
    get: async (id, options = {}) => {
      const found = await store.getCompleted(checkedId(id), { key: checkedKey(options) });
      if (found === undefined) return undefined;
      const { attempts, completedAtMs } = found;
      const delivery = inboxDelivery(await encryption.decrypt(found));
      return { ...delivery, attempts, completedAt: new Date(completedAtMs) };
    },
    replay: (id, options = {}) =>
      redriving.run(id, options, {
        kind: 'kept',
        count: (which, scope) => store.countCompleted(which, scope),
        move: (which, part) => store.replay(which, part),
      }),
    forget: async (id, options) => {
      const key = checkedKey(options);
      // The key is required: an id alone does not identify a delivery.
      if (key === undefined) throw invalid('ERR_WBP_DEAD_LETTERS', 'key', 'a string', key);
      return await store.forgetId({ key, id: checkedId(id) });
    },
  };
}
