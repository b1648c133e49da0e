import { encodeText } from '@webhook-backpressure/inbox/store';
import type {
  DeliveryRef,
  ListedCompleted,
  MovedDelivery,
  PageQuery,
  Portion,
  DeadLetterFilter,
  StoredCompleted,
  StoredPage,
} from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import {
  CONTENTS,
  deliveryOf,
  FACTS,
  factsOf,
  pageOf,
  PART_ROWS,
  type ContentsRow,
  type FactsRow,
} from '../tables/contents.ts';
import { counted, readTotals } from '../tables/totals.ts';
import { forgetCompletedId } from './completed-ids.ts';
import {
  chosen,
  firstWithin,
  KEPT,
  oldest,
  putBack,
  remove,
  type FinishedRow,
  type Which,
} from './finished.ts';

// Completed deliveries that are kept to be listed and replayed.

const PART = `SELECT at FROM kept WHERE at > ?1 ORDER BY at LIMIT ${String(PART_ROWS)}`;

export function listCompleted(
  connection: Connection,
  { key, after, limit }: PageQuery,
): StoredPage<ListedCompleted> {
  const rows = connection.all(
    `SELECT k.at, k.attempts, k.completed_ms, length(c.body), ${FACTS}
    FROM kept k CROSS JOIN contents c ON c.seq = k.seq
    WHERE k.at > ?1 AND k.at <= (SELECT max(at) FROM (${PART})) AND (?2 IS NULL OR k.key = ?2)
    ORDER BY k.at LIMIT ?3`,
    [after, key === undefined ? null : encodeText(key), limit + 1],
  ) as [number, number, number, number, ...FactsRow][];
  const scanned = connection.get(`SELECT count(*), max(at) FROM (${PART})`, [after]);
  return pageOf(
    rows,
    limit,
    scanned as [number, number | null],
    ([, attempts, completedAtMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      attempts,
      completedAtMs,
      bodyBytes,
    }),
  );
}

export function getCompleted(
  connection: Connection,
  id: string,
  scope: DeadLetterFilter,
): StoredCompleted | undefined {
  const columns = `t.attempts, t.completed_ms, ${CONTENTS}`;
  const rows = oldest(connection, KEPT, columns, id, scope, ['DESC LIMIT 1', []]);
  const [row] = rows as [number, number, ...ContentsRow][];
  if (row === undefined) return undefined;
  const [attempts, completedAtMs, ...contents] = row;
  return { ...deliveryOf(contents), attempts, completedAtMs };
}

export function replay(
  connection: Connection,
  id: string | null,
  which: Which & { readonly nowMs: number },
): readonly MovedDelivery[] {
  return putBack(connection, KEPT, id, which, (moved, changes) => {
    forgetCompletedId(connection, moved, changes);
  });
}

export function dropCompleted(
  connection: Connection,
  {
    beforeMs,
    keepBytes,
    limit,
    maxBytes,
  }: Portion & { readonly beforeMs: number; readonly keepBytes: number },
): readonly MovedDelivery[] {
  return counted(connection, (changes) => {
    let left = readTotals(connection).retainedBytes;
    const columns = 'c.seq, c.key, c.id, c.bytes, t.at, t.completed_ms';
    const rows = oldest(connection, KEPT, columns, null, {}, ['LIMIT ?', [limit]]) as FinishedRow[];
    const spare = rows.findIndex(([, , , bytes, , completedAtMs = 0]) => {
      const isSpare = completedAtMs < beforeMs || left > keepBytes;
      left -= bytes;
      return !isSpare;
    });
    const gone = firstWithin(spare < 0 ? rows : rows.slice(0, spare), maxBytes);
    return gone.map((row) => remove(connection, KEPT, row, changes));
  });
}

/** Forgets a completed id, and deletes the delivery if it is kept. */
export function forgetId(connection: Connection, ref: DeliveryRef): boolean {
  return counted(connection, (changes) => {
    const one = { key: ref.key, limit: 1, maxBytes: Infinity };
    const rows = chosen(connection, KEPT, ref.id, one);
    for (const row of rows) remove(connection, KEPT, row, changes);
    return forgetCompletedId(connection, ref, changes) || rows.length > 0;
  });
}
