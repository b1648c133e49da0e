import type { Connection, Statement } from './connection.ts';
import type { Changes } from './totals.ts';

const WHY = 'Its row in the file cannot be read: something else has changed or damaged it.';

/**
 * Takes rows that cannot be read out of the queue and puts them on the shelf: a claim that met one and failed would
 * meet it again, and nothing behind it would ever be handled.
 */
export class Unreadable {
  readonly #replace: Statement;
  readonly #shelve: Statement;
  readonly #bytes: Statement;
  readonly #dequeue: Statement;

  constructor(connection: Connection) {
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
  }

  /** For what nobody has claimed. Called within a transaction. */
  bury(seq: number, nowMs: number, changes: Changes): void {
    this.#replace.run([seq]);
    this.#shelve.run([WHY, nowMs, seq]);
    const [bytes] = this.#bytes.get([seq]) as [number];
    this.#dequeue.run([seq]);
    changes.depth -= 1;
    changes.bytes -= bytes;
    changes.shelved += 1;
    changes.shelvedBytes += bytes;
  }
}
