import { invalid } from '../errors.ts';
import { inboxDelivery } from './inbox-delivery.ts';
import type { DeadLetter, DeadLetters, DeadLetterScope, ListedDeadLetter } from './inbox.ts';
import type { InboxReport } from './inbox-report.ts';
import type { DeliveryRef, InboxStore, ListedDelivery, ShelvedDelivery } from './inbox-store.ts';
import { pathOf } from './request-facts.ts';
import type { Sealing } from './sealing.ts';
import { nextTurn } from './turn.ts';

/** So many are moved by one call of the store, so that deliveries can be stored in between. */
const PART = 500;
const DEFAULT_LIMIT = 100;

/** What the shelf asks of the inbox around it. */
export interface ShelfSurroundings {
  readonly store: InboxStore;
  readonly report: InboxReport;
  readonly wallMs: () => number;
  readonly sealing: Sealing;
  /** Deliveries have come back from the shelf. */
  readonly restored: (restored: readonly DeliveryRef[]) => Promise<void>;
}

/** The shelf as its user sees it. */
export function deadLetters({ store, report, wallMs, sealing, restored }: ShelfSurroundings): DeadLetters {
  /** Calls again until what was there at first is moved: what comes onto the shelf meanwhile is not its business. */
  const inParts = async (move: (limit: number) => Promise<number>): Promise<number> => {
    const { shelved } = await store.stats();
    let moved = 0;
    for (;;) {
      const limit = Math.min(PART, shelved - moved);
      const part = limit > 0 ? await move(limit) : 0;
      moved += part;
      if (part < limit || part === 0) return moved;
      await nextTurn();
    }
  };
  return {
    async list(options = {}) {
      const key = checkedKey(options);
      const { limit = DEFAULT_LIMIT, offset = 0 } = options;
      if (!Number.isSafeInteger(limit) || limit < 1) {
        throw invalid('ERR_WBP_DEAD_LETTERS', 'limit', 'an integer, at least 1', limit);
      }
      if (!Number.isSafeInteger(offset) || offset < 0) {
        throw invalid('ERR_WBP_DEAD_LETTERS', 'offset', 'an integer, at least 0', offset);
      }
      return (await store.listShelved({ key, limit, offset })).map(listed);
    },
    async get(id, options = {}) {
      const shelved = await store.getShelved(checkedId(id), { key: checkedKey(options) });
      return shelved === undefined ? undefined : deadLetter(await sealing.open(shelved));
    },
    async redrive(id, options = {}) {
      const which = checkedId(id) === 'all' ? null : id;
      const key = checkedKey(options);
      const count = await inParts(async (limit) => {
        const part = await store.redrive(which, { key, limit, nowMs: wallMs() });
        await restored(part);
        return part.length;
      });
      if (count > 0) report.emit({ type: 'redriven', count });
      return count;
    },
    async purge(id, options = {}) {
      const which = checkedId(id) === 'all' ? null : id;
      const key = checkedKey(options);
      const count = await inParts(async (limit) => await store.purge(which, { key, limit }));
      if (count > 0) report.emit({ type: 'purged', count });
      return count;
    },
  };
}

function checkedId(id: string): string {
  if (typeof (id as unknown) !== 'string') throw invalid('ERR_WBP_DEAD_LETTERS', 'id', 'a string', id);
  return id;
}

/** Where the key is not understood, nothing is done: left out, it would mean every key. */
function checkedKey(options: DeadLetterScope): string | undefined {
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null)
    throw invalid('ERR_WBP_DEAD_LETTERS', 'options', 'an object', options);
  const { key } = options;
  if (key !== undefined && typeof (key as unknown) !== 'string')
    throw invalid('ERR_WBP_DEAD_LETTERS', 'key', 'a string', key);
  return key;
}

function listed({ receivedAtMs, shelvedAtMs, ...shelved }: ListedDelivery): ListedDeadLetter {
  const { id, key, sender, request, context, headers, attempts, reason, error } = shelved;
  const { method, url, params } = request;
  const { bodyBytes, sealedBy: encryptedBy } = shelved;
  return {
    ...{ id, key, sender, method, url, path: pathOf(url), params, context, headers, bodyBytes, encryptedBy },
    receivedAt: new Date(receivedAtMs),
    ...{ attempts, reason, error, shelvedAt: new Date(shelvedAtMs) },
  };
}

function deadLetter(shelved: ShelvedDelivery): DeadLetter {
  const { attempts, reason, error, shelvedAtMs } = shelved;
  return { ...inboxDelivery(shelved), attempts, reason, error, shelvedAt: new Date(shelvedAtMs) };
}
