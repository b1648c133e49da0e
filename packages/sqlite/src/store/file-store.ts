import { BackpressureError } from '@webhook-backpressure/base';
import type { InboxStore, OpenedStore } from '@webhook-backpressure/inbox';
import type { ToolStore } from '@webhook-backpressure/inbox/tool';
import { outcomeOf, type Connection, type Outcome } from '../connection/connection.ts';
import { useDriver } from '../connection/drivers.ts';
import { DiskSpace, shrink } from '../file/disk-space.ts';
import { FileIdentity } from '../file/file-identity.ts';
import { removeLock, type OwnerLock } from '../file/owner-lock.ts';
import { forget } from '../finished/completed-ids.ts';
import { dropCompleted, forgetId, getCompleted, listCompleted, replay } from '../finished/completed.ts';
import { getDeadLetter, listDeadLetters, purge, scanDeadLetters } from '../finished/dead-letters.ts';
import { countFinished, KEPT, putBack, DEAD_LETTERS } from '../finished/finished.ts';
import type { Settings } from '../options.ts';
import { hasten, renew, settle } from '../queue/claim-updates.ts';
import { Claims } from '../queue/claims.ts';
import { put } from '../queue/incoming.ts';
import { KeyClaims } from '../queue/key-claims.ts';
import { Owners, type Predecessor } from '../queue/owners.ts';
import { getPending, listPending } from '../queue/pending.ts';
import { RowClaims } from '../queue/row-claims.ts';
import { setOrdered } from '../tables/order.ts';
import { counted, depthByKey, noteRoom, pause, readStats, repairTotals, resume } from '../tables/totals.ts';
import { putIn, settleIn } from './client-file.ts';
import { openInboxFile, retryWhileLocked } from './inbox-file.ts';

/** The second argument of `open`. Without `isOrdered`, the file keeps its mode. */
export type OpenOptions = Parameters<InboxStore['open']>[1];

/** A store in the thread that calls it. All calls are synchronous. */
export interface FileStore extends InboxStore {
  /** @param predecessor - an earlier owner of the same process, whose claims are taken over. */
  open(nowMs: number, options?: OpenOptions, predecessor?: Predecessor): OpenedStore;
  /** Returns some free pages of the file to the disk. @returns whether there are more. */
  shrink(): boolean;
  /** Runs several calls in one commit if the file is open. Each has its own outcome. */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[];
  /** The number of this store in the file, while it is open. */
  readonly owner: number | undefined;
}

export function fileStore(settings: Settings): FileStore {
  if (settings.driver !== undefined) useDriver(settings.driver);
  let open: OpenFile | undefined;
  const file = (): OpenFile => {
    if (open !== undefined) return open;
    throw notOpen(settings.path);
  };
  const connection = (): Connection => file().connection;

  return {
    get owner() {
      return open?.self;
    },
    open: (nowMs, options, predecessor) => {
      if (open !== undefined) throw alreadyOpen(settings.path);
      open = retryWhileLocked(settings, () => {
        const opening = openInboxFile(settings);
        try {
          return new OpenFile(opening, nowMs, settings, options?.isOrdered, predecessor);
        } catch (error) {
          opening.close();
          throw error;
        }
      });
      return { ...readStats(open.connection), depthByKey: depthByKey(open.connection) };
    },
    together: (calls) => (open === undefined ? calls.map(outcomeOf) : open.together(calls)),
    shrink: () => open !== undefined && shrink(open.connection),
    put: (batch, options) => put(file(), batch, options),
    putIn: (client, one, options) => putIn(client, file().settings, one, options),
    settleIn: (client, settlement, nowMs) => settleIn(client, settings, file().self, settlement, nowMs),
    claimKeys: (wants, lease) => file().keyClaims.claim(file().self, wants, lease),
    dueKeys: (page) => file().keyClaims.due(file().self, page),
    claim: (count, claimOptions) => file().claims.claim(file().self, count, claimOptions),
    nextDueMs: (except) => file().claims.nextDueMs(file().self, except),
    renew: (claims, lease) => renew(connection(), file().self, claims, lease),
    settle: (settlements, nowMs) => settle(connection(), file().disk, file().self, settlements, nowMs),
    hasten: (which) => hasten(connection(), which),
    ...adminCalls(connection),
    noteRoom: (room) => {
      noteRoom(connection(), room);
    },
    dropCompleted: (which) => dropCompleted(connection(), which),
    forget: (which) => forget(connection(), which),
    depthByKey: () => depthByKey(connection()),
    close: (nowMs) => {
      const closing = file();
      open = undefined;
      closing.close(nowMs);
    },
  };
}

