import { hostname } from 'node:os';
import type { Connection, Statement } from './connection.ts';
import { isAlive, lockOwner, ownersWithLock, removeLock, type OwnerLock } from './owner-lock.ts';
import type { Changes } from '../tables/totals.ts';

/**
 * Who has opened the file, and what the dead have left. What their owner's death or the end of their lease has
 * stranded is due at once, as suspect.
 *
 * Every method is called within a transaction.
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

  /** A new owner, with its lock held. */
  register(nowMs: number): { readonly id: number; readonly lock: OwnerLock } {
    const [id] = this.#add.get([process.pid, hostname(), nowMs]) as [number];
    return { id, lock: lockOwner(this.#path, id) };
  }

  /** Takes back what the dead have left, all of them, and forgets them. */
  bury(self: number, nowMs: number, changes: Changes): void {
    const known = new Set((this.#list.all([self]) as [number][]).map(([id]) => id));
    for (const id of new Set([...known, ...ownersWithLock(this.#path)])) {
      if (id === self || isAlive(this.#path, id)) continue;
      if (known.has(id)) this.#takeFrom(id, nowMs, changes);
      removeLock(this.#path, id);
    }
  }

  /** The same for those only who hold a claim. @returns how many claims were stranded. */
  strandOfDead(self: number, nowMs: number, changes: Changes): number {
    let stranded = 0;
    for (const [id] of this.#othersHold.all([self]) as [number][]) {
      if (isAlive(this.#path, id)) continue;
      stranded += this.#takeFrom(id, nowMs, changes);
      removeLock(this.#path, id);
    }
    return stranded;
  }

  strandExpired(self: number, nowMs: number, changes: Changes): void {
    changes.inFlight -= this.#strandExpired.run([self, nowMs]);
  }

  /** Whether a dead owner's claim could be taken now. Changes nothing, and needs no transaction. */
  hasLeft(self: number): boolean {
    return (this.#othersHold.all([self]) as [number][]).some(([id]) => !isAlive(this.#path, id));
  }

  /** Gives the own claims back as they were, and leaves. */
  leave(self: number, nowMs: number, changes: Changes): void {
    changes.inFlight -= this.#release.run([self, nowMs]);
    this.#remove.run([self]);
  }

  #takeFrom(id: number, nowMs: number, changes: Changes): number {
    const stranded = this.#strand.run([id, nowMs]);
    changes.inFlight -= stranded;
    this.#remove.run([id]);
    return stranded;
  }
}
