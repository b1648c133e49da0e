import { checkedId, checkedInteger, checkedKey, checkedRedrive, DEFAULT_LIMIT, whichOf } from './asking.ts';
import type { DeadLetter, DeadLetters, ListedDeadLetter } from '../delivery/dead-letter-types.ts';
import { inboxDelivery } from '../delivery/inbox-delivery.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import { PART_BYTES, PartSize } from '../store/part-size.ts';
import type { Redriving } from './redriving.ts';
import { pathOf } from '../delivery/request-facts.ts';
import type { Sealing } from '../settings/sealing.ts';
import type { ListedDelivery, ShelvedDelivery } from '../store/store-admin.ts';
import type { Storeroom } from '../keeping/storeroom.ts';
import { nextTurn } from '../store/turn.ts';

/** What the shelf asks of the inbox around it. */
export interface ShelfSurroundings {
  readonly store: InboxStore;
  readonly report: InboxReport;
  readonly room: Storeroom;
  readonly redriving: Redriving;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly sealing: Sealing;
}

/** The shelf as its user sees it. */
export function deadLetters(around: ShelfSurroundings): DeadLetters {
  const { store, report, room, redriving, now, wallMs, sealing } = around;
  return {
    async list(options = {}) {
      const key = checkedKey(options);
      const { limit = DEFAULT_LIMIT, offset = 0 } = options;
      checkedInteger('limit', limit, 1);
      checkedInteger('offset', offset, 0);
      return (await store.listShelved({ key, limit, offset })).map(listed);
    },
    async get(id, options = {}) {
      const shelved = await store.getShelved(checkedId(id), { key: checkedKey(options) });
      return shelved === undefined ? undefined : deadLetter(await sealing.open(shelved));
    },
    async redrive(id, options = {}) {
      const which = whichOf(id);
      const { key, signal, onProgress } = checkedRedrive(options);
      const { count: total, upTo } = await store.countShelved(which, { key });
      return await redriving.run({
        total,
        mark: which === null ? 'low' : 'high',
        async move(part) {
          const moved = await store.redrive(which, { key, ...part, upTo, nowMs: wallMs() });
          room.leave('shelved', moved);
          return moved;
        },
        signal,
        onProgress,
      });
    },
    async purge(id, options = {}) {
      const which = whichOf(id);
      const key = checkedKey(options);
      const { count: total, upTo } = await store.countShelved(which, { key });
      const size = new PartSize();
      let count = 0;
      // What is shelved meanwhile is none of its business.
      while (count < total) {
        const startedMs = now();
        const limit = Math.min(size.count, total - count);
        const purged = await store.purge(which, { key, limit, maxBytes: PART_BYTES, upTo });
        size.note(now() - startedMs);
        room.leave('shelved', purged);
        count += purged.length;
        if (purged.length === 0) break;
        await nextTurn();
      }
      if (count > 0) report.emit({ type: 'purged', count });
      return count;
    },
  };
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
