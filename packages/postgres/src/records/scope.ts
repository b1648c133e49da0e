import type { Counted, MovedDelivery, Portion, ShelfScope } from '@webhook-backpressure/inbox';
import type { Server } from '../server/server.ts';
import { decodeText, encodeText } from './text.ts';

/** A condition for rows of an alias with a key and an id, whose values are `$1` and `$2`. */
export function scopeOf(alias: string, id: string | null, { key }: ShelfScope): string {
  // The values are always used, since PostgreSQL needs their types.
  const ofKey = key === undefined ? '$1::text IS NULL' : `${alias}.key = $1`;
  const ofId = id === null ? '$2::text IS NULL' : `${alias}.id = $2`;
  return `${ofKey} AND ${ofId}`;
}

/** The values of a key and an id. */
export function scopeValues(
  id: string | null,
  { key }: ShelfScope,
): readonly [key: string | null, id: string | null] {
  return [key === undefined ? null : encodeText(key), id === null ? null : encodeText(id)];
}

/** Counts rows, and finds the last position. */
export async function countRows(
  server: Server,
  table: 'dead_letters' | 'kept',
  id: string | null,
  scope: ShelfScope,
): Promise<Counted> {
  const position = table === 'kept' ? 'at' : 'shelved_ms';
  const [row] = await server.query<{ count: number; last: number | null }>(
    `SELECT count(*)::double precision AS count, max(t.${position})::double precision AS last
    FROM ${server.schema}.${table} t WHERE ${scopeOf('t', id, scope)}`,
    scopeValues(id, scope),
  );
  return { count: row?.count ?? 0, upTo: row?.last ?? 0 };
}

/** How many rows are moved, and up to which position: later rows were added after the command. */
export interface PortionUpTo extends Portion {
  readonly upTo?: number | undefined;
}

/** Moves or deletes the rows of a portion, by a function of the schema. `ms` is its time, by the clock of this machine. */
export async function moveRows(
  server: Server,
  name: 'redrive_v1' | 'purge_v1' | 'replay_v1',
  id: string | null,
  scope: ShelfScope,
  { limit, maxBytes, upTo = Infinity }: PortionUpTo,
  ms: number,
): Promise<readonly MovedDelivery[]> {
  const [key, encoded] = scopeValues(id, scope);
  const values = [encoded, key, limit, maxBytes, upTo, server.skew.toServer(ms)];
  return (await server.rows<MovedDelivery>(name, values)).map(movedOf);
}

export function movedOf({ key, id, bytes }: MovedDelivery): MovedDelivery {
  return { key: decodeText(key), id: decodeText(id), bytes };
}
