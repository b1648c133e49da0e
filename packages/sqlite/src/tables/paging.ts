import type { Portion, StoredPage } from '@webhook-backpressure/core';

/** A list looks at so many rows in one call, whatever it is narrowed to: a rare key must not keep others waiting. */
export const SCANNED_AT_ONCE = 2000;

/** How many are moved, and up to which place in the order: what comes later was not there when somebody asked. */
export interface PortionUpTo extends Portion {
  readonly upTo?: number | undefined;
}

/** The first of the rows, as many as together have `maxBytes`, and the very first in any case. */
export function within<R>(rows: readonly R[], bytesOf: (row: R) => number, maxBytes: number): readonly R[] {
  let bytes = 0;
  const end = rows.findIndex((row, at) => {
    bytes += bytesOf(row);
    return at > 0 && bytes > maxBytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/**
 * A part of a list, of rows that begin with their place in it.
 *
 * @param rows - one more than `limit`, where there are so many.
 * @param scanned - how many rows were looked at, and the place of the last one.
 */
export function pageOf<R extends readonly [number, ...unknown[]], T>(
  rows: readonly R[],
  limit: number,
  [scanned, last]: readonly [number, number | null],
  show: (row: R) => T,
): StoredPage<T> {
  const some = rows.slice(0, limit);
  const rest = scanned < SCANNED_AT_ONCE ? undefined : (last ?? undefined);
  return { deliveries: some.map(show), next: rows.length > limit ? some.at(-1)?.[0] : rest };
}
