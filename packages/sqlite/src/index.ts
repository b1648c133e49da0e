import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { settle, type SqliteStoreOptions } from './options.ts';
import { fileStore } from './store/file-store.ts';
import { ThreadedStore } from './thread/threaded-store.ts';

export type { SqliteStoreOptions } from './options.ts';

/**
 * Stores the deliveries of an inbox in a SQLite file. When the promise of a call resolves, its changes are on the disk
 * and survive a crash of the process and of the machine.
 *
 * The file is open in a worker thread, so the event loop never waits for the disk. Calls are answered in order. Only the
 * first `open` blocks, for at most 5 seconds, so that a receiver with a wrong path fails at its start. The thread does
 * not keep an idle process alive, and ends with `close`. If it dies, the next call starts another thread, which takes
 * over the claims of this process. With `thread: false`, or if the file of the thread is not found, calls are
 * synchronous and block the event loop.
 *
 * Several processes on one machine may use the same file, each with its own store. They share the work. Claims of a
 * process that died are taken over immediately by a process that starts, and within 5 seconds by one that runs.
 *
 * @throws BackpressureError `ERR_WBP_OPTIONS`, `ERR_WBP_UNKNOWN_OPTION`, `ERR_WBP_SQLITE_PATH`,
 * `ERR_WBP_SQLITE_BUSY_TIMEOUT`, `ERR_WBP_SQLITE_MAX_FILE`, `ERR_WBP_SQLITE_MAX_WAL` or `ERR_WBP_SQLITE_THREAD` for
 * invalid options. Methods throw or reject with `ERR_WBP_SQLITE_DRIVER`, `ERR_WBP_SQLITE_OPEN`,
 * `ERR_WBP_SQLITE_FOREIGN`, `ERR_WBP_SQLITE_VERSION`, `ERR_WBP_SQLITE_DAMAGED`, `ERR_WBP_SQLITE_LOCKED`,
 * `ERR_WBP_SQLITE_REPLACED`, `ERR_WBP_SQLITE_WRITE` or `ERR_WBP_STORE_VALUE`, with the error of SQLite as `cause`, and
 * then have had no effect. After `ERR_WBP_SQLITE_THREAD_ENDED` the effect is unknown. Before `open` and after `close`
 * they throw `ERR_WBP_SQLITE_NOT_OPEN`.
 */
export function sqliteStore(options: SqliteStoreOptions): InboxStore {
  const settings = settle(options);
  const { thread = isThreadAvailable() } = settings;
  return thread ? new ThreadedStore(settings) : fileStore(settings);
}

/**
 * Whether the compiled file of the thread is beside this one, as in the published package. A bundler may have separated
 * them, and the sources are not compiled.
 */
function isThreadAvailable(): boolean {
  try {
    return existsSync(join(dirname(fileURLToPath(import.meta.url)), 'thread.js'));
  } catch {
    // Bundled code without a file.
    return false;
  }
}
