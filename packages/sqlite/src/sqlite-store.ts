import { BackpressureError, type InboxStore } from '@webhook-backpressure/core';
import { openInboxFile } from './inbox-file.ts';
import { OpenFile } from './open-file.ts';
import { settle, type SqliteStoreOptions } from './options.ts';

/**
 * Keeps the deliveries of an inbox in a SQLite file. What a call has done is on the disk when it returns, and survives
 * the death of the process and of the machine.
 *
 * Calls are synchronous: the process stands still until the disk has answered, usually for less than a millisecond, and
 * now and then for some more while SQLite moves what is recent into the file. Several processes of one machine may use
 * the same file, each with a store of its own; each of them works off what is due, and takes over within seconds what
 * another has left when it died; a start does so at once.
 *
 * The file is opened with the inbox, by `open`.
 *
 * @throws BackpressureError `ERR_WBP_OPTIONS`, `ERR_WBP_UNKNOWN_OPTION`, `ERR_WBP_SQLITE_PATH`,
 * `ERR_WBP_SQLITE_BUSY_TIMEOUT` or `ERR_WBP_SQLITE_MAX_FILE` when an option is wrong. Its methods throw
 * `ERR_WBP_SQLITE_OPEN`, `ERR_WBP_SQLITE_FOREIGN`, `ERR_WBP_SQLITE_VERSION`, `ERR_WBP_SQLITE_DAMAGED`,
 * `ERR_WBP_SQLITE_LOCKED`, `ERR_WBP_SQLITE_REPLACED`, `ERR_WBP_SQLITE_WRITE` and `ERR_WBP_STORE_VALUE`, with what
 * SQLite said as their `cause`, and have then done nothing; before `open` and after `close`, they throw `ERR_WBP_SQLITE_NOT_OPEN`.
 */
export function sqliteStore(options: SqliteStoreOptions): InboxStore {
  const settings = settle(options);
  let open: OpenFile | undefined;
  const file = (): OpenFile => {
    if (open !== undefined) return open;
    throw new BackpressureError('ERR_WBP_SQLITE_NOT_OPEN', `The store of ${settings.path} is not open.`);
  };

  return {
    open: (nowMs) => {
      if (open !== undefined)
        throw new BackpressureError(
          'ERR_WBP_SQLITE_NOT_OPEN',
          `The store of ${settings.path} is already open; a second inbox needs a store of its own.`,
        );
      const connection = openInboxFile(settings);
      try {
        open = new OpenFile(connection, nowMs);
      } catch (error) {
        connection.close();
        throw error;
      }
      return open.found();
    },
    put: (batch, { limits, nowMs }) => file().arrivals.put(batch, limits, nowMs),
    claim: (count, claimOptions) => file().claims.claim(file().self, count, claimOptions),
    renew: (claims, lease) => file().settlements.renew(file().self, claims, lease),
    settle: (settlements, nowMs) => file().settlements.settle(file().self, settlements, nowMs),
    nextDueMs: () => file().claims.nextDueMs(file().self),
    listShelved: ({ limit, offset, ...scope }) => file().shelf.list(scope, limit, offset),
    getShelved: (id, scope) => file().shelf.get(id, scope),
    countShelved: (id, scope) => file().shelf.count(id, scope),
    redrive: (id, { limit, maxBytes, nowMs, ...scope }) =>
      file().shelf.redrive(id, scope, { limit, maxBytes }, nowMs),
    purge: (id, { limit, maxBytes, beforeMs, ...scope }) =>
      file().shelf.purge(id, scope, { limit, maxBytes }, beforeMs),
    noteRoom: (room) => {
      file().totals.noteRoom(room);
    },
    listPending: (query) => file().pending.list(query),
    getPending: (ref, nowMs) => file().pending.get(ref, nowMs),
    listCompleted: (query) => file().kept.list(query),
    getCompleted: (id, scope) => file().kept.get(id, scope),
    countCompleted: (id, scope) => file().kept.count(id, scope),
    replay: (id, { limit, maxBytes, nowMs, ...scope }) =>
      file().kept.replay(id, scope, { limit, maxBytes }, nowMs),
    dropCompleted: (which) => file().kept.drop(which),
    forget: (which) => file().remembered.forget(which),
    forgetId: (ref) => file().forgetId(ref),
    hasten: (which) => file().settlements.hasten(which),
    depthByKey: () => file().totals.depthByKey(),
    stats: () => file().totals.stats(),
    close: (nowMs) => {
      const closing = file();
      open = undefined;
      closing.close(nowMs);
    },
  };
}
