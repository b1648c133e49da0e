import type { Counted, ShelfScope } from '@webhook-backpressure/core';
import type { Connection, Statement, Value } from '../file/connection.ts';
import { encodeText } from './text.ts';

/** The same question of all, of a key, of an id, and of both: each has an index. */
export interface Questions {
  readonly ofAll: Statement;
  readonly ofKey: Statement;
  readonly ofId: Statement;
  readonly ofBoth: Statement;
}

/** @param sql - the statement, of the shelf or of what is kept as `table`, joined with the contents as `c`. */
export function questionsOf(
  connection: Connection,
  sql: (condition: string) => string,
  table: string,
): Questions {
  const question = (condition: string): Statement => connection.prepare(sql(condition));
  return {
    ofAll: question(''),
    ofKey: question(`WHERE ${table}.key = ?`),
    ofId: question(`WHERE ${table}.id = ?`),
    ofBoth: question('WHERE c.key = ? AND c.id = ?'),
  };
}

/** How many there are, and the place of the last one. Those of a key are counted in its index alone. */
export function countsOf(connection: Connection, table: 'shelf' | 'kept'): Questions {
  const [total, place] = table === 'shelf' ? ['shelved', 'shelved_ms'] : ['kept', 'at'];
  const count = (rest: string): Statement =>
    connection.prepare(`SELECT count(*), max(t.${place}) FROM ${table} t ${rest}`);
  return {
    ofAll: connection.prepare(`SELECT ${total}, (SELECT max(${place}) FROM ${table}) FROM totals`),
    ofKey: count('WHERE t.key = ?'),
    ofId: count('WHERE t.id = ?'),
    ofBoth: count('JOIN contents c ON c.seq = t.seq WHERE c.key = ? AND c.id = ?'),
  };
}

/** What {@link countsOf} answers. */
export function countedBy(counts: Questions, id: string | null, scope: ShelfScope): Counted {
  const [[count, upTo]] = ask(counts, id, scope, []) as [[number, number | null]];
  return { count, upTo: upTo ?? 0 };
}

/** @param rest - what stands behind key and id. */
export function ask(
  { ofAll, ofKey, ofId, ofBoth }: Questions,
  id: string | null,
  { key }: ShelfScope,
  rest: readonly Value[],
): readonly unknown[] {
  if (key === undefined) return id === null ? ofAll.all(rest) : ofId.all([encodeText(id), ...rest]);
  const name = encodeText(key);
  return id === null ? ofKey.all([name, ...rest]) : ofBoth.all([name, encodeText(id), ...rest]);
}
