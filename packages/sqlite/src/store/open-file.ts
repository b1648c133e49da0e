import type { DeliveryRef, OpenedStore, StoreStats } from '@webhook-backpressure/core';
import { Arrivals } from '../tables/additions.ts';
import { Claims } from '../tables/claims.ts';
import type { Connection, Outcome } from './connection.ts';
import { DiskRoom } from './disk-room.ts';
import { removeLock, type OwnerLock } from './owner-lock.ts';
import type { Settings } from '../options.ts';
import { Order } from '../tables/order.ts';
import { Owners } from './owners.ts';
import { Kept } from '../tables/kept.ts';
import { Pauses } from '../tables/pauses.ts';
import { Pending } from '../tables/pending.ts';
import { Remembered } from '../tables/remembered.ts';
import { Settlements } from '../tables/settlements.ts';
import { Shelf } from '../tables/shelf.ts';
import { Succession, type Predecessor } from './succession.ts';
import { Totals } from '../tables/totals.ts';
import { Vacuum } from './vacuum.ts';
import { Whereabouts } from '../tables/whereabouts.ts';

/** How a file is opened. */
export interface Entry {
  readonly isOrdered?: boolean | undefined;
  readonly predecessor?: Predecessor | undefined;
}

/** A file that is open, with its owner's lock held. */
export class OpenFile {
  readonly self: number;
  readonly totals: Totals;
  readonly arrivals: Arrivals;
  readonly claims: Claims;
  readonly settlements: Settlements;
  readonly shelf: Shelf;
  readonly remembered: Remembered;
  readonly pauses: Pauses;
  readonly vacuum: Vacuum;
  readonly kept: Kept;
  readonly pending: Pending;
  readonly #connection: Connection;
  readonly #room: DiskRoom;
  readonly #owners: Owners;
  readonly #lock: OwnerLock;
  readonly #whereabouts: Whereabouts;

  /** @param how - `isOrdered`: undefined leaves the file as it is. `predecessor`: whose claims this owner takes over. */
  constructor(connection: Connection, nowMs: number, { maxWalBytes }: Settings, how: Entry = {}) {
    this.#connection = connection;
    const room = (this.#room = new DiskRoom(connection, maxWalBytes));
    this.totals = new Totals(connection);
    this.#owners = new Owners(connection);
    this.#whereabouts = new Whereabouts(connection.location);
    this.arrivals = new Arrivals(connection, this.totals, this.#whereabouts, room);
    this.claims = new Claims(connection, this.totals, this.#owners);
    this.shelf = new Shelf(connection, this.totals);
    this.remembered = new Remembered(connection, this.totals);
    this.kept = new Kept(connection, this.totals, this.remembered);
    this.pending = new Pending(connection);
    this.settlements = new Settlements(connection, this.totals, {
      room,
      remembered: this.remembered,
      kept: this.kept,
    });
    this.pauses = new Pauses(connection);
    this.vacuum = new Vacuum(connection);
    const { id, lock } = this.#enter(nowMs, how);
    this.self = id;
    this.#lock = lock;
  }

  /** Calls that came together, in one commit. */
  together<T>(calls: readonly (() => T)[]): readonly Outcome<T>[] {
    // Within a transaction the log cannot be emptied.
    this.#room.keepWal();
    return this.#connection.together(calls);
  }

  found(): OpenedStore {
    return { ...this.stats(), depthByKey: this.totals.depthByKey() };
  }

  stats(): StoreStats {
    return { ...this.totals.stats(), ...this.pauses.stats() };
  }

  /** Forgets a completed id, and lets go of the delivery where it is kept. */
  forgetId({ key, id }: DeliveryRef): boolean {
    return this.totals.transaction((changes) => {
      const wasKept = this.kept.remove(key, id, changes);
      return this.remembered.remove({ key, id }, changes) || wasKept;
    });
  }

  close(nowMs: number): void {
    try {
      this.totals.transaction((changes) => {
        this.#owners.leave(this.self, nowMs, changes);
      });
    } finally {
      // Also when the claims could not be given back: then this owner is dead, and they are taken.
      const { location } = this.#connection;
      this.#connection.tidy();
      // Where another file stands in place of this one, the lock of this name may be that of another owner.
      const isOwn = this.#whereabouts.areKnown;
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
          new Succession(this.#connection).succeed(owner.id, predecessor, nowMs, changes);
        this.#owners.bury(owner.id, nowMs, changes);
        // A clock that has gone back must not keep waiting what has never been tried.
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
