import type { DeliveryRef, OpenedStore, StoreStats } from '@webhook-backpressure/inbox';
import type { Connection, Outcome } from '../connection/connection.ts';
import { DiskSpace } from '../file/disk-space.ts';
import { FileIdentity } from '../file/file-identity.ts';
import { removeLock, type OwnerLock } from '../file/owner-lock.ts';
import { Vacuum } from '../file/vacuum.ts';
import { CompletedIds } from '../finished/completed-ids.ts';
import { CompletedDeliveries } from '../finished/completed.ts';
import { DeadLetters } from '../finished/dead-letters.ts';
import type { Settings } from '../options.ts';
import { ClaimTakeover, type Predecessor } from '../queue/claim-takeover.ts';
import { ClaimUpdates } from '../queue/claim-updates.ts';
import { Claims } from '../queue/claims.ts';
import { DueKeysQuery } from '../queue/due-keys.ts';
import { Incoming } from '../queue/incoming.ts';
import { KeyClaims } from '../queue/key-claims.ts';
import { Owners } from '../queue/owners.ts';
import { Pending } from '../queue/pending.ts';
import { RowClaims } from '../queue/row-claims.ts';
import { Order } from '../tables/order.ts';
import { Pauses } from '../tables/pauses.ts';
import { Totals } from '../tables/totals.ts';

/** How a file is opened. */
export interface Entry {
  readonly isOrdered?: boolean | undefined;
  readonly predecessor?: Predecessor | undefined;
}

/** An open file of an inbox, whose owner's lock is held. */
export class OpenFile {
  readonly self: number;
  readonly totals: Totals;
  readonly incoming: Incoming;
  readonly claims: Claims;
  readonly keyClaims: KeyClaims;
  readonly dueKeys: DueKeysQuery;
  readonly claimUpdates: ClaimUpdates;
  readonly deadLetters: DeadLetters;
  readonly completedIds: CompletedIds;
  readonly pauses: Pauses;
  readonly vacuum: Vacuum;
  readonly completed: CompletedDeliveries;
  readonly pending: Pending;
  readonly #connection: Connection;
  readonly #disk: DiskSpace;
  readonly #owners: Owners;
  readonly #lock: OwnerLock;
  readonly #identity: FileIdentity;

  /** @param how - `isOrdered`: undefined keeps the mode of the file. `predecessor`: its claims are taken over. */
  constructor(connection: Connection, nowMs: number, { maxWalBytes }: Settings, how: Entry = {}) {
    this.#connection = connection;
    const disk = (this.#disk = new DiskSpace(connection, maxWalBytes));
    this.totals = new Totals(connection);
    this.#owners = new Owners(connection);
    this.#identity = new FileIdentity(connection.location);
    this.incoming = new Incoming(connection, this.totals, this.#identity, disk);
    const rows = new RowClaims(connection, this.totals);
    this.claims = new Claims(connection, this.totals, this.#owners, rows);
    this.keyClaims = new KeyClaims(connection, this.totals, this.#owners, rows);
    this.dueKeys = new DueKeysQuery(connection, this.#owners);
    this.deadLetters = new DeadLetters(connection, this.totals);
    this.completedIds = new CompletedIds(connection, this.totals);
    this.completed = new CompletedDeliveries(connection, this.totals, this.completedIds);
    this.pending = new Pending(connection);
    this.claimUpdates = new ClaimUpdates(connection, this.totals, {
      disk,
      completedIds: this.completedIds,
      completed: this.completed,
    });
    this.pauses = new Pauses(connection);
    this.vacuum = new Vacuum(connection);
    const { id, lock } = this.#enter(nowMs, how);
    this.self = id;
    this.#lock = lock;
  }

  /** Runs several calls in one commit. */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[] {
    // Within a transaction the -wal file cannot be emptied.
    this.#disk.limitWal();
    return this.#connection.together(calls);
  }

  found(): OpenedStore {
    return { ...this.stats(), depthByKey: this.totals.depthByKey() };
  }

  stats(): StoreStats {
    return { ...this.totals.stats(), ...this.pauses.stats() };
  }

  /** Forgets a completed id, and deletes the delivery if it is kept. */
  forgetId({ key, id }: DeliveryRef): boolean {
    return this.totals.transaction((changes) => {
      const wasKept = this.completed.remove(key, id, changes);
      return this.completedIds.remove({ key, id }, changes) || wasKept;
    });
  }

  close(nowMs: number): void {
    try {
      this.totals.transaction((changes) => {
        this.#owners.leave(this.self, nowMs, changes);
      });
    } finally {
      // Also if the claims could not be released: then this owner counts as dead, and others take them.
      const { location } = this.#connection;
      this.#connection.truncateWal();
      // If another file has replaced this one, the lock file of this name may belong to another owner.
      const isOwn = this.#identity.isUnchanged;
      this.#connection.close();
      this.#lock.release();
      if (isOwn) removeLock(location, this.self);
    }
  }

  #enter(
    nowMs: number,
    { isOrdered, predecessor }: Entry,
  ): { readonly id: number; readonly lock: OwnerLock } {
    let lock: OwnerLock | undefined;
    try {
      return this.totals.transaction((changes) => {
        const owner = this.#owners.register(nowMs);
        ({ lock } = owner);
        if (predecessor !== undefined)
          new ClaimTakeover(this.#connection).takeOver(owner.id, predecessor, nowMs, changes);
        this.#owners.removeDead(owner.id, nowMs, changes);
        // A clock that was set back must not delay deliveries without attempts.
        this.#connection.prepare('UPDATE queue SET due_ms = ?1 WHERE state = 0 AND due_ms > ?1').run([nowMs]);
        if (isOrdered !== undefined) new Order(this.#connection).set(isOrdered, nowMs);
        return owner;
      });
    } catch (error) {
      lock?.release();
      throw error;
    }
  }
}
