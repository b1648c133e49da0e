import type { InboxSettings } from '../options/inbox-settings.ts';
import type { InboxStore, StoreStats } from '../store/inbox-store.ts';
import { PART_BYTES, PartSize } from '../store-calls/part-size.ts';
import type { MovedDelivery } from '../store/store-admin.ts';
import type { FinishedUsage } from '../capacity/finished-usage.ts';

/** Kept deliveries are reduced to this share of their limit, so that the next completed ones have room. */
const KEPT_SHARE = 7 / 8;

type RetentionSettings = Pick<
  InboxSettings,
  'retentionMs' | 'maxRemembered' | 'keepCompletedMs' | 'maxKeptBytes' | 'maxDeadLetterAgeMs'
>;

/** The counts and reports of {@link Retention}. */
interface RetentionReport {
  readonly totals: { discarded: number };
  emit(event: { readonly type: 'discarded'; readonly key: string; readonly id: string }): void;
}

export interface RetentionParts {
  readonly store: Pick<InboxStore, 'forget' | 'dropCompleted' | 'purge'>;
  readonly report: RetentionReport;
  readonly finished: FinishedUsage;
  readonly settings: () => RetentionSettings;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** The time against which ages are measured; 0, so that nothing is old, while the clock is in doubt. */
  readonly agedMs: () => number;
}

/**
 * Deletes what is too old or too much: remembered ids, kept deliveries and, with `maxDeadLetterAgeMs`, dead letters.
 */
export class Retention {
  readonly #parts: RetentionParts;
  readonly #idSize = new PartSize();
  readonly #keptSize = new PartSize();
  readonly #deadLetterSize = new PartSize();

  constructor(parts: RetentionParts) {
    this.#parts = parts;
  }

  /** Deletes one batch of each kind. Returns whether there is more to delete. */
  async run(stats: StoreStats): Promise<boolean> {
    const { settings, wallMs, agedMs } = this.#parts;
    const [nowMs, oldMs] = [wallMs(), agedMs()];
    const more = [await this.#forget(nowMs, oldMs)];
    // By the trusted time: deleting a completed delivery too early loses none, and too late may break a law.
    if (stats.retained > 0) more.push(await this.#drop(nowMs));
    const { maxDeadLetterAgeMs } = settings();
    if (stats.deadLetters > 0 && maxDeadLetterAgeMs !== undefined)
      more.push(await this.#discard(oldMs - maxDeadLetterAgeMs));
    return more.includes(true);
  }

  async #forget(nowMs: number, oldMs: number): Promise<boolean> {
    const { store, settings } = this.#parts;
    const { retentionMs, maxRemembered } = settings();
    const limit = this.#idSize.count;
    const which = { beforeMs: oldMs - retentionMs, keep: maxRemembered, limit, nowMs };
    return (await this.#timed(this.#idSize, () => store.forget(which))) >= limit;
  }

  async #drop(nowMs: number): Promise<boolean> {
    const { store, settings, finished } = this.#parts;
    const { keepCompletedMs, maxKeptBytes } = settings();
    const portion = { limit: this.#keptSize.count, maxBytes: PART_BYTES };
    const [beforeMs, keepBytes] = [nowMs - keepCompletedMs, Math.floor(maxKeptBytes * KEPT_SHARE)];
    const dropped = await this.#timed(this.#keptSize, () =>
      store.dropCompleted({ beforeMs, keepBytes, ...portion }),
    );
    finished.remove('kept', dropped);
    return isFull(dropped, portion.limit);
  }

  async #discard(beforeMs: number): Promise<boolean> {
    const { store, finished, report } = this.#parts;
    const portion = { limit: this.#deadLetterSize.count, maxBytes: PART_BYTES };
    const discarded = await this.#timed(this.#deadLetterSize, () =>
      store.purge(null, { ...portion, beforeMs }),
    );
    finished.remove('deadLetters', discarded);
    for (const { key, id } of discarded) {
      report.totals.discarded += 1;
      report.emit({ type: 'discarded', key, id });
    }
    return isFull(discarded, portion.limit);
  }

  async #timed<T>(size: PartSize, work: () => T | Promise<T>): Promise<T> {
    const { now } = this.#parts;
    const startedMs = now();
    const result = await work();
    size.note(now() - startedMs);
    return result;
  }
}

/** Whether a batch was ended by its bounds. */
function isFull(moved: readonly MovedDelivery[], limit: number): boolean {
  const bytes = moved.reduce((sum, one) => sum + one.bytes, 0);
  return moved.length >= limit || bytes >= PART_BYTES / 2;
}
