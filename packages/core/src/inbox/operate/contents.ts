import { checkedId, checkedKey, checkedPage, checkedRedrive, checkedState, whichOf } from './asking.ts';
import { invalid } from '../../errors.ts';
import type { Completed, Listed, Page, Pending } from '../delivery/content-types.ts';
import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { Redriving } from './redriving.ts';
import { pathOf } from '../delivery/request-facts.ts';
import type { Sealing } from '../settings/sealing.ts';
import type { PageQuery, StoredPage, StoredPending, WithoutBody } from '../store/store-admin.ts';
import type { Awaitable, StoredDelivery } from '../delivery/stored-delivery.ts';
import type { Storeroom } from '../keeping/storeroom.ts';
import { nextTurn } from '../store/turn.ts';

/** So many keys are tried for an id before others get their turn. */
const KEYS_PER_TURN = 200;

/** What is stored and unfinished, as its user sees it. */
export function pending(store: InboxStore, wallMs: () => number, sealing: Sealing): Pending {
  const findPending = async (id: string, only: string | undefined): Promise<StoredPending | undefined> => {
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
  const find: Pending['get'] = async (id, options = {}) => {
    const key = checkedKey(options);
    const found = await findPending(checkedId(id), key);
    if (found === undefined) return undefined;
    const { state, attempts, dueMs } = found;
    return { ...inboxDelivery(await sealing.open(found)), state, attempts, dueAt: new Date(dueMs) };
  };
  return {
    list: async (options = {}) => {
      const query = checkedPage(options);
      const state = checkedState(options.state);
      const page = await wholePage(query, (part) => store.listPending({ ...part, state, nowMs: wallMs() }));
      return mapped(page, (one) => ({
        ...facts(one),
        ...{ state: one.state, attempts: one.attempts, dueAt: new Date(one.dueMs) },
      }));
    },
    get: find,
  };
}

/** What was completed, as its user sees it. */
export function completed(
  store: InboxStore,
  room: Storeroom,
  redriving: Redriving,
  wallMs: () => number,
  sealing: Sealing,
): Completed {
  return {
    list: async (options = {}) => {
      const page = await wholePage(checkedPage(options), (part) => store.listCompleted(part));
      return mapped(page, (one) => ({
        ...facts(one),
        ...{ attempts: one.attempts, completedAt: new Date(one.completedAtMs) },
      }));
    },
    get: async (id, options = {}) => {
      const found = await store.getCompleted(checkedId(id), { key: checkedKey(options) });
      if (found === undefined) return undefined;
      const { attempts, completedAtMs } = found;
      return { ...inboxDelivery(await sealing.open(found)), attempts, completedAt: new Date(completedAtMs) };
    },
    replay: async (id, options = {}) => {
      const which = whichOf(id);
      const { key, signal, onProgress } = checkedRedrive(options);
      const { count: total, upTo } = await store.countCompleted(which, { key });
      return await redriving.run({
        total,
        mark: which === null ? 'low' : 'high',
        async move(part) {
          const moved = await store.replay(which, { key, ...part, upTo, nowMs: wallMs() });
          room.leave('kept', moved);
          return moved;
        },
        signal,
        onProgress,
      });
    },
    forget: async (id, options) => {
      const key = checkedKey(options);
      // An id that is only remembered is found by both together.
      if (key === undefined) throw invalid('ERR_WBP_DEAD_LETTERS', 'key', 'a string', key);
      return await store.forgetId({ key, id: checkedId(id) });
    },
  };
}

/** Asks until a page is full or the list ends: a call of the store looks at a bounded number of deliveries. */
async function wholePage<T>(
  { key, limit, after }: PageQuery,
  ask: (part: PageQuery) => Awaitable<StoredPage<T>>,
): Promise<StoredPage<T>> {
  const deliveries: T[] = [];
  let next: number | undefined = after;
  while (next !== undefined && deliveries.length < limit) {
    const page: StoredPage<T> = await ask({ key, limit: limit - deliveries.length, after: next });
    deliveries.push(...page.deliveries);
    ({ next } = page);
    if (next !== undefined && deliveries.length < limit) await nextTurn();
  }
  return { deliveries, next };
}

function mapped<T, R>({ deliveries, next }: StoredPage<T>, map: (one: T) => R): Page<R> {
  return { deliveries: deliveries.map(map), next };
}

type Facts = Listed<InboxDelivery>;

function facts(stored: Omit<StoredDelivery, 'rawBody'> & WithoutBody): Facts {
  const { id, key, sender, request, context, headers, receivedAtMs, bodyBytes, sealedBy } = stored;
  const { method, url, params } = request;
  return {
    ...{ id, key, sender, method, url, path: pathOf(url), params, context, headers },
    ...{ receivedAt: new Date(receivedAtMs), bodyBytes, encryptedBy: sealedBy },
  };
}
