import type { Connection } from '../connection/connection.ts';

// Keeps the deliveries of a key strictly first in, first out, if the file is in this mode. Only the head of a key can be
// claimed; the others are in state 4. When the head has ended, the next delivery becomes the head. Without the mode,
// nothing is written. Call every function within a transaction.

/** A delivery without attempts is due, even if the clock was ahead when it was stored. `?1` is the time. */
const DUE = `state = CASE WHEN attempts > 0 AND due_ms > ?1 THEN 1 WHEN strandings > 0 THEN 3 ELSE 0 END,
  due_ms = CASE WHEN attempts = 0 THEN min(due_ms, ?1) ELSE due_ms END`;
const PROMOTE = `UPDATE queue SET ${DUE} WHERE seq = ?2`;
const BECOME_HEAD = 'INSERT INTO heads (key, seq) VALUES (?, ?) ON CONFLICT DO NOTHING';

export function isOrdered(connection: Connection): boolean {
  const [ordered] = connection.get('SELECT is_ordered FROM totals') as [number];
  return ordered === 1;
}

/** @returns the state of a delivery that enters an ordered queue: 0, ready, or 4, behind another of its key. */
export function enterOrder(connection: Connection, seq: number, key: string): 0 | 4 {
  return connection.run(BECOME_HEAD, [key, seq]) === 1 ? 0 : 4;
}

/** Call it for each delivery that has left the queue. */
export function leaveOrder(connection: Connection, seq: number, key: string, nowMs: number): void {
  if (connection.run('DELETE FROM heads WHERE key = ? AND seq = ?', [key, seq]) === 0) return;
  const next = connection.get(
    'SELECT seq FROM queue INDEXED BY queue_behind WHERE state = 4 AND key = ? ORDER BY seq LIMIT 1',
    [key],
  ) as [number] | undefined;
  if (next === undefined) return;
  connection.run(BECOME_HEAD, [key, next[0]]);
  connection.run(PROMOTE, [nowMs, next[0]]);
}

/** Converts the queue if the mode changes, which takes a second for a million deliveries. */
export function setOrdered(connection: Connection, ordered: boolean, nowMs: number): void {
  if (ordered === isOrdered(connection)) return;
  connection.run('UPDATE totals SET is_ordered = ?', [Number(ordered)]);
  connection.run('DELETE FROM heads');
  if (!ordered) {
    connection.run(`UPDATE queue SET ${DUE} WHERE state = 4`, [nowMs]);
    return;
  }
  // A delivery that is being handled stays the head.
  connection.run(
    `INSERT INTO heads (key, seq)
    SELECT key, coalesce(min(CASE WHEN state = 2 THEN seq END), min(seq)) FROM queue GROUP BY key`,
  );
  connection.run(
    `UPDATE queue SET state = 4
    WHERE state IN (0, 1, 3) AND seq <> (SELECT seq FROM heads WHERE heads.key = queue.key)`,
  );
}
