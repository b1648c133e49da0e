import type { StoreStats } from '@webhook-backpressure/core';
import { decodeText } from '../records/text.ts';
import type { Server } from '../server/server.ts';

/**
 * The oldest is searched among so many that were stored first. Deliveries are stored at most seconds after they were
 * received, so none of the others is older.
 */
const OLDEST_AMONG = 1000;

interface Row extends Omit<StoreStats, 'oldestReceivedAtMs'> {
  readonly oldestReceivedAtMs: number | null;
}

/** How much the store holds. */
export class Levels {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async stats(): Promise<StoreStats> {
    const { schema } = this.#server;
    const sum = (column: string, name: string): string => `sum(${column})::double precision AS "${name}"`;
    const [row] = await this.#server.query<Row>(
      `SELECT ${sum('depth', 'depth')},
        (SELECT count(*) FROM ${schema}.queue WHERE state = 2)::double precision AS "inFlight",
        ${sum('bytes', 'bytes')}, ${sum('shelved', 'shelved')}, ${sum('shelved_bytes', 'shelvedBytes')},
        ${sum('remembered', 'remembered')}, ${sum('kept', 'kept')}, ${sum('kept_bytes', 'keptBytes')},
        (SELECT min(received_ms) FROM (
          SELECT received_ms FROM ${schema}.queue ORDER BY seq LIMIT ${String(OLDEST_AMONG)}
        ) AS oldest) AS "oldestReceivedAtMs",
        EXISTS (SELECT FROM ${schema}.paused WHERE scope = 'all') AS "isPaused",
        ARRAY(SELECT key FROM ${schema}.paused WHERE scope = 'key') AS "pausedKeys"
      FROM ${schema}.totals`,
    );
    const { oldestReceivedAtMs, pausedKeys, ...rest } = row as Row;
    return {
      ...rest,
      oldestReceivedAtMs: oldestReceivedAtMs ?? undefined,
      pausedKeys: pausedKeys.map(decodeText),
    };
  }

  async depthByKey(): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#server.query<{ key: string; depth: number }>(
      `SELECT key, count(*)::double precision AS depth FROM ${this.#server.schema}.queue GROUP BY key`,
    );
    return new Map(rows.map(({ key, depth }) => [decodeText(key), depth]));
  }

  async noteRoom({ depth, bytes }: { readonly depth: number; readonly bytes: number }): Promise<void> {
    await this.#server.query(
      `UPDATE ${this.#server.schema}.meta SET room_depth = $1, room_bytes = $2
      WHERE room_depth IS DISTINCT FROM $1 OR room_bytes IS DISTINCT FROM $2`,
      [depth, bytes],
    );
  }
}
