import type { InboxStore } from '@webhook-backpressure/core';
import { fileStore } from './file/file-store.ts';
import { settle, type SqliteStoreOptions } from './options.ts';
import { isThreadThere } from './thread/is-thread-there.ts';
import { ThreadedStore } from './thread/threaded-store.ts';

/**
 * Keeps the deliveries of an inbox in a SQLite file. What a call has done is on the disk when its promise resolves, and
 * survives the death of the process and of the machine.
 *
 * The file is open in a thread of this store, so the event loop never waits for the disk; calls are answered in the
 * order in which they are made. Only the first `open` is waited for, up to five seconds, so that a receiver with a wrong
 * path does not start. The thread does not keep an idle process alive, ends with `close`, and when it dies, the next
 * call starts a new one, which takes over what this process has in hand. With `thread: false`, and where the thread's
 * file cannot be found, calls are synchronous, and the process stands still until the disk has answered.
 *
 * Several processes of one machine may use the same file, each with a store of its own; each of them processes what is
 * due, and takes over within seconds what another has left when it died; a start does so at once.
 *
 * @throws BackpressureError `ERR_WBP_OPTIONS`, `ERR_WBP_UNKNOWN_OPTION`, `ERR_WBP_SQLITE_PATH`,
 * `ERR_WBP_SQLITE_BUSY_TIMEOUT`, `ERR_WBP_SQLITE_MAX_FILE` or `ERR_WBP_SQLITE_THREAD` when an option is wrong. Its
 * methods throw, or reject with, `ERR_WBP_SQLITE_DRIVER`, `ERR_WBP_SQLITE_OPEN`, `ERR_WBP_SQLITE_FOREIGN`,
 * `ERR_WBP_SQLITE_VERSION`, `ERR_WBP_SQLITE_DAMAGED`, `ERR_WBP_SQLITE_LOCKED`, `ERR_WBP_SQLITE_REPLACED`,
 * `ERR_WBP_SQLITE_WRITE` and `ERR_WBP_STORE_VALUE`, with what SQLite said as their `cause`, and have then done nothing;
 * with `ERR_WBP_SQLITE_THREAD_ENDED` when the thread has died, and then it is not known whether the call was done; before
 * `open` and after `close`, with `ERR_WBP_SQLITE_NOT_OPEN`.
 */
export function sqliteStore(options: SqliteStoreOptions): InboxStore {
  const settings = settle(options);
  const { thread = isThreadThere() } = settings;
  return thread ? new ThreadedStore(settings) : fileStore(settings);
}
