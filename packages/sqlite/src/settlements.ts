import type { ClaimRef, Settlement } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import type { Kept } from './kept.ts';
import type { CompletedId, Remembered } from './remembered.ts';
import { encodeText } from './text.ts';
import type { Changes, Totals } from './totals.ts';

/** A delivery whose claim is still held. */
interface Held {
  readonly seq: number;
  readonly key: string;
  readonly id: string;
  readonly bytes: number;
  readonly isIdGenerated: boolean;
  /** What its body is recognised by. */
  readonly sum: number | null;
}

/** Renews and ends claims, those only that their owner still holds. */
export class Settlements {
  readonly #connection: Connection;
  readonly #totals: Totals;
  readonly #remembered: Remembered;
  readonly #kept: Kept;
  readonly #held: Statement;
  readonly #renew: Statement;
  readonly #retry: Statement;
  readonly #repeat: Statement;
  readonly #release: Statement;
  readonly #hasten: Statement;
  readonly #dequeue: Statement;
  readonly #remove: Statement;
  readonly #shelve: Statement;

  constructor(connection: Connection, totals: Totals, remembered: Remembered, kept: Kept) {
    this.#connection = connection;
    this.#totals = totals;
    this.#remembered = remembered;
    this.#kept = kept;
    this.#held = connection.prepare(
      `SELECT c.seq, c.bytes, c.is_id_generated, q.sum FROM contents c JOIN queue q ON q.seq = c.seq
      WHERE c.key = ? AND c.id = ? AND q.state = 2 AND q.owner = ? AND q.attempts = ?`,
    );
    this.#renew = connection.prepare('UPDATE queue SET lease_ms = ? WHERE seq = ?');
    this.#retry = connection.prepare(
      'UPDATE queue SET state = 1, due_ms = ?, owner = NULL, lease_ms = NULL WHERE seq = ?',
    );
    this.#repeat = connection.prepare('UPDATE queue SET attempts = attempts - 1 WHERE seq = ?');
    this.#release = connection.prepare(
      `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = min(due_ms, ?), owner = NULL, lease_ms = NULL
      WHERE seq = ?`,
    );
    this.#hasten = connection.prepare(
      `UPDATE queue SET due_ms = ?
      WHERE seq IN (SELECT seq FROM queue WHERE state = 1 AND due_ms > ? LIMIT ?)`,
    );
    this.#dequeue = connection.prepare('DELETE FROM queue WHERE seq = ?');
    this.#remove = connection.prepare('DELETE FROM contents WHERE seq = ?');
    this.#shelve = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms, sum) VALUES (?, ?, ?, 'dead', ?, ?, ?, ?)`,
    );
  }

  renew(
    self: number,
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): readonly boolean[] {
    return this.#connection.quickTransaction(() =>
      claims.map((claim) => {
        const held = this.#find(claim, self);
        if (held !== undefined) this.#renew.run([nowMs + leaseMs, held.seq]);
        return held !== undefined;
      }),
    );
  }

  settle(self: number, settlements: readonly Settlement[], nowMs: number): readonly boolean[] {
    return this.#totals.transaction((changes) => {
      const completed: CompletedId[] = [];
      const held = settlements.map((settlement) => {
        const found = this.#find(settlement, self);
        if (found === undefined) return false;
        this.#end(found, settlement, nowMs, changes);
        const { key, id } = settlement;
        if (settlement.as === 'completed' && !found.isIdGenerated)
          completed.push({ key, id, sum: found.sum });
        return true;
      });
      this.#remembered.add(completed, nowMs, changes);
      return held;
    });
  }

  hasten({ afterMs, nowMs, limit }: { afterMs: number; nowMs: number; limit: number }): number {
    return this.#connection.transaction(() => this.#hasten.run([nowMs, afterMs, limit]));
  }

  #find(claim: ClaimRef, self: number): Held | undefined {
    const key = encodeText(claim.key);
    const id = encodeText(claim.id);
    const row = this.#held.get([key, id, self, claim.attempt]) as
      [number, number, number, number | null] | undefined;
    if (row === undefined) return undefined;
    const [seq, bytes, isIdGenerated, sum] = row;
    return { seq, key, id, bytes, isIdGenerated: isIdGenerated === 1, sum };
  }

  #end(held: Held, settlement: Settlement, nowMs: number, changes: Changes): void {
    const { seq, key, id, bytes, sum } = held;
    changes.inFlight -= 1;
    switch (settlement.as) {
      case 'failed':
        this.#retry.run([settlement.retryAtMs, seq]);
        if (settlement.isRepeated === true) this.#repeat.run([seq]);
        return;
      case 'released':
        this.#release.run([nowMs, seq]);
        return;
      case 'dead':
        this.#shelve.run([seq, key, id, encodeText(settlement.error), settlement.attempt, nowMs, sum]);
        changes.shelved += 1;
        changes.shelvedBytes += bytes;
        break;
      case 'completed':
        if (settlement.keep) this.#kept.add({ ...held, attempts: settlement.attempt }, nowMs, changes);
        else this.#remove.run([seq]);
    }
    this.#dequeue.run([seq]);
    changes.depth -= 1;
    changes.bytes -= bytes;
  }
}
