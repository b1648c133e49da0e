import type { Signal } from '@webhook-backpressure/base';
import type { FinishedUsage } from '../capacity/finished-usage.ts';
import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import type { Encryption } from '../encryption/encryption.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import type { ListedDelivery } from '../store/store-admin.ts';
import type { Scheduler } from '../time/scheduler.ts';
import { batchesOf, type Choice, tryOut } from './batches.ts';
import {
  checkedChoice,
  checkedId,
  checkedInteger,
  checkedKey,
  checkedMove,
  checkSignal,
  DEFAULT_LIMIT,
  type DeadLetterScope,
  type DryRun,
  type MoveOptions,
  type RedriveOptions,
} from './call-options.ts';
import { checkedFilter, DEAD_LETTER_FIELDS, type DeliveryFilter, needsScan } from './delivery-filter.ts';
import { deadLetterList } from './finished-list.ts';
import { listed, type Listed, type Page } from './lists.ts';
import { purgeAll } from './purging.ts';
import type { Redriving } from './redriving.ts';
import { search } from './scan.ts';

/** A delivery in the dead-letter queue, which is not retried automatically. */
export interface DeadLetter extends InboxDelivery {
  /** How many attempts were made. */
  readonly attempts: number;
  /** `dead`: its last attempt failed. `overflow`: it arrived while the inbox was above the high-water mark. */
  readonly reason: 'dead' | 'overflow';
  /** The error of the last attempt, up to 4,096 characters; empty for an overflow. */
  readonly error: string;
  /** When it moved to the dead-letter queue. */
  readonly deadAt: Date;
}

/** A dead letter without its body, which {@link DeadLetters.get} returns. */
export type ListedDeadLetter = Listed<DeadLetter>;

/** The dead-letter queue. Its calls reject with what the store throws. */
export interface DeadLetters {
  /**
   * Lists dead letters without their bodies: without a filter beside `key` the oldest first, with one in the order of
   * arrival. `limit`: integer ≥ 1, default 100. `offset`: integer ≥ 0, default 0; it counts deliveries that match.
   */
  list(
    options?: DeliveryFilter & { limit?: number | undefined; offset?: number | undefined },
  ): Promise<readonly ListedDeadLetter[]>;
  /**
   * Lists dead letters in the order of arrival, in pages, without their bodies. `after`: 0 for the first page, then the
   * `next` of the page before. For long lists: a page behind a large `offset` is slow. An aborted `signal` ends the search;
   * the page has what was found until then, and `next` continues it.
   */
  list(
    options: DeliveryFilter & { limit?: number | undefined; after: number; signal?: Signal | undefined },
  ): Promise<Page<ListedDeadLetter>>;
  /**
   * The dead letter of this id with its body; of several keys, the oldest. Rejects with `ERR_WBP_DECRYPT` when it is
   * encrypted and cannot be decrypted.
   */
  get(id: string, options?: DeadLetterScope): Promise<DeadLetter | undefined>;
  /**
   * Puts dead letters back among the unfinished deliveries, with all their attempts available again: those of this id,
   * with `all` every one, or with a filter those that match, as far as they were dead letters at the time of the call. The
   * call pauses while the inbox is above `lowWaterMark`, in deliveries or in bytes; with a single id, only above the
   * high-water mark.
   *
   * @returns how many were put back, when all were, or the signal was aborted, or the inbox closes; with `dryRun: true`,
   * which would be put back.
   */
  redrive(
    which: string | DeliveryFilter,
    options: RedriveOptions & { dryRun: true },
  ): Promise<DryRun<ListedDeadLetter>>;
  /** Puts them back, as above. */
  redrive(
    which: string | DeliveryFilter,
    options?: RedriveOptions & { dryRun?: false | undefined },
  ): Promise<number>;
  /**
   * Deletes dead letters, chosen as for `redrive`, and forgets their ids. Resolves to the number of deleted ones; with
   * `dryRun: true`, to what would be deleted.
   */
  purge(
    which: string | DeliveryFilter,
    options: MoveOptions & { dryRun: true },
  ): Promise<DryRun<ListedDeadLetter>>;
  /** Deletes them, as above. */
  purge(
    which: string | DeliveryFilter,
    options?: MoveOptions & { dryRun?: false | undefined },
  ): Promise<number>;
}

