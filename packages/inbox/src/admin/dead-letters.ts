import type { FinishedUsage } from '../capacity/finished-usage.ts';
import { inboxDelivery, type InboxDelivery } from '../delivery/inbox-delivery.ts';
import type { Encryption } from '../encryption/encryption.ts';
import { nextTurn } from '../store-calls/next-turn.ts';
import { PART_BYTES, PartSize } from '../store-calls/part-size.ts';
import type { InboxStore } from '../store/inbox-store.ts';
import {
  checkedId,
  checkedInteger,
  checkedKey,
  DEFAULT_LIMIT,
  idOrAll,
  type DeadLetterScope,
  type RedriveOptions,
} from './call-options.ts';
import { listed, type Listed } from './lists.ts';
import type { Redriving } from './redriving.ts';

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
   * Lists dead letters, the oldest first, without their bodies. `limit`: integer ≥ 1, default 100. `offset`: integer ≥ 0,
   * default 0.
   */
  list(
    options?: DeadLetterScope & { limit?: number | undefined; offset?: number | undefined },
  ): Promise<readonly ListedDeadLetter[]>;
  /**
   * The dead letter of this id with its body; of several keys, the oldest. Rejects with `ERR_WBP_DECRYPT` when it is
   * encrypted and cannot be decrypted.
   */
  get(id: string, options?: DeadLetterScope): Promise<DeadLetter | undefined>;
  /**
   * Puts the dead letters of this id, or with `all` every one at the time of the call, back among the unfinished
   * deliveries, with all their attempts available again. With `all` the call pauses while the inbox is above `lowWaterMark`,
   * in deliveries or in bytes; with a single id, only above the high-water mark.
   *
   * @returns how many were put back, when all were, or the signal was aborted, or the inbox closes.
   */
  redrive(id: string, options?: RedriveOptions): Promise<number>;
  /**
   * Deletes the dead letters of this id, or with `all` every one at the time of the call, and forgets their ids. Resolves
   * to the number of deleted ones.
   */
  purge(id: string, options?: DeadLetterScope): Promise<number>;
}

export interface DeadLetterParts {
  readonly store: Pick<
    InboxStore,
    'listDeadLetters' | 'getDeadLetter' | 'countDeadLetters' | 'redrive' | 'purge'
  >;
  readonly report: { emit(event: { readonly type: 'purged'; readonly count: number }): void };
  readonly finished: FinishedUsage;
  readonly redriving: Redriving;
  readonly now: () => number;
  readonly encryption: Pick<Encryption, 'decrypt'>;
}

export function deadLetters(parts: DeadLetterParts): DeadLetters {
  const { store, report, finished, redriving, now, encryption } = parts;
  return {
    async list(options = {}) {
      const key = checkedKey(options);
      const { limit = DEFAULT_LIMIT, offset = 0 } = options;
      checkedInteger('limit', limit, 1);
      checkedInteger('offset', offset, 0);
      const found = await store.listDeadLetters({ key, limit, offset });
      return found.map((one) => {
        const { attempts, reason, error, deadAtMs } = one;
        return { ...listed(one), attempts, reason, error, deadAt: new Date(deadAtMs) };
      });
    },
    async get(id, options = {}) {
      const found = await store.getDeadLetter(checkedId(id), { key: checkedKey(options) });
      if (found === undefined) return undefined;
      const { attempts, reason, error, deadAtMs } = found;
      const delivery = inboxDelivery(await encryption.decrypt(found));
      return { ...delivery, attempts, reason, error, deadAt: new Date(deadAtMs) };
    },
    redrive: (id, options = {}) =>
      redriving.run(id, options, {
        kind: 'deadLetters',
        count: (which, scope) => store.countDeadLetters(which, scope),
        move: (which, part) => store.redrive(which, part),
      }),
    async purge(id, options = {}) {
      const which = idOrAll(id);
      const key = checkedKey(options);
      const { count: total, upTo } = await store.countDeadLetters(which, { key });
      const size = new PartSize();
      let count = 0;
      // Dead letters that are added meanwhile are not purged.
      while (count < total) {
        const startedMs = now();
        const limit = Math.min(size.count, total - count);
        const purged = await store.purge(which, { key, limit, maxBytes: PART_BYTES, upTo });
        size.note(now() - startedMs);
        finished.remove('deadLetters', purged);
        count += purged.length;
        if (purged.length === 0) break;
        await nextTurn();
      }
      if (count > 0) report.emit({ type: 'purged', count });
      return count;
    },
  };
}
