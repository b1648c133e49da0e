import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { isDamage } from '../connection/sqlite-errors.ts';
import { CONTENTS, deliveryOf, isIntact, type ContentsRow } from '../tables/contents.ts';
import { Order } from '../tables/order.ts';
import type { Changes, Totals } from '../tables/totals.ts';
import { UnreadableRows } from './unreadable.ts';

/** A row of the queue, with its key as stored. */
export type QueueRow = readonly [seq: number, key: string];

/** Bounds the time of a claim when very many rows cannot be read. */
export const MAX_UNREADABLE = 100;

/** Claims single rows, and moves those that cannot be read to the dead-letter queue. */
export class RowClaims {
  readonly #unreadable: UnreadableRows;
  readonly #order: Order;
  readonly #hold: Statement;
  readonly #contents: Statement;
  /** The row being read, which is on the damaged page if the read fails. */
  #reading: QueueRow | undefined;

  constructor(connection: Connection, totals: Totals) {
    this.#unreadable = new UnreadableRows(connection, totals);
    this.#order = new Order(connection);
    this.#hold = connection.prepare(
      `UPDATE queue SET state = 2, owner = ?, lease_ms = ?, attempts = attempts + 1 WHERE seq = ?
      RETURNING attempts, strandings`,
    );
    this.#contents = connection.prepare(`SELECT ${CONTENTS} FROM contents c WHERE seq = ?`);
  }

  /** Calls `claim`, again after each row on a damaged page has been moved to the dead-letter queue. */
  withoutDamaged<T>(nowMs: number, claim: () => T): T {
    for (let unreadable = 0; ; unreadable += 1) {
      try {
        return claim();
      } catch (error) {
        const row = this.#reading;
        this.#reading = undefined;
        if (!isDamage(error) || row === undefined || unreadable === MAX_UNREADABLE) throw error;
        this.#unreadable.moveDamagedToDeadLetters(row[0], nowMs, () => {
          this.#left(row, nowMs);
        });
      }
    }
  }

  /** @returns undefined if the row cannot be read: then it is a dead letter now. Call it within a transaction. */
  take(
    queued: QueueRow,
    self: number,
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
    changes: Changes,
  ): ClaimedDelivery | undefined {
    const [seq] = queued;
    this.#reading = queued;
    const row = this.#contents.get([seq]) as ContentsRow | undefined;
    this.#reading = undefined;
    if (row === undefined || !isIntact(row)) {
      this.#unreadable.moveToDeadLetters(seq, nowMs, changes);
      this.#left(queued, nowMs);
      return undefined;
    }
    const [attempt, strandings] = this.#hold.get([self, nowMs + leaseMs, seq]) as [number, number];
    changes.inFlight += 1;
    return { ...deliveryOf(row), attempt, strandings };
  }

  /** Call it for a row that has left the queue without being claimed. */
  #left([seq, key]: QueueRow, nowMs: number): void {
    if (this.#order.isOrdered()) this.#order.ended(seq, key, nowMs);
  }
}