export interface DeadLetterParts {
  readonly store: Pick<
    InboxStore,
    'listDeadLetters' | 'scanDeadLetters' | 'getDeadLetter' | 'countDeadLetters' | 'redrive' | 'purge'
  >;
  readonly report: { emit(event: { readonly type: 'purged'; readonly count: number }): void };
  readonly finished: FinishedUsage;
  readonly redriving: Redriving;
  readonly scheduler: Pick<Scheduler, 'hold'>;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly encryption: Pick<Encryption, 'decrypt'>;
}

const PAGE_OPTIONS = ['limit', 'offset', 'after', 'signal'];

export function deadLetters(parts: DeadLetterParts): DeadLetters {
  const { store, report, redriving, wallMs, encryption } = parts;
  const all = deadLetterList(store, (found) => encryption.decrypt(found));
  const list = async (
    options: DeliveryFilter & {
      limit?: number;
      offset?: number;
      after?: number;
      signal?: Signal | undefined;
    } = {},
  ): Promise<readonly ListedDeadLetter[] | Page<ListedDeadLetter>> => {
    const filter = checkedFilter(options, 'options', DEAD_LETTER_FIELDS, PAGE_OPTIONS);
    const { limit = DEFAULT_LIMIT, offset = 0, after, signal } = options;
    checkedInteger('limit', limit, 1);
    checkedInteger('offset', offset, 0);
    checkSignal(signal);
    const isStopped = (): boolean => signal?.aborted === true;
    if (after !== undefined) {
      const page = await search(all, filter, { after: checkedInteger('after', after, 0), limit }, isStopped);
      return { ...page, deliveries: page.deliveries.map(shown) };
    }
    if (!needsScan(filter))
      return (await store.listDeadLetters({ key: filter.key, limit, offset })).map(shown);
    const { deliveries } = await search(all, filter, { after: 0, limit: offset + limit });
    return deliveries.slice(offset).map(shown);
  };
  const redrive = async (
    which: string | DeliveryFilter,
    options: RedriveOptions & { dryRun?: boolean | undefined } = {},
  ): Promise<number | DryRun<ListedDeadLetter>> => {
    const choice = checkedChoice(which, options, DEAD_LETTER_FIELDS);
    const { dryRun, ...moving } = checkedMove(options);
    if (dryRun) return await tried(choice, moving.signal);
    const batches = await batchesOf(all, choice, (id, part) =>
      store.redrive(id, { ...part, nowMs: wallMs() }),
    );
    return await redriving.run(
      batches,
      { kind: all.kind, mark: choice.id === null ? 'low' : 'high' },
      moving,
    );
  };
  const purge = async (
    which: string | DeliveryFilter,
    options: MoveOptions & { dryRun?: boolean | undefined } = {},
  ): Promise<number | DryRun<ListedDeadLetter>> => {
    const choice = checkedChoice(which, options, DEAD_LETTER_FIELDS);
    const { dryRun, ...moving } = checkedMove(options);
    if (dryRun) return await tried(choice, moving.signal);
    const batches = await batchesOf(all, choice, (id, part) => store.purge(id, part));
    const count = await purgeAll(batches, moving, parts);
    if (count > 0) report.emit({ type: 'purged', count });
    return count;
  };
  const tried = async (
    choice: Choice,
    signal: RedriveOptions['signal'],
  ): Promise<DryRun<ListedDeadLetter>> => {
    const { count, first } = await tryOut(all, choice, () => signal?.aborted === true);
    return { count, first: first.map(shown) };
  };
  return {
    list: list as DeadLetters['list'],
    async get(id, options = {}) {
      const found = await store.getDeadLetter(checkedId(id), { key: checkedKey(options) });
      if (found === undefined) return undefined;
      const { attempts, reason, error, deadAtMs } = found;
      const delivery = inboxDelivery(await encryption.decrypt(found));
      return { ...delivery, attempts, reason, error, deadAt: new Date(deadAtMs) };
    },
    redrive: redrive as DeadLetters['redrive'],
    purge: purge as DeadLetters['purge'],
  };
}

function shown(one: ListedDelivery): ListedDeadLetter {
  const { attempts, reason, error, deadAtMs } = one;
  return { ...listed(one), attempts, reason, error, deadAt: new Date(deadAtMs) };
}
