import type { StoreStats } from '@webhook-backpressure/inbox';
import { decodeText } from '../records/text.ts';
import type { Server } from '../server/server.ts';
import { OrderWatch } from './order-watch.ts';

/** Visiting more index entries than this takes more than 2 ms: claimed deliveries cannot be removed from the indexes. */
const MANY = 5000;
/** How long counts are used that took long. */
const RECOUNT_MS = 5000;

interface Totals extends Omit<StoreStats, 'inFlight' | 'oldestReceivedAtMs'> {
  readonly isOrdered: boolean;
}

interface Counts {
  readonly in_flight: number;
  readonly oldest_ms: number | null;
  readonly visited: number;
}

/** How much the store holds. */
export class Levels {
  readonly #server: Server;
  readonly #order: OrderWatch;
  #counts: { readonly counts: Counts; readonly atMs: number } | undefined;

  /** @param isOrdered - the order that the process expects. */
  constructor(server: Server, isOrdered?: boolean) {
    this.#server = server;
    this.#order = new OrderWatch(server, isOrdered);
  }

  async stats(): Promise<StoreStats> {
    const { schema } = this.#server;
    const sum = (column: string, name: string): string => `sum(${column})::double precision AS "${name}"`;
    const [row] = await this.#server.query<Totals>(
      `SELECT ${sum('depth', 'depth')}, ${sum('bytes', 'bytes')}, ${sum('drained', 'drained')},
        ${sum('shelved', 'shelved')}, ${sum('shelved_bytes', 'shelvedBytes')},
        ${sum('remembered', 'remembered')}, ${sum('kept', 'kept')}, ${sum('kept_bytes', 'keptBytes')},
        (SELECT is_ordered FROM ${schema}.meta) AS "isOrdered",
        EXISTS (SELECT FROM ${schema}.paused WHERE scope = 'all') AS "isPaused",
        ARRAY(SELECT key FROM ${schema}.paused WHERE scope = 'key') AS "pausedKeys"
      FROM ${schema}.slots_v1()`,
    );
    const { isOrdered, ...totals } = row as Totals;
    this.#order.look(isOrdered);
    const counts = await this.#count();
    return {
      ...totals,
      inFlight: counts.in_flight,
      oldestReceivedAtMs: counts.oldest_ms ?? undefined,
      pausedKeys: totals.pausedKeys.map(decodeText),
    };
  }

  async #count(): Promise<Counts> {
    const known = this.#counts;
    if (known !== undefined && known.counts.visited > MANY && performance.now() - known.atMs < RECOUNT_MS)
      return known.counts;
    const counts = await this.#server.call<Counts>('counts_v1', []);
    this.#counts = { counts, atMs: performance.now() };
    return counts;
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
