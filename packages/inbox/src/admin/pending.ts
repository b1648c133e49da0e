import type { Encryption } from '../encryption/encryption.ts';
import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { PendingState, StoredPending } from '../store/store-admin.ts';
import {
  checkedId,
  checkedKey,
  checkedPage,
  checkedState,
  type DeadLetterScope,
  type PageOptions,
} from './call-options.ts';
import { fullPage, listed, type Listed, type Page } from './listing.ts';

/** An unfinished delivery. */
export interface PendingDelivery extends InboxDelivery {
  /** `ready`: due. `delayed`: due later, after a failed attempt. `active`: claimed by a worker. */
  readonly state: PendingState;
  /** Attempts that were started. */
  readonly attempts: number;
  /** When it became or becomes due. */
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
          ...{ state: one.state, attempts: one.attempts, dueAt: new Date(one.dueMs) },
        }),
      );
    },
    get: async (id, options = {}) => {
      const key = checkedKey(options);
      const found = await find(checkedId(id), key);
      if (found === undefined) return undefined;
      const { state, attempts, dueMs } = found;
      return { ...inboxDelivery(await encryption.decrypt(found)), state, attempts, dueAt: new Date(dueMs) };
    },
  };
}
