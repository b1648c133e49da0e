import type { Counted, ShelfScope } from '@webhook-backpressure/inbox';
import type { Connection, Statement, Value } from '../connection/connection.ts';
import { encodeText } from './text.ts';

/** A query of all rows, of a key, of an id, and of both. Each has an index. */
export interface ScopedQueries {
  readonly ofAll: Statement;
  readonly ofKey: Statement;
  readonly ofId: Statement;
  readonly ofBoth: Statement;
}

/**
 * @param sql - a query of `table`, joined with `contents` as `c`, for a given condition.
 * @param table - the alias of `shelf` or `kept`.
 */
export function scopedQueries(
  connection: Connection,
  sql: (condition: string) => string,
  table: string,
): ScopedQueries {
  const query = (condition: string): Statement => connection.prepare(sql(condition));
  return {
    ofAll: query(''),
    ofKey: query(`WHERE ${table}.key = ?`),
    ofId: query(`WHERE ${table}.id = ?`),
    ofBoth: query('WHERE c.key = ? AND c.id = ?'),
  };
}

/** Counts rows, and finds the position of the last one. The rows of a key are counted in its index alone. */
export function countQueries(connection: Connection, table: 'shelf' | 'kept'): ScopedQueries {
  const [total, position] = table === 'shelf' ? ['shelved', 'shelved_ms'] : ['kept', 'at'];
  const count = (rest: string): Statement =>
    connection.prepare(`SELECT count(*), max(t.${position}) FROM ${table} t ${rest}`);
  return {
    ofAll: connection.prepare(`SELECT ${total}, (SELECT max(${position}) FROM ${table}) FROM totals`),
    ofKey: count('WHERE t.key = ?'),
    ofId: count('WHERE t.id = ?'),
    ofBoth: count('JOIN contents c ON c.seq = t.seq WHERE c.key = ? AND c.id = ?'),
  };
}

/** The result of {@link countQueries}. */
export function countOf(counts: ScopedQueries, id: string | null, scope: ShelfScope): Counted {
  const [[count, upTo]] = runScoped(counts, id, scope, []) as [[number, number | null]];
  return { count, upTo: upTo ?? 0 };
}

/** @param rest - the values after key and id. */
export function runScoped(
  { ofAll, ofKey, ofId, ofBoth }: ScopedQueries,
  id: string | null,
  { key }: ShelfScope,
  rest: readonly Value[],
): readonly unknown[] {
  if (key === undefined) return id === null ? ofAll.all(rest) : ofId.all([encodeText(id), ...rest]);
  const name = encodeText(key);
  return id === null ? ofKey.all([name, ...rest]) : ofBoth.all([name, encodeText(id), ...rest]);
}
