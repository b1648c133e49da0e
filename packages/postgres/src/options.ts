import { inspect } from 'node:util';
import { BackpressureError, checkNames } from '@webhook-backpressure/base';

/** What another session has announced. */
export interface PostgresNotification {
  /** Where it was announced. */
  readonly channel: string;
  /** What was announced. */
  readonly payload?: string | undefined;
}

/** A client of a {@link PostgresPool}: that of `pg` is one. */
export interface PostgresClient {
  /** Runs a statement. */
  query(query: {
    readonly text: string;
    readonly values: unknown[];
    readonly query_timeout: number;
  }): Promise<{ readonly rows: unknown[] }>;
  /** Gives the client back; with `true`, its connection is closed. */
  release(isBroken?: boolean): void;
  /** Reports that the connection has failed. */
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Passes on what other sessions announce. */
  on(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  /** Removes a listener. */
  off(event: 'error', listener: (error: Error) => void): unknown;
}

/** A pool of connections: `Pool` of `pg` is one. */
export interface PostgresPool {
  /** Waits for a free connection. */
  connect(): Promise<PostgresClient>;
  /** Reports that a connection has failed while it was idle. */
  on?(event: 'error', listener: (error: Error) => void): unknown;
  /** Passes on each new client, before the server can say more. */
  on?(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  /** Removes a listener. */
  off?(event: 'error', listener: (error: Error) => void): unknown;
  /** Removes a listener. */
  off?(event: 'connect', listener: (client: PostgresClient) => void): unknown;
}

/**
 * Where the database is: either a pool, or the address of a server.
 *
 * - `pool`: 3 connections or more for each store, and at least 2. Give the store a pool that your handlers do not use: handlers that
 *   hold all connections would stop it. The store does not end it. Until `close` it listens to its events `error` and
 *   `connect`, since a connection that fails while it is idle or new would end the process.
 * - `connectionString`: the store makes a pool of 4 connections, and ends it with `close`. Requires the package `pg`.
 */
export type PostgresConnection =
  | { readonly pool: PostgresPool; readonly connectionString?: undefined }
  | { readonly connectionString: string; readonly pool?: undefined };

/** Options of {@link postgresStore}. */
export interface PostgresStoreOptions {
  /**
   * The schema of the tables, which the store creates. Lower-case letters, digits and underscores; a letter or an
   * underscore first; at most 63. Each schema is a separate inbox. Default: `webhook_inbox`.
   */
  schema?: string | undefined;
  /**
   * Whether statements of one store may run on different connections of the server, as behind PgBouncer in transaction
   * mode. Then the store uses nothing that belongs to a connection: claims of a process that died are taken over when
   * their lease has run out, instead of within seconds. Default: false.
   */
  pooled?: boolean | undefined;
}

/** Validated options. */
export interface Settings {
  readonly connection: PostgresConnection;
  readonly schema: string;
  readonly isPooled: boolean;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;
/** One is the session that shows that the process lives. */
const MIN_CONNECTIONS = 2;
const OPTIONS = ['schema', 'pooled'];
const DEFAULT_SCHEMA = 'webhook_inbox';

export function settle(connection: PostgresConnection, options: PostgresStoreOptions): Settings {
  checkNames(connection, 'the first argument', ['pool', 'connectionString', ...OPTIONS]);
  const misplaced = OPTIONS.find((name) => (connection as Record<string, unknown>)[name] !== undefined);
  if (misplaced !== undefined)
    throw new BackpressureError(
      'ERR_WBP_UNKNOWN_OPTION',
      `${misplaced} must be in the second argument: postgresStore({ connectionString }, { ${misplaced} }).`,
    );
  checkNames(options, 'options', OPTIONS);
  const { pool, connectionString } = connection as { pool?: unknown; connectionString?: unknown };
  const isPool = typeof (pool as PostgresPool | undefined)?.connect === 'function';
  const isAddress = typeof connectionString === 'string' && connectionString !== '';
  if (isPool === isAddress || (pool !== undefined && !isPool))
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_CONNECTION',
      'The first argument must be either { pool }, with a Pool of pg, or { connectionString }, with a string.',
    );
  const { pooled } = options;
  if (pooled !== undefined && typeof pooled !== 'boolean')
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_POOLED',
      `pooled must be a boolean, but was ${inspect(pooled)}.`,
    );
  const most = (pool as { readonly options?: { readonly max?: unknown } } | undefined)?.options?.max;
  if (typeof most === 'number' && most < MIN_CONNECTIONS && pooled !== true)
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_CONNECTION',
      `The pool has at most ${String(most)} connection, which the store needs for the lock that shows that its process lives. Set max to 3 or more.`,
    );
  return { connection, schema: checkSchema(options.schema), isPooled: pooled ?? false };
}

/** @throws unless it is the name of a schema that needs no quotes. */
export function checkSchema(schema: unknown = DEFAULT_SCHEMA): string {
  if (typeof schema === 'string' && SCHEMA.test(schema) && !schema.startsWith('pg_')) return schema;
  throw new BackpressureError(
    'ERR_WBP_POSTGRES_SCHEMA',
    `schema must be a name of up to 63 lower-case letters, digits and underscores that does not begin with a digit or pg_, but was ${inspect(schema)}.`,
  );
}
