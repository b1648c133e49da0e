import { hostname } from 'node:os';
import type { Connection, Statement } from '../connection/connection.ts';
import { isAlive, lockOwner, ownersWithLock, removeLock, type OwnerLock } from '../file/owner-lock.ts';
import type { Changes } from '../tables/totals.ts';

/** How often dead owners are looked for while more deliveries are due than are claimed. Otherwise every claim does so. */
const CHECK_OWNERS_MS = 1000;

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
  readonly #doOthersHold: Statement;
  #checkedAt = -Infinity;

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
    const held = 'SELECT 1 FROM queue INDEXED BY queue_held WHERE state = 2 AND owner';
    this.#doOthersHold = connection.prepare(`SELECT EXISTS (${held} < ?1) OR EXISTS (${held} > ?1)`);
  }

  /** Whether dead owners were not looked for recently. */
  get isCheckDue(): boolean {
    return performance.now() - this.#checkedAt >= CHECK_OWNERS_MS;
  }

  /** Whether another owner holds a claim. Changes nothing, and needs no transaction. */
  doOthersHold(self: number): boolean {
    const [hold] = this.#doOthersHold.get([self]) as [number];
    return hold === 1;
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
    this.#checkedAt = performance.now();
    let stranded = 0;
    for (const [id] of this.#othersHold.all([self]) as [number][]) {
      if (isAlive(this.#path, id)) continue;
      stranded += this.#removeOwner(id, nowMs, changes);
      removeLock(this.#path, id);
    }
    return stranded;
  }

  strandExpired(self: number, nowMs: number, changes: Changes): void {
    // Reads the claims of this owner too, usually thousands while there is no other owner.
    if (this.doOthersHold(self)) changes.inFlight -= this.#strandExpired.run([self, nowMs]);
  }

  /** Dead owners that hold a claim. Changes nothing, and needs no transaction. The next claim takes their claims. */
  deadHolders(self: number): readonly number[] {
    const dead = (this.#othersHold.all([self]) as [number][]).filter(([id]) => !isAlive(this.#path, id));
    if (dead.length > 0) this.#checkedAt = -Infinity;
    return dead.map(([id]) => id);
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
