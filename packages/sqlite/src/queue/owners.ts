import { encodeText } from '@webhook-backpressure/inbox/store';
import { hostname } from 'node:os';
import type { ClaimRef } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import { isAlive, lockOwner, ownersWithLock, removeLock, type OwnerLock } from '../file/owner-lock.ts';
import type { Totals } from '../tables/totals.ts';

/** How often dead owners are looked for while more deliveries are due than are claimed. Otherwise every claim does so. */
const CHECK_OWNERS_MS = 1000;

const HELD = 'SELECT 1 FROM queue INDEXED BY queue_held WHERE state = 2 AND owner';
const OTHERS_HOLD = `SELECT EXISTS (${HELD} < ?1) OR EXISTS (${HELD} > ?1)`;
const HOLDERS = 'SELECT DISTINCT owner FROM queue INDEXED BY queue_held WHERE state = 2 AND owner <> ?';
const STRAND = `UPDATE queue INDEXED BY queue_held SET state = 3,
  strandings = min(strandings, ${String(Number.MAX_SAFE_INTEGER - 1)}) + 1,
  due_ms = min(due_ms, ?2), owner = NULL, lease_ms = NULL
  WHERE state = 2 AND`;
const STRAND_OF = `${STRAND} owner = ?1`;
const STRAND_EXPIRED = `${STRAND} owner <> ?1 AND lease_ms <= ?2`;

/** An owner whose thread has ended, while its process is still handling claimed deliveries. */
export interface Predecessor {
  readonly owner: number;
  /** The claims that reached the process. The deliveries of the others have not been started. */
  readonly held: readonly ClaimRef[];
}

/**
 * The owners of the file, which are the open stores, and the claims of owners that died. A claim whose owner died or
 * whose lease expired is stranded: its delivery is due immediately, as suspect.
 *
 * Call every method within a transaction.
 */
export class Owners {
  readonly #connection: Connection;
  readonly #path: string;
  #checkedAt = -Infinity;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#path = connection.location;
  }

  /** Whether dead owners were not looked for recently. */
  get isCheckDue(): boolean {
    return performance.now() - this.#checkedAt >= CHECK_OWNERS_MS;
  }

  /** Whether another owner holds a claim. Changes nothing, and needs no transaction. */
  doOthersHold(self: number): boolean {
    const [hold] = this.#connection.get(OTHERS_HOLD, [self]) as [number];
    return hold === 1;
  }

  /** Adds an owner and takes its lock. */
  register(nowMs: number): { readonly id: number; readonly lock: OwnerLock } {
    const [id] = this.#connection.get(
      'INSERT INTO owners (pid, host, since_ms) VALUES (?, ?, ?) RETURNING id',
      [process.pid, hostname(), nowMs],
    ) as [number];
    return { id, lock: lockOwner(this.#path, id) };
  }

  /** Strands the claims of all dead owners, and removes these owners. */
  removeDead(self: number, nowMs: number, changes: Totals): void {
    const rows = this.#connection.all('SELECT id FROM owners WHERE id <> ?', [self]) as [number][];
    const known = rows.map(([id]) => id);
    for (const id of new Set([...known, ...ownersWithLock(this.#path)])) {
      if (id !== self && !isAlive(this.#path, id)) this.#removeDead(id, nowMs, changes);
    }
  }

  /** Does the same for dead owners that hold a claim. @returns how many claims were stranded. */
  strandOfDead(self: number, nowMs: number, changes: Totals): number {
    const dead = this.deadHolders(self);
    this.#checkedAt = performance.now();
    return dead.reduce((sum, id) => sum + this.#removeDead(id, nowMs, changes), 0);
  }

  strandExpired(self: number, nowMs: number, changes: Totals): void {
    // Reads the claims of this owner too, usually thousands while there is no other owner.
    if (this.doOthersHold(self)) changes.inFlight -= this.#connection.run(STRAND_EXPIRED, [self, nowMs]);
  }

  /** Dead owners that hold a claim. Changes nothing, and needs no transaction. The next claim takes their claims. */
  deadHolders(self: number): readonly number[] {
    const holders = this.#connection.all(HOLDERS, [self]) as [number][];
    const dead = holders.map(([id]) => id).filter((id) => !isAlive(this.#path, id));
    if (dead.length > 0) this.#checkedAt = -Infinity;
    return dead;
  }

  /**
   * Transfers the claims of an owner to the next owner of the same process, whose handlers keep running, so that they are
   * not stranded. Call it before dead owners are removed.
   */
  takeOver(self: number, { owner, held }: Predecessor, nowMs: number, changes: Totals): void {
    for (const { key, id, attempt } of held) {
      this.#connection.run(
        `UPDATE queue SET owner = ?1 WHERE owner = ?2 AND state = 2 AND attempts = ?3
          AND seq = (SELECT seq FROM contents WHERE key = ?4 AND id = ?5)`,
        [self, owner, attempt, encodeText(key), encodeText(id)],
      );
    }
    this.leave(owner, nowMs, changes);
    removeLock(this.#path, owner);
  }

  /** Releases the claims of an owner, without using their attempts, and removes the owner. */
  leave(owner: number, nowMs: number, changes: Totals): void {
    changes.inFlight -= this.#connection.run(
      `UPDATE queue INDEXED BY queue_held SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END,
        attempts = attempts - 1, due_ms = min(due_ms, ?2), owner = NULL, lease_ms = NULL
      WHERE state = 2 AND owner = ?1`,
      [owner, nowMs],
    );
    this.#remove(owner);
  }

  #removeDead(id: number, nowMs: number, changes: Totals): number {
    const stranded = this.#connection.run(STRAND_OF, [id, nowMs]);
    changes.inFlight -= stranded;
    this.#remove(id);
    removeLock(this.#path, id);
    return stranded;
  }

  #remove(id: number): void {
    this.#connection.run('DELETE FROM owners WHERE id = ?', [id]);
  }
}
