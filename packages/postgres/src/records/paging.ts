import type { StoredPage } from '@webhook-backpressure/inbox';

/** A list call scans at most so many rows, so that listing a rare key does not delay other calls. */
export const MAX_SCANNED = 2000;

/** The position of a row in a list, and what was scanned for it. */
export interface PageRow {
  readonly position: number;
}

/** How many rows a list call has scanned, and the position of the last one. */
export interface Scanned {
  readonly count: number;
  readonly last: number | null;
}

/** @param rows - up to one more than `limit`. */
export function pageOf<R extends PageRow, T>(
  rows: readonly R[],
  limit: number,
  { count, last }: Scanned,
  show: (row: R) => T,
): StoredPage<T> {
  const some = rows.slice(0, limit);
  const rest = count < MAX_SCANNED ? undefined : (last ?? undefined);
  return { deliveries: some.map(show), next: rows.length > limit ? some.at(-1)?.position : rest };
}
