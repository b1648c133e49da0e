import { BackpressureError } from '@webhook-backpressure/base';
import type { InboxStore, OpenedStore } from '@webhook-backpressure/inbox';
import { outcomeOf, type Outcome } from '../connection/connection.ts';
import type { Settings } from '../options.ts';
import type { Predecessor } from '../queue/claim-takeover.ts';
import { openInboxFile, retryWhileLocked } from './inbox-file.ts';
import { OpenFile } from './open-file.ts';

type OpenOptions = Parameters<InboxStore['open']>[1];

/** A store in the thread that calls it. All calls are synchronous. */
export interface FileStore extends InboxStore {
  /** Opens the file like `open`, and takes over the claims of an earlier owner of the same process. */
  takeOver(nowMs: number, options: OpenOptions | undefined, predecessor: Predecessor): OpenedStore;
  /** Returns some free pages of the file to the disk. @returns whether there are more. */
  shrink(): boolean;
  /** Runs several calls in one commit if the file is open. Each has its own outcome. */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[];
  /** The number of this store in the file, while it is open. */
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
    open = retryWhileLocked(settings, () => {
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
    put: (batch, { limits, nowMs }) => file().incoming.put(batch, limits, nowMs),
    claimKeys: (wants, lease) => file().keyClaims.claim(file().self, wants, lease),
    dueKeys: (page) => file().dueKeys.list(file().self, page),
    claim: (count, claimOptions) => file().claims.claim(file().self, count, claimOptions),
    renew: (claims, lease) => file().claimUpdates.renew(file().self, claims, lease),
    settle: (settlements, nowMs) => file().claimUpdates.settle(file().self, settlements, nowMs),
    nextDueMs: (except) => file().claims.nextDueMs(file().self, except),
    listShelved: ({ limit, offset, ...scope }) => file().deadLetters.list(scope, limit, offset),
    getShelved: (id, scope) => file().deadLetters.get(id, scope),
    countShelved: (id, scope) => file().deadLetters.count(id, scope),
    redrive: (id, { limit, maxBytes, nowMs, upTo, ...scope }) =>
      file().deadLetters.redrive(id, scope, { limit, maxBytes, upTo }, nowMs),
    purge: (id, { limit, maxBytes, beforeMs, upTo, ...scope }) =>
      file().deadLetters.purge(id, scope, { limit, maxBytes, upTo }, beforeMs),
    noteRoom: (room) => {
      file().totals.noteRoom(room);
    },
    listPending: (query) => file().pending.list(query),
    getPending: (ref, nowMs) => file().pending.get(ref, nowMs),
    listCompleted: (query) => file().completed.list(query),
    getCompleted: (id, scope) => file().completed.get(id, scope),
    countCompleted: (id, scope) => file().completed.count(id, scope),
    replay: (id, { limit, maxBytes, nowMs, upTo, ...scope }) =>
      file().completed.replay(id, scope, { limit, maxBytes, upTo }, nowMs),
    dropCompleted: (which) => file().completed.drop(which),
    forget: (which) => file().completedIds.forget(which),
    forgetId: (ref) => file().forgetId(ref),
    pause: (key) => file().pauses.pause(key),
    resume: (key) => file().pauses.resume(key),
    hasten: (which) => file().claimUpdates.hasten(which),
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
    `The store of ${path} is already open. Create a store for each inbox and each sender.`,
  );
}
