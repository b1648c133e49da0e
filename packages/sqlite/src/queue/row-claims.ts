import { decodeText } from '@webhook-backpressure/inbox/store';
import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import { isDamage } from '../connection/sqlite-errors.ts';
import { CONTENTS, deliveryOf, isIntact, type ContentsRow } from '../tables/contents.ts';
import { leaveOrder } from '../tables/order.ts';
import { counted, type Totals } from '../tables/totals.ts';

/** A row of the queue, with its key as stored. */
export type QueueRow = readonly [seq: number, key: string];

/** Bounds the time of a claim when very many rows cannot be read. */
export const MAX_UNREADABLE = 100;

const WHY = 'The row of this delivery cannot be read: it was damaged, or changed by another program.';

/** The number of attempts may be any integer, after damage or because of another program. */
const CLAIM = `UPDATE queue SET state = 2, owner = ?, lease_ms = ?,
  attempts = min(attempts, ${String(Number.MAX_SAFE_INTEGER - 1)}) + 1 WHERE seq = ? RETURNING attempts, strandings`;
const CONTENTS_OF = `SELECT ${CONTENTS} FROM contents c WHERE seq = ?`;
const BYTES = 'SELECT bytes FROM contents WHERE seq = ?';
/** Reads only the index, which may be intact when the row is not. */
const ID = `SELECT id FROM contents INDEXED BY sqlite_autoindex_contents_1
  WHERE key = (SELECT key FROM queue WHERE seq = ?1) AND +seq = ?1`;
/**
 * In place of a row that cannot be read. It has no headers, so it is unreadable again when it is redriven, and never
 * reaches a handler. Its id is random, so that no delivery has it.
 */
const PLACEHOLDER = `key, 'lost-' || lower(hex(randomblob(8))), 1, NULL, '', received_ms, 0, x'' FROM queue WHERE seq = ?`;

/**
 * Claims single rows, and moves those that cannot be read to the dead-letter queue. Otherwise every claim would fail at
 * the same row, and the deliveries after it would never be handled.
 */
export class RowClaims {
  readonly #connection: Connection;
  /** The row being read, which is on the damaged page if the read fails. */
  #reading: QueueRow | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
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
        this.#replaceDamaged(row, nowMs);
      }
    }
  }

  /** @returns undefined if the row cannot be read: then it is a dead letter now. Call it within a transaction. */
  take(
    queued: QueueRow,
    self: number,
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
    changes: Totals,
  ): ClaimedDelivery | undefined {
    const [seq] = queued;
    this.#reading = queued;
    const row = this.#connection.get(CONTENTS_OF, [seq]) as ContentsRow | undefined;
    this.#reading = undefined;
    if (row === undefined || !isIntact(row)) {
      this.#bury(queued, nowMs, changes);
      return undefined;
    }
    const [attempt, strandings] = this.#connection.get(CLAIM, [self, nowMs + leaseMs, seq]) as [
      number,
      number,
    ];
    changes.inFlight += 1;
    return { ...deliveryOf(row), attempt, strandings };
  }

  /** Makes a dead letter of a row without contents, or whose contents were changed. Call it within a transaction. */
  #bury(row: QueueRow, nowMs: number, changes: Totals): void {
    const [seq] = row;
    this.#connection.run(
      `INSERT OR IGNORE INTO contents (seq, key, id, is_id_generated, sender, facts, received_ms, bytes, body)
      SELECT seq, ${PLACEHOLDER}`,
      [seq],
    );
    this.#connection.run(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms)
      SELECT c.seq, c.key, c.id, 'dead', ?, q.attempts, ?
      FROM queue q JOIN contents c ON c.seq = q.seq WHERE q.seq = ?`,
      [WHY, nowMs, seq],
    );
    const [bytes] = this.#connection.get(BYTES, [seq]) as [number];
    this.#dequeue(row, bytes, nowMs, changes);
    changes.deadLetterBytes += bytes;
  }

  /**
   * A row on a damaged page cannot be changed. A placeholder becomes the dead letter. The row stays, so its id is still
   * known.
   */
  #replaceDamaged(row: QueueRow, nowMs: number): void {
    const [seq] = row;
    const bytes = this.#readIfIntact(BYTES, seq);
    const id = this.#readIfIntact(ID, seq);
    const name = typeof id === 'string' ? ` Its id is ${JSON.stringify(decodeText(id))}.` : '';
    counted(this.#connection, (changes) => {
      const [placeholder] = this.#connection.get(
        `INSERT INTO contents (key, id, is_id_generated, sender, facts, received_ms, bytes, body)
        SELECT ${PLACEHOLDER} RETURNING seq`,
        [seq],
      ) as [number];
      this.#connection.run(
        `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms)
        SELECT c.seq, c.key, c.id, 'dead', ?, q.attempts, ? FROM queue q JOIN contents c ON c.seq = ? WHERE q.seq = ?`,
        [`${WHY}${name}`, nowMs, placeholder, seq],
      );
      this.#dequeue(row, typeof bytes === 'number' ? bytes : 0, nowMs, changes);
    });
  }

  #dequeue([seq, key]: QueueRow, bytes: number, nowMs: number, changes: Totals): void {
    this.#connection.run('DELETE FROM queue WHERE seq = ?', [seq]);
    changes.depth -= 1;
    changes.drained += 1;
    changes.bytes -= bytes;
    changes.deadLetters += 1;
    leaveOrder(this.#connection, seq, key, nowMs);
  }

  #readIfIntact(sql: string, seq: number): unknown {
    try {
      return this.#connection.transaction(
        () => (this.#connection.get(sql, [seq]) as [unknown] | undefined)?.[0],
      );
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }
}
