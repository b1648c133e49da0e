import type { ClaimRef, Settlement } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import { around, type Way } from './damage.ts';
import type { DiskRoom } from './disk-room.ts';
import { Order } from './order.ts';
import { encodeText } from './text.ts';
import type { Changes, Totals } from './totals.ts';

/** A delivery whose claim is still held. */
interface Held {
  readonly seq: number;
  readonly key: string;
  readonly id: string;
  readonly bytes: number;
  readonly isIdGenerated: boolean;
  /** Whether the file keeps an order within a key. */
  readonly isOrdered: boolean;
}

/** Renews and ends claims, those only that their owner still holds. */
export class Settlements {
  readonly #connection: Connection;
  readonly #totals: Totals;
  readonly #order: Order;
  readonly #room: DiskRoom;
  readonly #held: Statement;
  readonly #heldPastIds: Statement;
  readonly #renew: Statement;
  readonly #retry: Statement;
  readonly #release: Statement;
  readonly #postpone: Statement;
  readonly #hasten: Statement;
  readonly #dequeue: Statement;
  readonly #remove: Statement;
  readonly #remember: Statement;
  readonly #shelve: Statement;

  constructor(connection: Connection, totals: Totals, room: DiskRoom) {
    this.#connection = connection;
    this.#totals = totals;
    this.#order = new Order(connection);
    this.#room = room;
    this.#held = connection.prepare(
      `SELECT c.seq, c.bytes, c.is_id_generated, (SELECT is_ordered FROM totals) FROM contents c JOIN queue q ON q.seq = c.seq
      WHERE c.key = ? AND c.id = ? AND q.state = 2 AND q.owner = ? AND q.attempts = ?`,
    );
    // The same without the index of keys and ids: by way of what this owner holds, which is little.
    this.#heldPastIds = connection.prepare(
      `SELECT c.seq, c.bytes, c.is_id_generated, (SELECT is_ordered FROM totals) FROM queue q INDEXED BY queue_held CROSS JOIN contents c ON c.seq = q.seq
      WHERE q.state = 2 AND q.owner = ?3 AND q.attempts = ?4 AND +c.key = ?1 AND +c.id = ?2`,
    );
    this.#renew = connection.prepare('UPDATE queue SET lease_ms = ? WHERE seq = ?');
    this.#retry = connection.prepare(
      'UPDATE queue SET state = 1, due_ms = ?, owner = NULL, lease_ms = NULL WHERE seq = ?',
    );
    this.#release = connection.prepare(
      `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = min(due_ms, ?), owner = NULL, lease_ms = NULL
      WHERE seq = ?`,
    );
    this.#postpone = connection.prepare(
      'UPDATE queue SET state = 1, attempts = attempts - 1, due_ms = ?, owner = NULL, lease_ms = NULL WHERE seq = ?',
    );
    this.#hasten = connection.prepare(
      `UPDATE queue SET due_ms = ?
      WHERE seq IN (SELECT seq FROM queue WHERE state = 1 AND due_ms > ? LIMIT ?)`,
    );
    this.#dequeue = connection.prepare('DELETE FROM queue WHERE seq = ?');
    this.#remove = connection.prepare('DELETE FROM contents WHERE seq = ?');
    this.#remember = connection.prepare(
      'INSERT OR REPLACE INTO completed (key, id, completed_ms) VALUES (?, ?, ?)',
    );
    this.#shelve = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms) VALUES (?, ?, ?, 'dead', ?, ?, ?)`,
    );
  }

  renew(
    self: number,
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): readonly boolean[] {
    return around(claims, (some, way) =>
      this.#connection.transaction(() =>
        some.map((claim) => {
          const held = this.#find(claim, self, way);
          if (held !== undefined) this.#renew.run([nowMs + leaseMs, held.seq]);
          return held !== undefined;
        }),
      ),
    );
  }

  settle(self: number, settlements: readonly Settlement[], nowMs: number): readonly boolean[] {
    return around(settlements, (some, way) =>
      this.#totals.transaction((changes) =>
        some.map((settlement) => {
          const held = this.#find(settlement, self, way);
          if (held === undefined) return false;
          const isFinished = this.#end(held, settlement, nowMs, changes, way);
          if (isFinished && held.isOrdered) this.#order.ended(held.seq, held.key, nowMs);
          return true;
        }),
      ),
    );
  }

  hasten({ afterMs, nowMs, limit }: { afterMs: number; nowMs: number; limit: number }): number {
    return this.#connection.transaction(() => this.#hasten.run([nowMs, afterMs, limit]));
  }

  #find(claim: ClaimRef, self: number, { usesIds }: Way): Held | undefined {
    const key = encodeText(claim.key);
    const id = encodeText(claim.id);
    const find = usesIds ? this.#held : this.#heldPastIds;
    const row = find.get([key, id, self, claim.attempt]) as [number, number, number, number] | undefined;
    if (row === undefined) return undefined;
    const [seq, bytes, isIdGenerated, isOrdered] = row;
    return { seq, key, id, bytes, isIdGenerated: isIdGenerated === 1, isOrdered: isOrdered === 1 };
  }

  /** Whether it has left the queue. */
  #end(held: Held, settlement: Settlement, nowMs: number, changes: Changes, { removesRows }: Way): boolean {
    const { seq, key, id, bytes, isIdGenerated } = held;
    changes.inFlight -= 1;
    switch (settlement.as) {
      case 'failed':
        this.#retry.run([settlement.retryAtMs, seq]);
        return false;
      case 'released':
        if (settlement.retryAtMs === undefined) this.#release.run([nowMs, seq]);
        else this.#postpone.run([settlement.retryAtMs, seq]);
        return false;
      case 'dead':
        this.#shelve.run([
          seq,
          key,
          id,
          encodeText(this.#room.fitting(settlement.error)),
          settlement.attempt,
          nowMs,
        ]);
        changes.shelved += 1;
        changes.shelvedBytes += bytes;
        break;
      case 'completed':
        if (removesRows) this.#remove.run([seq]);
        if (isIdGenerated) break;
        this.#remember.run([key, id, nowMs]);
        changes.remembered += 1;
    }
    this.#dequeue.run([seq]);
    changes.depth -= 1;
    changes.bytes -= bytes;
    return true;
  }
}
