import type { InboxReport } from '../report/inbox-report.ts';
import type { InboxSettings } from '../settings/inbox-settings.ts';
import type { InboxStore, StoreStats } from '../store/inbox-store.ts';
import { PART_BYTES, PartSize } from '../store/part-size.ts';
import type { MovedDelivery } from '../store/store-admin.ts';
import type { Storeroom } from '../keeping/storeroom.ts';

/** What is kept is cut back to this share of its limit, so that what is completed next has room immediately. */
const KEPT_SHARE = 7 / 8;

/** What the clearing works with. */
export interface ClearingParts {
  readonly store: InboxStore;
  readonly report: InboxReport;
  readonly room: Storeroom;
  readonly settings: () => InboxSettings;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** Until when something is old by its age; 0, so that nothing is, while the clock is in doubt. */
  readonly agedMs: () => number;
}

/** Lets go of what has been there for long enough, or is too much: ids, kept deliveries and, where that is asked for, the shelf. */
export class Clearing {
  readonly #parts: ClearingParts;
  readonly #ids = new PartSize();
  readonly #kept = new PartSize();
  readonly #shelved = new PartSize();

  constructor(parts: ClearingParts) {
    this.#parts = parts;
  }

  /** One part of each. Whether there is more to do. */
  async run(stats: StoreStats): Promise<boolean> {
    const { settings, wallMs, agedMs } = this.#parts;
    const [nowMs, oldMs] = [wallMs(), agedMs()];
    const more = [await this.#forget(nowMs, oldMs)];
    // What is kept was completed: to let go of it too early loses no delivery, and too late may be against a law.
    if (stats.kept > 0) more.push(await this.#drop(nowMs));
    const { maxShelvedAgeMs } = settings();
    if (stats.shelved > 0 && maxShelvedAgeMs !== undefined)
      more.push(await this.#discard(oldMs - maxShelvedAgeMs));
    return more.includes(true);
  }

  async #forget(nowMs: number, oldMs: number): Promise<boolean> {
    const { store, settings } = this.#parts;
    const { retentionMs, maxRemembered } = settings();
    const limit = this.#ids.count;
    const which = { beforeMs: oldMs - retentionMs, keep: maxRemembered, limit, nowMs };
    return (await this.#timed(this.#ids, () => store.forget(which))) >= limit;
  }

  async #drop(nowMs: number): Promise<boolean> {
    const { store, settings, room } = this.#parts;
    const { keepCompletedMs, maxKeptBytes } = settings();
    const portion = { limit: this.#kept.count, maxBytes: PART_BYTES };
    const [beforeMs, keepBytes] = [nowMs - keepCompletedMs, Math.floor(maxKeptBytes * KEPT_SHARE)];
    const dropped = await this.#timed(this.#kept, () =>
      store.dropCompleted({ beforeMs, keepBytes, ...portion }),
    );
    room.leave('kept', dropped);
    return isWhole(dropped, portion.limit);
  }

  async #discard(beforeMs: number): Promise<boolean> {
    const { store, room, report } = this.#parts;
    const portion = { limit: this.#shelved.count, maxBytes: PART_BYTES };
    const discarded = await this.#timed(this.#shelved, () => store.purge(null, { ...portion, beforeMs }));
    room.leave('shelved', discarded);
    for (const { key, id } of discarded) {
      report.totals.discarded += 1;
      report.emit({ type: 'discarded', key, id });
    }
    return isWhole(discarded, portion.limit);
  }

  async #timed<T>(size: PartSize, work: () => T | Promise<T>): Promise<T> {
    const { now } = this.#parts;
    const startedMs = now();
    const result = await work();
    size.note(now() - startedMs);
    return result;
  }
}

/** Whether a part was ended by its bounds. */
function isWhole(moved: readonly MovedDelivery[], limit: number): boolean {
  const bytes = moved.reduce((sum, one) => sum + one.bytes, 0);
  return moved.length >= limit || bytes >= PART_BYTES / 2;
}
