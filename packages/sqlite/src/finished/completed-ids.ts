import type { DeliveryRef } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { idHash } from '../tables/id-hash.ts';
import { encodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';

/** A bucket covers this share of the retention time, or has this share of the remembered ids. */
const SHARE = 1 / 8;

/** A completed id, and the sum of its body. */
export interface CompletedId extends DeliveryRef {
  readonly sum: number | null;
}

type BucketRow = readonly [bucket: number, firstMs: number | null, lastMs: number | null, count: number];

/**
 * Completed ids, which identify duplicates: hashes in about ten buckets, of which the oldest is emptied as a whole. The
 * rows of a bucket are together in the file. Removed one by one in the order of completion, each would be on another page.
 *
 * Ids that an earlier release stored stay in the table `completed` until they are forgotten.
 */
export class CompletedIds {
  readonly #totals: Totals;
  readonly #add: Statement;
  readonly #grow: Statement;
  readonly #find: Statement;
  readonly #remove: Statement;
  readonly #shrink: Statement;
  readonly #oldest: Statement;
  readonly #newest: Statement;
  readonly #open: Statement;
  readonly #close: Statement;
  readonly #empty: Statement;
  readonly #countOld: Statement;
  readonly #forgetOld: Statement;
  readonly #removeOld: Statement;
  readonly #findOld: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#totals = totals;
    this.#add = connection.prepare(
      'INSERT OR IGNORE INTO remembered (bucket, hash, sum) VALUES ((SELECT max(bucket) FROM buckets), ?, ?)',
    );
    this.#grow = connection.prepare(
      `UPDATE buckets SET count = count + ?1, first_ms = coalesce(first_ms, ?2), last_ms = max(coalesce(last_ms, ?2), ?2)
      WHERE bucket = (SELECT max(bucket) FROM buckets)`,
    );
    this.#find = connection.prepare(
      'SELECT r.bucket FROM buckets b CROSS JOIN remembered r ON r.bucket = b.bucket AND r.hash = ?',
    );
    this.#remove = connection.prepare('DELETE FROM remembered WHERE bucket = ? AND hash = ?');
    this.#shrink = connection.prepare('UPDATE buckets SET count = count - ? WHERE bucket = ?');
    const bucket = 'SELECT bucket, first_ms, last_ms, count FROM buckets ORDER BY bucket';
    this.#oldest = connection.prepare(`${bucket} LIMIT 1`);
    this.#newest = connection.prepare(`${bucket} DESC LIMIT 1`);
    this.#open = connection.prepare('INSERT INTO buckets (bucket, count) VALUES (?, 0)');
    this.#close = connection.prepare('DELETE FROM buckets WHERE bucket = ?');
    this.#empty = connection.prepare(
      `DELETE FROM remembered WHERE bucket = ?1 AND hash <= (
        SELECT max(hash) FROM (SELECT hash FROM remembered WHERE bucket = ?1 ORDER BY hash LIMIT ?2)
      )`,
    );
    this.#countOld = connection.prepare(
      'SELECT count(*) FROM (SELECT 1 FROM completed WHERE completed_ms < ? LIMIT ?)',
    );
    this.#forgetOld = connection.prepare(
      `DELETE FROM completed WHERE (key, id) IN (
        SELECT key, id FROM completed ORDER BY completed_ms LIMIT ?
      )`,
    );
    this.#findOld = connection.prepare('SELECT 1 FROM completed WHERE key = ? AND id = ?');
    this.#removeOld = connection.prepare('DELETE FROM completed WHERE key = ? AND id = ?');
  }

  /** Call it within a transaction. */
  add(ids: readonly CompletedId[], nowMs: number, changes: Changes): void {
    let count = 0;
    for (const one of ids) count += this.#add.run([idHash(one), one.sum]);
    if (count > 0) this.#grow.run([count, nowMs]);
    changes.remembered += count;
  }

  has(ref: DeliveryRef): boolean {
    return (
      this.#find.get([idHash(ref)]) !== undefined ||
      this.#findOld.get([encodeText(ref.key), encodeText(ref.id)]) !== undefined
    );
  }

  /** Forgets an id. Call it within a transaction. @returns whether it was remembered. */
  remove(ref: DeliveryRef, changes: Changes): boolean {
    let removed = this.#removeOld.run([encodeText(ref.key), encodeText(ref.id)]);
    const hash = idHash(ref);
    for (const [bucket] of this.#find.all([hash]) as [number][]) {
      removed += this.#remove.run([bucket, hash]);
      this.#shrink.run([1, bucket]);
    }
    changes.remembered -= removed;
    return removed > 0;
  }

  forget(which: { beforeMs: number; keep: number; limit: number; nowMs: number }): number {
    return this.#totals.transaction((changes) => {
      this.#openNext(which);
      let count = this.#forgetEach(which);
      changes.remembered -= count;
      while (count < which.limit) {
        const emptied = this.#emptyOldest({ ...which, limit: which.limit - count }, changes);
        if (emptied === undefined) break;
        changes.remembered -= emptied;
        count += emptied;
      }
      return count;
    });
  }

  /** Opens a new bucket when the newest one has its share. */
  #openNext({ beforeMs, keep, nowMs }: { beforeMs: number; keep: number; nowMs: number }): void {
    const [bucket, firstMs, , count] = this.#newest.get([]) as BucketRow;
    if (firstMs === null || count === 0) return;
    const isOld = nowMs - firstMs >= (nowMs - beforeMs) * SHARE;
    if (isOld || count >= keep * SHARE) this.#open.run([bucket + 1]);
  }

  /** @returns undefined if the oldest bucket is still needed. */
  #emptyOldest(
    { beforeMs, keep, limit }: { beforeMs: number; keep: number; limit: number },
    changes: Changes,
  ): number | undefined {
    const [bucket, , lastMs, count] = this.#oldest.get([]) as BucketRow;
    const [newest] = this.#newest.get([]) as BucketRow;
    if (bucket === newest) return undefined;
    const left = this.#totals.read().remembered + changes.remembered - count;
    if ((lastMs ?? -Infinity) >= beforeMs && left < keep) return undefined;
    const emptied = this.#empty.run([bucket, limit]);
    if (emptied < limit) this.#close.run([bucket]);
    else this.#shrink.run([emptied, bucket]);
    return emptied;
  }

  /** Forgets ids of an earlier release, which are the oldest. */
  #forgetEach({ beforeMs, keep, limit }: { beforeMs: number; keep: number; limit: number }): number {
    const [old] = this.#countOld.get([beforeMs, limit]) as [number];
    const count = Math.min(limit, Math.max(old, this.#totals.read().remembered - keep));
    return count <= 0 ? 0 : this.#forgetOld.run([count]);
  }
}
