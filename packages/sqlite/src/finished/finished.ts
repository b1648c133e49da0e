import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type { Counted, MovedDelivery, Portion, DeadLetterFilter } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import type { Value } from '../connection/drivers.ts';
import { enterOrder, isOrdered } from '../tables/order.ts';
import { counted, type Totals } from '../tables/totals.ts';

/** A table of deliveries that have left the queue. The bodies stay in `contents`. */
export interface FinishedTable {
  readonly name: 'shelf' | 'kept';
  /** The position of a row in the order of the list. */
  readonly position: string;
  readonly order: string;
  /** The column of the totals that has the number of rows. */
  readonly column: 'shelved' | 'kept';
  /** The same in the statistics. */
  readonly total: 'deadLetters' | 'retained';
  readonly totalBytes: 'deadLetterBytes' | 'retainedBytes';
}

export const DEAD_LETTERS: FinishedTable = {
  name: 'shelf',
  position: 'shelved_ms',
  order: 't.shelved_ms, t.seq',
  column: 'shelved',
  total: 'deadLetters',
  totalBytes: 'deadLetterBytes',
};
export const KEPT: FinishedTable = {
  name: 'kept',
  position: 'at',
  order: 't.at',
  column: 'kept',
  total: 'retained',
  totalBytes: 'retainedBytes',
};

/** Which deliveries one call moves or removes. */
export interface Which extends DeadLetterFilter, Portion {
  /** The position of the last one: later rows were added after the command. */
  readonly upTo?: number | undefined;
}

/** A row that is moved or removed. */
export type FinishedRow = readonly [
  seq: number,
  key: string,
  id: string,
  bytes: number,
  position: number,
  completedAtMs?: number,
];

/** The oldest rows, joined with `contents` as `c`. @param end - the end of the query, with the values for it. */
export function oldest(
  connection: Connection,
  { name, order }: FinishedTable,
  columns: string,
  id: string | null,
  scope: DeadLetterFilter,
  [end, values]: readonly [end: string, values: readonly Value[]],
): readonly unknown[] {
  const [where, scopeValues] = scopeOf(id, scope);
  return connection.all(
    `SELECT ${columns} FROM ${name} t JOIN contents c ON c.seq = t.seq ${where} ORDER BY ${order} ${end}`,
    [...scopeValues, ...values],
  );
}

/** Counts rows, and finds the position of the last one. The rows of a key are counted in its index alone. */
export function countFinished(
  connection: Connection,
  { name, column, position }: FinishedTable,
  id: string | null,
  scope: DeadLetterFilter,
): Counted {
  const [where, values] = scopeOf(id, scope);
  const join = values.length === 2 ? 'JOIN contents c ON c.seq = t.seq' : '';
  const sql =
    where === ''
      ? `SELECT ${column}, (SELECT max(${position}) FROM ${name}) FROM totals`
      : `SELECT count(*), max(t.${position}) FROM ${name} t ${join} ${where}`;
  const [count, upTo] = connection.get(sql, values) as [number, number | null];
  return { count, upTo: upTo ?? 0 };
}

/** The first of the rows that a call moves or removes. */
export function chosen(
  connection: Connection,
  table: FinishedTable,
  id: string | null,
  which: Which,
): readonly FinishedRow[] {
  const columns = `c.seq, c.key, c.id, c.bytes, t.${table.position}`;
  const rows = oldest(connection, table, columns, id, which, ['LIMIT ?', [which.limit]]) as FinishedRow[];
  const { upTo = Infinity } = which;
  return firstWithin(
    rows.filter(([, , , , position]) => position <= upTo),
    which.maxBytes,
  );
}

/** The first rows that have at most `maxBytes` together, and at least one. */
export function firstWithin(rows: readonly FinishedRow[], maxBytes: number): readonly FinishedRow[] {
  let sum = 0;
  const end = rows.findIndex(([, , , bytes], at) => {
    sum += bytes;
    return at > 0 && sum > maxBytes;
  });
  return end < 0 ? rows : rows.slice(0, end);
}

/** Puts deliveries back into the queue. @param onMoved - called for each, within the transaction. */
export function putBack(
  connection: Connection,
  table: FinishedTable,
  id: string | null,
  which: Which & { readonly nowMs: number },
  onMoved?: (moved: MovedDelivery, changes: Totals) => void,
): readonly MovedDelivery[] {
  return counted(connection, (changes) => {
    const ordered = isOrdered(connection);
    return chosen(connection, table, id, which).map((row) => {
      const [seq, key, , bytes] = row;
      // The row of the body stays: rewriting it for another position would take as long as storing it.
      connection.run(
        `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms, sum)
        SELECT c.seq, c.key, ?, ?, 0, 0, c.received_ms, t.sum
        FROM ${table.name} t JOIN contents c ON c.seq = t.seq WHERE t.seq = ?`,
        [ordered ? enterOrder(connection, seq, key) : 0, which.nowMs, seq],
      );
      changes.depth += 1;
      changes.bytes += bytes;
      const moved = takeOut(connection, table, row, changes);
      onMoved?.(moved, changes);
      return moved;
    });
  });
}

/** Deletes a delivery with its body. Call it within a transaction. */
export function remove(
  connection: Connection,
  table: FinishedTable,
  row: FinishedRow,
  changes: Totals,
): MovedDelivery {
  connection.run('DELETE FROM contents WHERE seq = ?', [row[0]]);
  return takeOut(connection, table, row, changes);
}

function takeOut(
  connection: Connection,
  { name, total, totalBytes }: FinishedTable,
  [seq, key, id, bytes]: FinishedRow,
  changes: Totals,
): MovedDelivery {
  connection.run(`DELETE FROM ${name} WHERE seq = ?`, [seq]);
  changes[total] -= 1;
  changes[totalBytes] -= bytes;
  return { key: decodeText(key), id: decodeText(id), bytes };
}

/** The condition for all rows, those of a key, of an id, or of both. Each has an index. */
function scopeOf(
  id: string | null,
  { key }: DeadLetterFilter,
): readonly [where: string, values: readonly string[]] {
  if (key === undefined) return id === null ? ['', []] : ['WHERE t.id = ?', [encodeText(id)]];
  if (id === null) return ['WHERE t.key = ?', [encodeText(key)]];
  return ['WHERE c.key = ? AND c.id = ?', [encodeText(key), encodeText(id)]];
}
