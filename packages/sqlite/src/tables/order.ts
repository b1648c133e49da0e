import type { Connection, Statement } from '../connection/connection.ts';

/**
 * Keeps the deliveries of a key strictly first in, first out, if the file is in this mode. Only the head of a key can be
 * claimed; the others are in state 4. When the head has ended, the next delivery becomes the head. Without the mode,
 * nothing is written.
 *
 * Call every method within a transaction.
 */
export class Order {
  readonly #read: Statement;
  readonly #set: Statement;
  readonly #becomeHead: Statement;
  readonly #endHead: Statement;
  readonly #nextBehind: Statement;
  readonly #promote: Statement;
  readonly #findHeads: Statement;
  readonly #forgetHeads: Statement;
  readonly #moveBehind: Statement;
  readonly #moveAll: Statement;

  constructor(connection: Connection) {
    this.#read = connection.prepare('SELECT is_ordered FROM totals');
    this.#set = connection.prepare('UPDATE totals SET is_ordered = ?');
    this.#becomeHead = connection.prepare(
      'INSERT INTO heads (key, seq) VALUES (?, ?) ON CONFLICT DO NOTHING',
    );
    this.#endHead = connection.prepare('DELETE FROM heads WHERE key = ? AND seq = ?');
    this.#nextBehind = connection.prepare(
      'SELECT seq FROM queue INDEXED BY queue_behind WHERE state = 4 AND key = ? ORDER BY seq LIMIT 1',
    );
    // A delivery without attempts is due, even if the clock was ahead when it was stored.
    const due = `CASE WHEN attempts > 0 AND due_ms > ?1 THEN 1 WHEN strandings > 0 THEN 3 ELSE 0 END,
        due_ms = CASE WHEN attempts = 0 THEN min(due_ms, ?1) ELSE due_ms END`;
    this.#promote = connection.prepare(`UPDATE queue SET state = ${due} WHERE seq = ?2`);
    // A delivery that is being handled stays the head.
    this.#findHeads = connection.prepare(
      `INSERT INTO heads (key, seq)
      SELECT key, coalesce(min(CASE WHEN state = 2 THEN seq END), min(seq)) FROM queue GROUP BY key`,
    );
    this.#forgetHeads = connection.prepare('DELETE FROM heads');
    this.#moveBehind = connection.prepare(
      `UPDATE queue SET state = 4
      WHERE state IN (0, 1, 3) AND seq <> (SELECT seq FROM heads WHERE heads.key = queue.key)`,
    );
    this.#moveAll = connection.prepare(`UPDATE queue SET state = ${due} WHERE state = 4`);
  }

  isOrdered(): boolean {
    const [isOrdered] = this.#read.get([]) as [number];
    return isOrdered === 1;
  }

  /** @returns the state of a delivery that enters the queue: 0, ready, or 4, behind another of its key. */
  stateOf(seq: number, key: string): 0 | 4 {
    return this.#becomeHead.run([key, seq]) === 1 ? 0 : 4;
  }

  /** Call it for each delivery that has left the queue. */
  ended(seq: number, key: string, nowMs: number): void {
    if (this.#endHead.run([key, seq]) === 0) return;
    const next = this.#nextBehind.get([key]) as [number] | undefined;
    if (next === undefined) return;
    this.#becomeHead.run([key, next[0]]);
    this.#promote.run([nowMs, next[0]]);
  }

  /** Converts the queue if the mode changes, which takes a second for a million deliveries. */
  set(isOrdered: boolean, nowMs: number): void {
    if (isOrdered === this.isOrdered()) return;
    this.#set.run([Number(isOrdered)]);
    this.#forgetHeads.run([]);
    if (isOrdered) {
      this.#findHeads.run([]);
      this.#moveBehind.run([]);
    } else {
      this.#moveAll.run([nowMs]);
    }
  }
}
