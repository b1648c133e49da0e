import type { InboxStore } from '@webhook-backpressure/inbox';
import { settle, type PostgresConnection, type PostgresStoreOptions } from './options.ts';
import { serverStore } from './store/server-store.ts';

/**
 * Stores the deliveries of an inbox in PostgreSQL 15 or newer, for any number of receivers and workers on any number of
 * machines. When the promise of a call resolves, its changes are committed.
 *
 * `open` creates the tables or migrates them, once, whatever number of processes starts at the same time. Where the
 * application may not create tables, run the statements of {@link postgresSchema} first.
 *
 * @param connection - a pool, or the address of a server.
 * @param options - see {@link PostgresStoreOptions}.
 * @throws BackpressureError `ERR_WBP_OPTIONS`, `ERR_WBP_UNKNOWN_OPTION`, `ERR_WBP_POSTGRES_CONNECTION`,
 * `ERR_WBP_POSTGRES_SCHEMA` or `ERR_WBP_POSTGRES_POOLED` for invalid options. Methods reject with
 * `ERR_WBP_POSTGRES_SETUP`, `ERR_WBP_POSTGRES_FOREIGN`, `ERR_WBP_POSTGRES_VERSION` or `ERR_WBP_STORE_VALUE`, and then
 * have had no effect. After `ERR_WBP_POSTGRES_UNAVAILABLE` the effect is unknown: the connection may have been cut
 * during a commit. Before `open` and after `close` they reject with `ERR_WBP_POSTGRES_NOT_OPEN`.
 */
export function postgresStore(
  connection: PostgresConnection,
  options: PostgresStoreOptions = {},
): InboxStore {
  return serverStore(settle(connection, options));
}
