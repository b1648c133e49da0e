import type { Connection, Statement } from '../file/connection.ts';
import { pastDamage } from '../file/damage.ts';
import { isDamage } from '../file/failure.ts';
import { decodeText } from './text.ts';
import type { Changes, Totals } from './totals.ts';

const WHY = 'Its row in the file cannot be read: something else has changed or damaged it.';

/**
 * Takes rows that cannot be read out of the queue and puts them on the shelf: a claim that met one and failed would
 * meet it again, and nothing behind it would ever be handled.
 */
export class Unreadable {
  readonly #connection: Connection;
  readonly #totals: Totals;
  readonly #replace: Statement;
  readonly #shelve: Statement;
  readonly #bytes: Statement;
  readonly #dequeue: Statement;
  readonly #name: Statement;
  readonly #standIn: Statement;
  readonly #shelveStandIn: Statement;
  readonly #setAside: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#connection = connection;
    this.#totals = totals;
    // For a place in the queue and nothing that it is for, the shelf must still show something. Without headers it can be
    // read no better when it is put back, so no handler ever gets it.
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
    // Answered by the index alone, which may be whole where the row is not.
    this.#name = connection.prepare(
      `SELECT id FROM contents INDEXED BY sqlite_autoindex_contents_1
      WHERE key = (SELECT key FROM queue WHERE seq = ?1) AND +seq = ?1`,
    );
    this.#standIn = connection.prepare(
      `INSERT INTO contents (key, id, is_id_generated, sender, headers, received_ms, bytes, body)
      SELECT key, 'lost-' || seq, 1, NULL, '', received_ms, 0, x'' FROM queue WHERE seq = ? RETURNING seq`,
    );
    this.#shelveStandIn = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms)
      SELECT ?, key, 'lost-' || seq, 'dead', ?, attempts, ? FROM queue WHERE seq = ?`,
    );
    this.#setAside = connection.prepare('UPDATE queue SET state = 5 WHERE seq = ?');
  }

  /** For what nobody has claimed. Called within a transaction. */
  bury(seq: number, nowMs: number, changes: Changes): void {
    this.#replace.run([seq]);
    this.#shelve.run([WHY, nowMs, seq]);
    const [bytes] = this.#bytes.get([seq]) as [number];
    this.#dequeue.run([seq]);
    count(bytes, changes);
    changes.shelvedBytes += bytes;
  }

  /**
   * The same where a page of the row is damaged, which is not touched: whatever would change it would fail. A stand-in
   * goes to the shelf; what is left of the row stays where it is, and its id stays known. Not called within a transaction.
   *
   * @param left - called within the transaction in which it leaves the queue.
   */
  buryDamaged(seq: number, nowMs: number, left: () => void): void {
    const bytes = this.#look(this.#bytes, seq);
    const id = this.#look(this.#name, seq);
    const name = typeof id === 'string' ? ` Its id was ${JSON.stringify(decodeText(id))}.` : '';
    pastDamage([
      () => {
        this.#totals.transaction((changes) => {
          const [standIn] = this.#standIn.get([seq]) as [number];
          this.#shelveStandIn.run([standIn, `${WHY}${name}`, nowMs, seq]);
          this.#dequeue.run([seq]);
          left();
          count(typeof bytes === 'number' ? bytes : 0, changes);
        });
      },
      // Nothing can be stored any more, not even a stand-in; but what else is stored can be handled.
      () => {
        this.#connection.transaction(() => {
          this.#setAside.run([seq]);
          left();
        });
      },
    ]);
  }

  #look(question: Statement, seq: number): unknown {
    try {
      return this.#connection.transaction(() => (question.get([seq]) as [unknown] | undefined)?.[0]);
    } catch (error) {
      if (isDamage(error)) return undefined;
      throw error;
    }
  }
}

function count(bytes: number, changes: Changes): void {
  changes.depth -= 1;
  changes.bytes -= bytes;
  changes.shelved += 1;
}
