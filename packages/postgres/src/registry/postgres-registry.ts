import { inspect } from 'node:util';
import {
  BackpressureError,
  checkNames,
  type FleetBeat,
  type FleetRegistry,
  type FleetView,
} from '@webhook-backpressure/core';
import { checkSchema, type PostgresPool } from '../options.ts';
import { migrate } from '../schema/migrate.ts';
import { Server } from '../server/server.ts';

/** Options of {@link postgresRegistry}. */
export interface PostgresRegistryOptions {
  /** The schema of the tables, as for `postgresStore`: both can use the same one. Default: `webhook_inbox`. */
  schema?: string | undefined;
}

interface Row {
  readonly member: string;
  /** 0: the state of the member. */
  readonly number: string | number;
  readonly age_ms: number;
  readonly content: string;
}

/**
 * Where the members of a fleet see each other: two tables in PostgreSQL 15 or newer. The first beat creates the schema of
 * `postgresStore`, or migrates it.
 *
 * @param pool - a `Pool` of `pg`. A beat needs one connection for a few milliseconds, every 2 s; behind PgBouncer too.
 * Add a listener of its `error` event, or a connection that fails while it is idle ends the process.
 * @param options - see {@link PostgresRegistryOptions}.
 * @throws BackpressureError `ERR_WBP_POSTGRES_CONNECTION`, `ERR_WBP_POSTGRES_SCHEMA` or `ERR_WBP_UNKNOWN_OPTION` for an
 * invalid argument. Beats reject with the codes of `postgresStore`.
 */
export function postgresRegistry(pool: PostgresPool, options: PostgresRegistryOptions = {}): FleetRegistry {
  checkNames(options, 'options', ['schema']);
  if (typeof (pool as Partial<PostgresPool> | undefined)?.connect !== 'function')
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_CONNECTION',
      `The first argument must be a Pool of pg, but was ${inspect(pool, { depth: 0 })}.`,
    );
  const schema = checkSchema(options.schema);
  return new PostgresRegistry(new Server({ connection: { pool }, schema, isPooled: true }));
}

class PostgresRegistry implements FleetRegistry {
  readonly #server: Server;
  #migrating: Promise<void> | undefined;

  constructor(server: Server) {
    this.#server = server;
  }

  async beat(beat: FleetBeat): Promise<FleetView> {
    try {
      this.#migrating ??= migrate(this.#server);
      await this.#migrating;
      return await sendBeat(this.#server, beat);
    } catch (error) {
      // The tables may be created later, or may have been dropped.
      this.#migrating = undefined;
      throw error;
    }
  }
}

/** A beat on a server whose schema is migrated. */
export async function sendBeat(
  server: Server,
  { resource, member, number, state, news, seen }: FleetBeat,
): Promise<FleetView> {
  const rows = await server.rows<Row>('fleet_beat_v1', [
    ...[resource, member, number, state, news, JSON.stringify(seen)],
  ]);
  const isState = (row: Row): boolean => Number(row.number) === 0;
  return {
    members: rows
      .filter(isState)
      .map((row) => ({ member: row.member, ageMs: row.age_ms, state: row.content })),
    news: rows
      .filter((row) => !isState(row))
      .map((row) => ({ member: row.member, number: Number(row.number), news: row.content })),
  };
}