/** The calls of operators, which need no owner. */
export function adminCalls(
  connection: () => Connection,
): Omit<Pick<InboxStore, keyof InboxStore & keyof ToolStore>, 'close'> {
  return {
    stats: () => readStats(connection()),
    listDeadLetters: (page) => listDeadLetters(connection(), page),
    scanDeadLetters: (page) => scanDeadLetters(connection(), page),
    getDeadLetter: (id, scope) => getDeadLetter(connection(), id, scope),
    countDeadLetters: (id, scope) => countFinished(connection(), DEAD_LETTERS, id, scope),
    redrive: (id, which) => putBack(connection(), DEAD_LETTERS, id, which),
    purge: (id, which) => purge(connection(), id, which),
    listPending: (query) => listPending(connection(), query),
    getPending: (ref, nowMs) => getPending(connection(), ref, nowMs),
    listCompleted: (query) => listCompleted(connection(), query),
    getCompleted: (id, scope) => getCompleted(connection(), id, scope),
    countCompleted: (id, scope) => countFinished(connection(), KEPT, id, scope),
    replay: (id, which) => replay(connection(), id, which),
    forgetId: (ref) => forgetId(connection(), ref),
    pause: (key) => pause(connection(), key),
    resume: (key) => resume(connection(), key),
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

/** An open file of an inbox, whose owner's lock is held. */
class OpenFile {
  readonly self: number;
  readonly connection: Connection;
  readonly disk: DiskSpace;
  readonly identity: FileIdentity;
  readonly claims: Claims;
  readonly keyClaims: KeyClaims;
  readonly settings: Settings;
  readonly #owners: Owners;
  readonly #lock: OwnerLock;

  constructor(
    connection: Connection,
    nowMs: number,
    settings: Settings,
    isOrdered: boolean | undefined,
    predecessor: Predecessor | undefined,
  ) {
    this.settings = settings;
    this.connection = connection;
    this.disk = new DiskSpace(connection, settings.maxWalBytes);
    this.identity = new FileIdentity(connection.location);
    this.#owners = new Owners(connection);
    const rows = new RowClaims(connection);
    this.claims = new Claims(connection, this.#owners, rows);
    this.keyClaims = new KeyClaims(connection, this.#owners, rows);
    const { id, lock } = this.#enter(nowMs, isOrdered, predecessor);
    this.self = id;
    this.#lock = lock;
  }

  /** Runs several calls in one commit. */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[] {
    // Within a transaction the -wal file cannot be emptied.
    this.disk.limitWal();
    return this.connection.together(calls);
  }

  close(nowMs: number): void {
    try {
      counted(this.connection, (changes) => {
        this.#owners.leave(this.self, nowMs, changes);
      });
    } finally {
      // Also if the claims could not be released: then this owner counts as dead, and others take them.
      const { location } = this.connection;
      this.connection.truncateWal();
      // If another file has replaced this one, the lock file of this name may belong to another owner.
      const isOwn = this.identity.isUnchanged;
      this.connection.close();
      this.#lock.release();
      if (isOwn) removeLock(location, this.self);
    }
  }

  #enter(
    nowMs: number,
    isOrdered: boolean | undefined,
    predecessor: Predecessor | undefined,
  ): { readonly id: number; readonly lock: OwnerLock } {
    let lock: OwnerLock | undefined;
    try {
      return counted(this.connection, (changes) => {
        repairTotals(this.connection);
        const owner = this.#owners.register(nowMs);
        ({ lock } = owner);
        if (predecessor !== undefined) this.#owners.takeOver(owner.id, predecessor, nowMs, changes);
        this.#owners.removeDead(owner.id, nowMs, changes);
        // A clock that was set back must not place deliveries without attempts behind later ones of their keys.
        this.connection.run(
          'UPDATE queue INDEXED BY queue_ready SET due_ms = ?1 WHERE state = 0 AND due_ms > ?1',
          [nowMs],
        );
        if (isOrdered !== undefined) setOrdered(this.connection, isOrdered, nowMs);
        return owner;
      });
    } catch (error) {
      lock?.release();
      throw error;
    }
  }
}
