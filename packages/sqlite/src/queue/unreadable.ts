import type { Connection, Statement } from '../connection/connection.ts';
import { firstUndamaged } from '../connection/damage.ts';
import { isDamage } from '../connection/sqlite-errors.ts';
import { decodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';

const WHY = 'The row of this delivery cannot be read: it was damaged, or changed by another program.';

/**
 * Moves rows that cannot be read from the queue to the dead-letter queue. Otherwise every claim would fail at the same
 * row, and the deliveries after it would never be handled.
 */
export class UnreadableRows {
  readonly #connection: Connection;
  readonly #totals: Totals;
  readonly #replace: Statement;
  readonly #shelve: Statement;
  readonly #bytes: Statement;
  readonly #dequeue: Statement;
  readonly #name: Statement;
  readonly #placeholder: Statement;
  readonly #shelvePlaceholder: Statement;
  readonly #setAside: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#connection = connection;
    this.#totals = totals;
    // For a row in the queue without contents. The replacement has no headers, so it is unreadable again when it is
    // redriven, and never reaches a handler.
    this.#replace = connection.prepare(
      `INSERT OR IGNORE INTO contents (seq, key, id, is_id_generated, sender, headers, received_ms, bytes, body)
      SELECT seq, key, 'lost-' || seq, 1, NULL, '', received_ms, 0, x'' FROM queue WHERE seq = ?`,
    );
    this.#shelve = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms)
      SELECT c.seq, c.key, c.id, 'dead', ?, q.attempts, ?
      FROM queue q JOIN contents c ON c.seq = q.seq WHERE q.seq = ?`,
    );
    this.#bytes = connection.prepare('SELECT bytes FROM contents WHERE seq = ?');
    this.#dequeue = connection.prepare('DELETE FROM queue WHERE seq = ?');
    // Reads only the index, which may be intact when the row is not.
    this.#name = connection.prepare(
      `SELECT id FROM contents INDEXED BY sqlite_autoindex_contents_1
      WHERE key = (SELECT key FROM queue WHERE seq = ?1) AND +seq = ?1`,
    );
    this.#placeholder = connection.prepare(
      `INSERT INTO contents (key, id, is_id_generated, sender, headers, received_ms, bytes, body)
      SELECT key, 'lost-' || seq, 1, NULL, '', received_ms, 0, x'' FROM queue WHERE seq = ? RETURNING seq`,
    );
    this.#shelvePlaceholder = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms)
      SELECT ?, key, 'lost-' || seq, 'dead', ?, attempts, ? FROM queue WHERE seq = ?`,
    );
    this.#setAside = connection.prepare('UPDATE queue SET state = 5 WHERE seq = ?');
  }

  /** Moves an unclaimed row. Call it within a transaction. */
  moveToDeadLetters(seq: number, nowMs: number, changes: Changes): void {
    this.#replace.run([seq]);
    this.#shelve.run([WHY, nowMs, seq]);
    const [bytes] = this.#bytes.get([seq]) as [number];
    this.#dequeue.run([seq]);
    count(bytes, changes);
    changes.shelvedBytes += bytes;
  }

  /**
   * Does the same for a row on a damaged page, which cannot be changed. A placeholder becomes the dead letter. The row
   * stays, so its id is still known. Do not call it within a transaction.
   *
   * @param left - called within the transaction that takes the row out of the queue.
   */
  moveDamagedToDeadLetters(seq: number, nowMs: number, left: () => void): void {
    const bytes = this.#readIfIntact(this.#bytes, seq);
    const id = this.#readIfIntact(this.#name, seq);
    const name = typeof id === 'string' ? ` Its id is ${JSON.stringify(decodeText(id))}.` : '';
    firstUndamaged([
      () => {
        this.#totals.transaction((changes) => {
          const [placeholder] = this.#placeholder.get([seq]) as [number];
          this.#shelvePlaceholder.run([placeholder, `${WHY}${name}`, nowMs, seq]);
          this.#dequeue.run([seq]);
          left();
          count(typeof bytes === 'number' ? bytes : 0, changes);
        });
      },
      // Nothing can be stored, not even a placeholder, but the other stored deliveries can be handled.
      () => {
        this.#connection.transaction(() => {
          this.#setAside.run([seq]);
          left();
        });
      },
    ]);
  }

  #readIfIntact(query: Statement, seq: number): unknown {
    try {
      return this.#connection.transaction(() => (query.get([seq]) as [unknown] | undefined)?.[0]);
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }
}

function count(bytes: number, changes: Changes): void {
  changes.depth -= 1;
  changes.drained += 1;
  changes.bytes -= bytes;
  changes.shelved += 1;
}
