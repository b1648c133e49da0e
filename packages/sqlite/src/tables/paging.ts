import type { Portion, StoredPage } from '@webhook-backpressure/inbox';

/** A list call scans at most so many rows, so that listing a rare key does not delay other calls. */
export const MAX_SCANNED = 2000;

/** How many rows are moved, and up to which position: later rows were added after the command. */
export interface PortionUpTo extends Portion {
  readonly upTo?: number | undefined;
}

/** The first rows that have at most `maxBytes` together, and at least one. */
export function firstWithin<R>(
  rows: readonly R[],
  bytesOf: (row: R) => number,
  maxBytes: number,
): readonly R[] {
  let bytes = 0;
  const end = rows.findIndex((row, at) => {
    bytes += bytesOf(row);
    return at > 0 && bytes > maxBytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/**
 * A page of a list of rows, each of which begins with its position.
 *
 * @param rows - up to one more than `limit`.
 * @param scanned - how many rows were scanned, and the position of the last one.
 */
export function pageOf<R extends readonly [number, ...unknown[]], T>(
  rows: readonly R[],
  limit: number,
  [scanned, last]: readonly [number, number | null],
  show: (row: R) => T,
): StoredPage<T> {
  const some = rows.slice(0, limit);
  const rest = scanned < MAX_SCANNED ? undefined : (last ?? undefined);
  return { deliveries: some.map(show), next: rows.length > limit ? some.at(-1)?.[0] : rest };
}
