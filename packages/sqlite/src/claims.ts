import type { ClaimedDelivery } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import { CONTENTS, deliveryOf, isIntact, type ContentsRow } from './contents.ts';
import { isDamage } from './failure.ts';
import type { Owners } from './owners.ts';
import type { Changes, Totals } from './totals.ts';
import { Unreadable } from './unreadable.ts';

/** How a claim is asked for. */
export interface ClaimOptions {
  readonly leaseMs: number;
  readonly nowMs: number;
  readonly isStrandedAllowed: boolean;
}

/**
 * With more waiting than can be claimed there is no hurry to find out whether another owner has died; with less, it is
 * looked at every time.
 */
const LOOK_FOR_DEAD_MS = 1000;

/** After a long night very many retries may be due, and the process stands still until they are all moved. */
const PROMOTED_AT_ONCE = 1000;

/** The same where very many rows cannot be read. */
const BURIED_AT_ONCE = 100;

/** Hands out what is due, the keys in turn. */
export class Claims {
  readonly #totals: Totals;
  readonly #owners: Owners;
  readonly #unreadable: Unreadable;
  readonly #promote: Statement;
  readonly #readyAfter: Statement;
  readonly #firstReady: Statement;
  readonly #nextSuspect: Statement;
  readonly #hold: Statement;
  readonly #contents: Statement;
  readonly #earliestDue: Statement;
  readonly #earliestLease: Statement;
  /** Whose turn it was last, as it is stored. */
  #lastKey = '';
  #lookedForDeadAt = -Infinity;
  /** Whose row is being read: it meets the damage, if one is met then. */
  #reading: number | undefined;

  constructor(connection: Connection, totals: Totals, owners: Owners) {
    this.#totals = totals;
    this.#owners = owners;
    this.#unreadable = new Unreadable(connection, totals);
    this.#promote = connection.prepare(
      `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END
      WHERE seq IN (SELECT seq FROM queue WHERE state = 1 AND due_ms <= ? ORDER BY due_ms LIMIT ?)`,
    );
    const ready = (condition: string): string =>
      `SELECT seq, key FROM queue INDEXED BY queue_ready WHERE state = 0 ${condition} ORDER BY key, due_ms, seq LIMIT 1`;
    this.#readyAfter = connection.prepare(ready('AND key > ?'));
    this.#firstReady = connection.prepare(ready(''));
    this.#nextSuspect = connection.prepare(
      'SELECT seq FROM queue WHERE state = 3 ORDER BY due_ms, seq LIMIT 1',
    );
    this.#hold = connection.prepare(
      `UPDATE queue SET state = 2, owner = ?, lease_ms = ?, attempts = attempts + 1 WHERE seq = ?
      RETURNING attempts, strandings`,
    );
    this.#contents = connection.prepare(`SELECT ${CONTENTS} FROM contents c WHERE seq = ?`);
    const earliest = (state: number): string =>
      `SELECT min(due_ms) AS due FROM queue WHERE state = ${String(state)}`;
    this.#earliestDue = connection.prepare(
      `SELECT min(due) FROM (${[0, 1, 3].map(earliest).join(' UNION ALL ')})`,
    );
    this.#earliestLease = connection.prepare(
      'SELECT min(lease_ms) FROM queue INDEXED BY queue_held WHERE state = 2 AND owner <> ?',
    );
  }

  claim(self: number, count: number, options: ClaimOptions): readonly ClaimedDelivery[] {
    for (let buried = 0; ; buried += 1) {
      try {
        return this.#claim(self, count, options);
      } catch (error) {
        const seq = this.#reading;
        this.#reading = undefined;
        if (!isDamage(error) || seq === undefined || buried === BURIED_AT_ONCE) throw error;
        this.#unreadable.buryDamaged(seq, options.nowMs);
      }
    }
  }

  #claim(self: number, count: number, options: ClaimOptions): readonly ClaimedDelivery[] {
    const { nowMs, isStrandedAllowed } = options;
    // A handler that kills the process has used its attempt.
    return this.#totals.transaction((changes) => {
      this.#promote.run([nowMs, Math.max(count, PROMOTED_AT_ONCE)]);
      this.#owners.strandExpired(self, nowMs, changes);
      let isLookDue = performance.now() - this.#lookedForDeadAt >= LOOK_FOR_DEAD_MS;
      if (isLookDue) this.#lookForDead(self, nowMs, changes);

      const claimed: ClaimedDelivery[] = [];
      let mayTakeSuspect = isStrandedAllowed;
      for (let buried = 0; claimed.length < count && buried < BURIED_AT_ONCE;) {
        const suspect = mayTakeSuspect ? (this.#nextSuspect.get([]) as [number] | undefined) : undefined;
        const seq = suspect === undefined ? this.#takeTurn() : suspect[0];
        if (suspect !== undefined) mayTakeSuspect = false;
        if (seq !== undefined) {
          const taken = this.#take(seq, self, options, changes);
          if (taken === undefined) buried += 1;
          else claimed.push(taken);
        } else if (isLookDue) {
          break;
        } else {
          isLookDue = true;
          if (this.#lookForDead(self, nowMs, changes) === 0) break;
        }
      }
      return claimed;
    });
  }

  /** When something can be claimed next, in ms since 1970. */
  nextDueMs(self: number): number | undefined {
    const [due] = this.#earliestDue.get([]) as [number | null];
    const [lease] = this.#earliestLease.get([self]) as [number | null];
    if (lease !== null && this.#owners.hasLeft(self)) return 0;
    const next = Math.min(due ?? Infinity, lease ?? Infinity);
    return next === Infinity ? undefined : next;
  }

  #lookForDead(self: number, nowMs: number, changes: Changes): number {
    this.#lookedForDeadAt = performance.now();
    return this.#owners.strandOfDead(self, nowMs, changes);
  }

  /** The one that is due of the key after the last one, in the order of the keys and then from the start again. */
  #takeTurn(): number | undefined {
    const next = (this.#readyAfter.get([this.#lastKey]) ?? this.#firstReady.get([])) as
      [number, string] | undefined;
    if (next === undefined) return undefined;
    this.#lastKey = next[1];
    return next[0];
  }

  #take(
    seq: number,
    self: number,
    { leaseMs, nowMs }: ClaimOptions,
    changes: Changes,
  ): ClaimedDelivery | undefined {
    this.#reading = seq;
    const row = this.#contents.get([seq]) as ContentsRow | undefined;
    this.#reading = undefined;
    if (row === undefined || !isIntact(row)) {
      this.#unreadable.bury(seq, nowMs, changes);
      return undefined;
    }
    const [attempt, strandings] = this.#hold.get([self, nowMs + leaseMs, seq]) as [number, number];
    changes.inFlight += 1;
    return { ...deliveryOf(row), attempt, strandings };
  }
}
