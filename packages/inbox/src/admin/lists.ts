import { invalid } from '@webhook-backpressure/base';
import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import { pathOf } from '../delivery/request-facts.ts';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';
import type { Encryption } from '../encryption/encryption.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type {
  PageQuery,
  PendingState,
  StoredPage,
  StoredPending,
  WithoutBody,
} from '../store/store-admin.ts';
import {
  checkedId,
  checkedKey,
  checkedPage,
  checkedState,
  type DeadLetterScope,
  type PageOptions,
  type RedriveOptions,
} from './call-options.ts';
import type { Redriving } from './redriving.ts';

/**
 * A delivery in a list, without its body. If it is encrypted, `encryptedBy` is the id of its key, and `method`, `url`,
 * `path`, `params`, `context` and `headers` are empty; `get` returns them.
 */
export type Listed<T> = Omit<T, 'rawBody' | 'text' | 'json'> & {
  /** The size of the body; of an encrypted delivery, of all that is encrypted. */
  readonly bodyBytes: number;
  readonly encryptedBy: string | undefined;
};

/** A page of a list. */
export interface Page<T> {
  /** The deliveries of this page. */
  readonly deliveries: readonly T[];
  /** The `after` of the next page; undefined on the last one. */
  readonly next: number | undefined;
}

/** A stored delivery as lists show it. */
export function listed(stored: Omit<StoredDelivery, 'rawBody'> & WithoutBody): Listed<InboxDelivery> {
  const { id, key, sender, request, context, headers, receivedAtMs, bodyBytes, sealedBy, handler } = stored;
  const { method, url, params } = request;
  return {
    id,
    key,
    sender,
    method,
    url,
    path: pathOf(url),
    params,
    context,
    headers,
    receivedAt: new Date(receivedAtMs),
    handler,
    bodyBytes,
    encryptedBy: sealedBy,
  };
}

/** Asks until the page is full or the list ends: one call of the store reads a bounded number of deliveries. */
async function fullPage<T, R>(
  { key, limit, after }: PageQuery,
  ask: (query: PageQuery) => Awaitable<StoredPage<T>>,
  map: (one: T) => R,
): Promise<Page<R>> {
  const deliveries: R[] = [];
  let next: number | undefined = after;
  while (next !== undefined && deliveries.length < limit) {
    const page: StoredPage<T> = await ask({ key, limit: limit - deliveries.length, after: next });
    deliveries.push(...page.deliveries.map(map));
    ({ next } = page);
    if (next !== undefined && deliveries.length < limit) await nextTurn();
  }
  return { deliveries, next };
}

/** An unfinished delivery. */
export interface PendingDelivery extends InboxDelivery {
  /** `ready`: due. `delayed`: due later, after a failed attempt. `active`: claimed by a worker. */
  readonly state: PendingState;
  /** Attempts that were started. */
  readonly attempts: number;
  /** When it became or becomes due: not before the time that the option `notBefore` has set. */
  readonly dueAt: Date;
}

/** An unfinished delivery without its body. */
export type ListedPendingDelivery = Listed<PendingDelivery>;

/** The unfinished deliveries. Its calls reject with what the store throws. */
export interface Pending {
  /** Lists them in the order of arrival, without their bodies; with `state`, only those in this state. */
  list(options?: PageOptions & { state?: PendingState | undefined }): Promise<Page<ListedPendingDelivery>>;
  /** The delivery of this id with its body. Without `key`, every key with unfinished deliveries is searched in turn. */
  get(id: string, options?: DeadLetterScope): Promise<PendingDelivery | undefined>;
}

/** The keys that are searched for an id before other work gets a turn. */
const KEYS_PER_TURN = 200;

export function pending(store: InboxStore, wallMs: () => number, encryption: Encryption): Pending {
  const find = async (id: string, only: string | undefined): Promise<StoredPending | undefined> => {
    if (only !== undefined) return await store.getPending({ key: only, id }, wallMs());
    let tried = 0;
    for (const key of (await store.depthByKey()).keys()) {
      const found = await store.getPending({ key, id }, wallMs());
      if (found !== undefined) return found;
      tried += 1;
      if (tried % KEYS_PER_TURN === 0) await nextTurn();
    }
    return undefined;
  };
  return {
    list: async (options = {}) => {
      const query = checkedPage(options);
      const state = checkedState(options.state);
      return await fullPage(
        query,
        (part) => store.listPending({ ...part, state, nowMs: wallMs() }),
        (one) => ({
          ...listed(one),
          state: one.state,
          attempts: one.attempts,
          dueAt: dueAt(one),
        }),
      );
    },
    get: async (id, options = {}) => {
      const key = checkedKey(options);
      const found = await find(checkedId(id), key);
      if (found === undefined) return undefined;
      const { state, attempts } = found;
      return { ...inboxDelivery(await encryption.decrypt(found)), state, attempts, dueAt: dueAt(found) };
    },
  };
}

function dueAt({ dueMs, notBeforeMs = 0 }: Pick<StoredPending, 'dueMs' | 'notBeforeMs'>): Date {
  return new Date(Math.max(dueMs, notBeforeMs));
}

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
   * Forgets that an id was completed and deletes its kept delivery, so that a delivery with this id is accepted again. The
   * same for the deliveries of handlers that replaced it.
   * Resolves to false when the id is not known as completed.
   */
  forget(id: string, options: { key: string }): Promise<boolean>;
}

/** @param partIdsOf - the ids of deliveries that may have replaced one. */
export function completed(
  store: InboxStore,
  redriving: Redriving,
  encryption: Encryption,
  partIdsOf: (id: string) => readonly string[],
): Completed {
  return {
    list: async (options = {}) =>
      await fullPage(
        checkedPage(options),
        (query) => store.listCompleted(query),
        (one) => ({
          ...listed(one),
          attempts: one.attempts,
          completedAt: new Date(one.completedAtMs),
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
      const isForgotten = await store.forgetId({ key, id: checkedId(id) });
      for (const part of partIdsOf(id)) await store.forgetId({ key, id: part });
      return isForgotten;
    },
  };
}
