import { inspect } from 'node:util';
import { BackpressureError, checkNames } from '@webhook-backpressure/base';
import type { FleetRegistry } from '@webhook-backpressure/fleet';
import { checkSchema, type PostgresPool } from '../options.ts';
import { Server } from '../server/server.ts';
import { ServerRegistry } from './server-registry.ts';

/** Options of {@link postgresRegistry}. */
export interface PostgresRegistryOptions {
  /** The schema of the tables, as for `postgresStore`: both can use the same one. Default: `webhook_inbox`. */
  schema?: string | undefined;
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
  return new ServerRegistry(new Server({ connection: { pool }, schema, isPooled: true }));
}
