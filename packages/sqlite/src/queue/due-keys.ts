import type { DueKey, DueKeys } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { Pauses } from '../tables/pauses.ts';
import { decodeText } from '../tables/text.ts';
import type { Owners } from './owners.ts';

/** A page reads at least so many keys: with `dueByMs`, most may be left out. */
const MIN_READ = 1000;

type KeyRow = readonly [key: string, readyMs: number, waitingMs: number, suspectMs: number, leaseMs: number];

/** Lists keys that have something to claim, in the order of the stored keys. */
export class DueKeysQuery {
  readonly #owners: Owners;
  readonly #pauses: Pauses;
  readonly #first: Statement;
  readonly #after: Statement;

  constructor(connection: Connection, owners: Owners) {
    this.#owners = owners;
    this.#pauses = new Pauses(connection);
    const earliest = (column: string, index: string, condition: string): string =>
      `coalesce((SELECT min(${column}) FROM queue INDEXED BY ${index} WHERE key = walk.key AND ${condition}), 9e999)`;
    // Walks from key to key, whatever each of them has. The claims of dead owners, the last parameter, can be taken now.
    const keys = (condition: string): string =>
      `WITH RECURSIVE walk(key) AS (
        SELECT min(key) FROM queue INDEXED BY queue_key ${condition}
        UNION ALL
        SELECT (SELECT min(key) FROM queue INDEXED BY queue_key WHERE queue.key > walk.key) FROM walk
        WHERE walk.key IS NOT NULL
      )
      SELECT key,
        ${earliest('due_ms', 'queue_ready', 'state = 0')},
        ${earliest('due_ms', 'queue_waiting', 'state = 1')},
        ${earliest('due_ms', 'queue_suspect', 'state = 3')},
        ${earliest(
          'CASE WHEN owner IN (SELECT value FROM json_each(?3)) THEN 0 ELSE lease_ms END',
          'queue_claimed',
          'state = 2 AND owner <> ?2',
        )}
      FROM walk WHERE key IS NOT NULL LIMIT ?4`;
    this.#first = connection.prepare(keys(`WHERE key >= ?1`));
    this.#after = connection.prepare(keys(`WHERE key > ?1`));
  }

  list(
    self: number,
    {
      after,
      limit,
      dueByMs,
    }: { readonly after: string | undefined; readonly limit: number; readonly dueByMs: number },
  ): DueKeys {
    const paused = this.#pauses.read();
    if (paused.isAll) return { keys: [], next: undefined };
    const pausedKeys = new Set(paused.keys);
    const most = Math.max(limit, MIN_READ);
    const query = after === undefined ? this.#first : this.#after;
    const dead = JSON.stringify(this.#owners.deadHolders(self));
    const rows = query.all([after ?? '', self, dead, most]) as KeyRow[];
    const keys: DueKey[] = [];
    for (const [at, [key, ...times]] of rows.entries()) {
      const nextDueMs = Math.min(...times);
      if (nextDueMs === Infinity || nextDueMs > dueByMs || pausedKeys.has(key)) continue;
      keys.push({ key: decodeText(key), nextDueMs });
      if (keys.length === limit && at < rows.length - 1) return { keys, next: key };
    }
    return { keys, next: rows.length === most ? rows.at(-1)?.[0] : undefined };
  }
}
