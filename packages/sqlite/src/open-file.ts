import type { OpenedStore } from '@webhook-backpressure/core';
import { Arrivals } from './arrivals.ts';
import { Claims } from './claims.ts';
import type { Connection, Outcome } from './connection.ts';
import { DiskRoom } from './disk-room.ts';
import { removeLock, type OwnerLock } from './owner-lock.ts';
import type { Settings } from './options.ts';
import { Owners } from './owners.ts';
import { Remembered } from './remembered.ts';
import { Settlements } from './settlements.ts';
import { Shelf } from './shelf.ts';
import { Succession, type Predecessor } from './succession.ts';
import { Totals } from './totals.ts';
import { Vacuum } from './vacuum.ts';
import { Whereabouts } from './whereabouts.ts';

/** A file that is open, with its owner's lock held. */
export class OpenFile {
  readonly self: number;
  readonly totals: Totals;
  readonly arrivals: Arrivals;
  readonly claims: Claims;
  readonly settlements: Settlements;
  readonly shelf: Shelf;
  readonly remembered: Remembered;
  readonly vacuum: Vacuum;
  readonly #connection: Connection;
  readonly #room: DiskRoom;
  readonly #owners: Owners;
  readonly #lock: OwnerLock;
  readonly #whereabouts: Whereabouts;

  constructor(connection: Connection, nowMs: number, { maxWalBytes }: Settings, predecessor?: Predecessor) {
    this.#connection = connection;
    const room = (this.#room = new DiskRoom(connection, maxWalBytes));
    this.totals = new Totals(connection);
    this.#owners = new Owners(connection);
    this.#whereabouts = new Whereabouts(connection.location);
    this.arrivals = new Arrivals(connection, this.totals, this.#whereabouts, room);
    this.claims = new Claims(connection, this.totals, this.#owners);
    this.settlements = new Settlements(connection, this.totals, room);
    this.shelf = new Shelf(connection, this.totals);
    this.remembered = new Remembered(connection, this.totals);
    this.vacuum = new Vacuum(connection);
    const { id, lock } = this.#enter(nowMs, predecessor);
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
    return { ...this.totals.stats(), depthByKey: this.totals.depthByKey() };
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
    predecessor: Predecessor | undefined,
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
        return owner;
      });
    } catch (error) {
      lock?.release();
      throw error;
    }
  }
}
