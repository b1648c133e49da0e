import { hostname } from 'node:os';
import type { Connection, Statement } from '../connection/connection.ts';
import { isAlive, lockOwner, ownersWithLock, removeLock, type OwnerLock } from '../file/owner-lock.ts';
import type { Changes } from '../tables/totals.ts';

/**
 * The owners of the file, which are the open stores, and the claims of owners that died. A claim whose owner died or
 * whose lease expired is stranded: its delivery is due immediately, as suspect.
 *
 * Call every method within a transaction.
 */
export class Owners {
  readonly #path: string;
  readonly #add: Statement;
  readonly #remove: Statement;
  readonly #list: Statement;
  readonly #strand: Statement;
  readonly #strandExpired: Statement;
  readonly #release: Statement;
  readonly #othersHold: Statement;

  constructor(connection: Connection) {
    this.#path = connection.location;
    this.#add = connection.prepare('INSERT INTO owners (pid, host, since_ms) VALUES (?, ?, ?) RETURNING id');
    this.#remove = connection.prepare('DELETE FROM owners WHERE id = ?');
    this.#list = connection.prepare('SELECT id FROM owners WHERE id <> ?');
    const strand = `UPDATE queue INDEXED BY queue_held SET state = 3, strandings = strandings + 1, due_ms = min(due_ms, ?2),
        owner = NULL, lease_ms = NULL
      WHERE state = 2 AND`;
    this.#strand = connection.prepare(`${strand} owner = ?1`);
    this.#strandExpired = connection.prepare(`${strand} owner <> ?1 AND lease_ms <= ?2`);
    this.#release = connection.prepare(
      `UPDATE queue INDEXED BY queue_held SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = min(due_ms, ?2), owner = NULL, lease_ms = NULL
      WHERE state = 2 AND owner = ?1`,
    );
    this.#othersHold = connection.prepare(
      'SELECT DISTINCT owner FROM queue INDEXED BY queue_held WHERE state = 2 AND owner <> ?',
    );
  }

  /** Adds an owner and takes its lock. */
  register(nowMs: number): { readonly id: number; readonly lock: OwnerLock } {
    const [id] = this.#add.get([process.pid, hostname(), nowMs]) as [number];
    return { id, lock: lockOwner(this.#path, id) };
  }

  /** Strands the claims of all dead owners, and removes these owners. */
  removeDead(self: number, nowMs: number, changes: Changes): void {
    const known = new Set((this.#list.all([self]) as [number][]).map(([id]) => id));
    for (const id of new Set([...known, ...ownersWithLock(this.#path)])) {
      if (id === self || isAlive(this.#path, id)) continue;
      if (known.has(id)) this.#removeOwner(id, nowMs, changes);
      removeLock(this.#path, id);
    }
  }

  /** Does the same for dead owners that hold a claim. @returns how many claims were stranded. */
  strandOfDead(self: number, nowMs: number, changes: Changes): number {
    let stranded = 0;
    for (const [id] of this.#othersHold.all([self]) as [number][]) {
      if (isAlive(this.#path, id)) continue;
      stranded += this.#removeOwner(id, nowMs, changes);
      removeLock(this.#path, id);
    }
    return stranded;
  }

  strandExpired(self: number, nowMs: number, changes: Changes): void {
    changes.inFlight -= this.#strandExpired.run([self, nowMs]);
  }

  /** Whether a dead owner holds a claim. Changes nothing, and needs no transaction. */
  hasDeadHolder(self: number): boolean {
    return (this.#othersHold.all([self]) as [number][]).some(([id]) => !isAlive(this.#path, id));
  }

  /** Releases the claims of an owner, without using their attempts, and removes the owner. */
  leave(self: number, nowMs: number, changes: Changes): void {
    changes.inFlight -= this.#release.run([self, nowMs]);
    this.#remove.run([self]);
  }

  #removeOwner(id: number, nowMs: number, changes: Changes): number {
    const stranded = this.#strand.run([id, nowMs]);
    changes.inFlight -= stranded;
    this.#remove.run([id]);
    return stranded;
  }
}
