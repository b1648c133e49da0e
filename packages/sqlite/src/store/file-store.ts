import { BackpressureError, type InboxStore, type OpenedStore } from '@webhook-backpressure/core';
import { outcomeOf, type Outcome } from './connection.ts';
import { openInboxFile, patiently } from './inbox-file.ts';
import { OpenFile } from './open-file.ts';
import type { Settings } from '../options.ts';
import type { Predecessor } from './succession.ts';

type OpenOptions = Parameters<InboxStore['open']>[1];

/** A store in the thread that calls it. All of its calls are synchronous. */
export interface FileStore extends InboxStore {
  /** Opens it like `open`, as the heir of an owner of the same process. */
  takeOver(nowMs: number, options: OpenOptions | undefined, predecessor: Predecessor): OpenedStore;
  /** Gives a little of what is free in the file back to the disk. Whether there is more. */
  shrink(): boolean;
  /** Calls of this store that came together, in one commit where it is open; each with its own outcome. */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[];
  /** Under which number it has the file open. */
  readonly owner: number | undefined;
}

export function fileStore(settings: Settings): FileStore {
  let open: OpenFile | undefined;
  const file = (): OpenFile => {
    if (open !== undefined) return open;
    throw notOpen(settings.path);
  };
  const enter = (nowMs: number, options?: OpenOptions, predecessor?: Predecessor): OpenedStore => {
    if (open !== undefined) throw alreadyOpen(settings.path);
    open = patiently(settings, () => {
      const connection = openInboxFile(settings);
      try {
        return new OpenFile(connection, nowMs, settings, { isOrdered: options?.isOrdered, predecessor });
      } catch (error) {
        connection.close();
        throw error;
      }
    });
    return open.found();
  };

  return {
    get owner() {
      return open?.self;
    },
    open: (nowMs, options) => enter(nowMs, options),
    takeOver: enter,
    together: (calls) => (open === undefined ? calls.map(outcomeOf) : open.together(calls)),
    shrink: () => open?.vacuum.step() ?? false,
    put: (batch, { limits, nowMs }) => file().arrivals.put(batch, limits, nowMs),
    claim: (count, claimOptions) => file().claims.claim(file().self, count, claimOptions),
    renew: (claims, lease) => file().settlements.renew(file().self, claims, lease),
    settle: (settlements, nowMs) => file().settlements.settle(file().self, settlements, nowMs),
    nextDueMs: (except) => file().claims.nextDueMs(file().self, except),
    listShelved: ({ limit, offset, ...scope }) => file().shelf.list(scope, limit, offset),
    getShelved: (id, scope) => file().shelf.get(id, scope),
    countShelved: (id, scope) => file().shelf.count(id, scope),
    redrive: (id, { limit, maxBytes, nowMs, upTo, ...scope }) =>
      file().shelf.redrive(id, scope, { limit, maxBytes, upTo }, nowMs),
    purge: (id, { limit, maxBytes, beforeMs, upTo, ...scope }) =>
      file().shelf.purge(id, scope, { limit, maxBytes, upTo }, beforeMs),
    noteRoom: (room) => {
      file().totals.noteRoom(room);
    },
    listPending: (query) => file().pending.list(query),
    getPending: (ref, nowMs) => file().pending.get(ref, nowMs),
    listCompleted: (query) => file().kept.list(query),
    getCompleted: (id, scope) => file().kept.get(id, scope),
    countCompleted: (id, scope) => file().kept.count(id, scope),
    replay: (id, { limit, maxBytes, nowMs, upTo, ...scope }) =>
      file().kept.replay(id, scope, { limit, maxBytes, upTo }, nowMs),
    dropCompleted: (which) => file().kept.drop(which),
    forget: (which) => file().remembered.forget(which),
    forgetId: (ref) => file().forgetId(ref),
    pause: (key) => file().pauses.pause(key),
    resume: (key) => file().pauses.resume(key),
    hasten: (which) => file().settlements.hasten(which),
    depthByKey: () => file().totals.depthByKey(),
    stats: () => file().stats(),
    close: (nowMs) => {
      const closing = file();
      open = undefined;
      closing.close(nowMs);
    },
  };
}

export function notOpen(path: string): BackpressureError {
  return new BackpressureError('ERR_WBP_SQLITE_NOT_OPEN', `The store of ${path} is not open.`);
}

export function alreadyOpen(path: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_SQLITE_NOT_OPEN',
    `The store of ${path} is already open; a second inbox needs a store of its own.`,
  );
}
