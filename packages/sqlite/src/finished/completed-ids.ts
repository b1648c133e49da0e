import type { DeliveryRef } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import { idHash } from '../tables/contents.ts';
import { counted, readTotals, type Totals } from '../tables/totals.ts';

/** A bucket covers this share of the retention time, or has this share of the remembered ids. */
const SHARE = 1 / 8;

/** A completed id, and the sum of its body. */
export interface CompletedId extends DeliveryRef {
  readonly sum: number | null;
}

/** Which ids are forgotten. */
interface Forgotten {
  readonly beforeMs: number;
  readonly keep: number;
  readonly limit: number;
  readonly nowMs: number;
}

type BucketRow = readonly [bucket: number, firstMs: number | null, lastMs: number | null, count: number];

const FIND = 'SELECT r.bucket FROM buckets b CROSS JOIN remembered r ON r.bucket = b.bucket AND r.hash = ?';
const BUCKET = 'SELECT bucket, first_ms, last_ms, count FROM buckets ORDER BY bucket';
const SHRINK = 'UPDATE buckets SET count = count - ? WHERE bucket = ?';

// Completed ids, which identify duplicates: hashes in about ten buckets, of which the oldest is emptied as a whole. The
// rows of a bucket are together in the file. Removed one by one in the order of completion, each would be on another page.

/** Call it within a transaction. */
export function rememberIds(
  connection: Connection,
  ids: readonly CompletedId[],
  nowMs: number,
  changes: Totals,
): void {
  let count = 0;
  for (const one of ids) {
    count += connection.run(
      'INSERT OR IGNORE INTO remembered (bucket, hash, sum) VALUES ((SELECT max(bucket) FROM buckets), ?, ?)',
      [idHash(one), one.sum],
    );
  }
  if (count === 0) return;
  connection.run(
    `UPDATE buckets SET count = count + ?1, first_ms = coalesce(first_ms, ?2),
      last_ms = max(coalesce(last_ms, ?2), ?2)
    WHERE bucket = (SELECT max(bucket) FROM buckets)`,
    [count, nowMs],
  );
  changes.remembered += count;
}

export function isRemembered(connection: Connection, ref: DeliveryRef): boolean {
  return connection.get(FIND, [idHash(ref)]) !== undefined;
}

/** Forgets an id. Call it within a transaction. @returns whether it was remembered. */
export function forgetCompletedId(connection: Connection, ref: DeliveryRef, changes: Totals): boolean {
  const hash = idHash(ref);
  let removed = 0;
  for (const [bucket] of connection.all(FIND, [hash]) as [number][]) {
    removed += connection.run('DELETE FROM remembered WHERE bucket = ? AND hash = ?', [bucket, hash]);
    connection.run(SHRINK, [1, bucket]);
  }
  changes.remembered -= removed;
  return removed > 0;
}

export function forget(connection: Connection, which: Forgotten): number {
  return counted(connection, (changes) => {
    openNext(connection, which);
    let count = 0;
    while (count < which.limit) {
      const emptied = emptyOldest(connection, { ...which, limit: which.limit - count }, changes);
      if (emptied === undefined) break;
      changes.remembered -= emptied;
      count += emptied;
    }
    return count;
  });
}

/** Opens a new bucket when the newest one has its share. */
function openNext(connection: Connection, { beforeMs, keep, nowMs }: Forgotten): void {
  const [bucket, firstMs, , count] = newest(connection);
  if (firstMs === null || count === 0) return;
  const isOld = nowMs - firstMs >= (nowMs - beforeMs) * SHARE;
  if (isOld || count >= keep * SHARE)
    connection.run('INSERT INTO buckets (bucket, count) VALUES (?, 0)', [bucket + 1]);
}

/** @returns undefined if the oldest bucket is still needed. */
function emptyOldest(
  connection: Connection,
  { beforeMs, keep, limit }: Forgotten,
  changes: Totals,
): number | undefined {
  const [bucket, , lastMs, count] = connection.get(`${BUCKET} LIMIT 1`) as BucketRow;
  if (bucket === newest(connection)[0]) return undefined;
  const left = readTotals(connection).remembered + changes.remembered - count;
  if ((lastMs ?? -Infinity) >= beforeMs && left < keep) return undefined;
  const emptied = connection.run(
    `DELETE FROM remembered WHERE bucket = ?1 AND hash <= (
      SELECT max(hash) FROM (SELECT hash FROM remembered WHERE bucket = ?1 ORDER BY hash LIMIT ?2)
    )`,
    [bucket, limit],
  );
  if (emptied < limit) connection.run('DELETE FROM buckets WHERE bucket = ?', [bucket]);
  else connection.run(SHRINK, [emptied, bucket]);
  return emptied;
}

function newest(connection: Connection): BucketRow {
  return connection.get(`${BUCKET} DESC LIMIT 1`) as BucketRow;
}
