import type {
  Counted,
  ListedCompleted,
  MovedDelivery,
  PageQuery,
  Portion,
  ShelfScope,
  StoredCompleted,
  StoredPage,
} from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { CONTENTS, deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from '../tables/contents.ts';
import { Order } from '../tables/order.ts';
import { pageOf, MAX_SCANNED, firstWithin, type PortionUpTo } from '../tables/paging.ts';
import {
  runScoped,
  countOf,
  countQueries,
  scopedQueries,
  type ScopedQueries,
} from '../tables/scoped-queries.ts';
import { decodeText, encodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';
import type { CompletedIds } from './completed-ids.ts';

type KeptRow = readonly [
  at: number,
  seq: number,
  key: string,
  id: string,
  bytes: number,
  completedAtMs: number,
];

const POSITION = 'SELECT k.at, k.seq, k.key, k.id, k.bytes, k.completed_ms';
const KEPT = 'FROM kept k JOIN contents c ON c.seq = k.seq';

/** Completed deliveries that are kept to be listed and replayed. */
export class CompletedDeliveries {
  readonly #totals: Totals;
  readonly #order: Order;
  readonly #completedIds: CompletedIds;
  readonly #add: Statement;
  readonly #list: Statement;
  readonly #scanned: Statement;
  readonly #get: ScopedQueries;
  readonly #count: ScopedQueries;
  readonly #oldest: ScopedQueries;
  readonly #remove: Statement;
  readonly #removeContents: Statement;
  readonly #queue: Statement;

  constructor(connection: Connection, totals: Totals, completedIds: CompletedIds) {
    this.#totals = totals;
    this.#order = new Order(connection);
    this.#completedIds = completedIds;
    this.#add = connection.prepare(
      `INSERT INTO kept (seq, key, id, bytes, attempts, completed_ms, sum) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    const part = `SELECT at FROM kept WHERE at > ?1 ORDER BY at LIMIT ${String(MAX_SCANNED)}`;
    this.#list = connection.prepare(
      `SELECT k.at, k.attempts, k.completed_ms, length(c.body), ${FACTS}
      FROM kept k CROSS JOIN contents c ON c.seq = k.seq
      WHERE k.at > ?1 AND k.at <= (SELECT max(at) FROM (${part})) AND (?2 IS NULL OR k.key = ?2) ORDER BY k.at LIMIT ?3`,
    );
    this.#scanned = connection.prepare(`SELECT count(*), max(at) FROM (${part})`);
    const queries = (select: string, order: string): ScopedQueries =>
      scopedQueries(connection, (condition) => `${select} ${KEPT} ${condition} ${order}`, 'k');
    this.#get = queries(`SELECT k.attempts, k.completed_ms, ${CONTENTS}`, 'ORDER BY k.at DESC LIMIT 1');
    this.#oldest = queries(POSITION, 'ORDER BY k.at LIMIT ?');
    this.#count = countQueries(connection, 'kept');
    this.#remove = connection.prepare('DELETE FROM kept WHERE at = ?');
    this.#removeContents = connection.prepare('DELETE FROM contents WHERE seq = ?');
    this.#queue = connection.prepare(
      `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms, sum)
      SELECT c.seq, c.key, ?, ?, 0, 0, c.received_ms, k.sum FROM kept k JOIN contents c ON c.seq = k.seq WHERE k.at = ?`,
    );
  }

  /** Adds a delivery that leaves the queue. Call it within a transaction. */
  add(
    {
      seq,
      key,
      id,
      bytes,
      attempts,
      sum,
    }: {
      readonly seq: number;
      readonly key: string;
      readonly id: string;
      readonly bytes: number;
      readonly attempts: number;
      readonly sum: number | null;
    },
    nowMs: number,
    changes: Changes,
  ): void {
    this.#add.run([seq, key, id, bytes, attempts, nowMs, sum]);
    changes.kept += 1;
    changes.keptBytes += bytes;
  }

  list({ key, after, limit }: PageQuery): StoredPage<ListedCompleted> {
    const only = key === undefined ? null : encodeText(key);
    const rows = this.#list.all([after, only, limit + 1]) as [number, number, number, number, ...FactsRow][];
    const scanned = this.#scanned.get([after]) as [number, number | null];
    return pageOf(rows, limit, scanned, ([, attempts, completedAtMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      ...{ attempts, completedAtMs, bodyBytes },
    }));
  }

  get(id: string, scope: ShelfScope): StoredCompleted | undefined {
    const [row] = runScoped(this.#get, id, scope, []) as [number, number, ...ContentsRow][];
    if (row === undefined) return undefined;
    const [attempts, completedAtMs, ...contents] = row;
    return { ...deliveryOf(contents), attempts, completedAtMs };
  }

  count(id: string | null, scope: ShelfScope): Counted {
    return countOf(this.#count, id, scope);
  }

  replay(
    id: string | null,
    scope: ShelfScope,
    { limit, maxBytes, upTo = Infinity }: PortionUpTo,
    nowMs: number,
  ): readonly MovedDelivery[] {
    return this.#totals.transaction((changes) => {
      const rows = (runScoped(this.#oldest, id, scope, [limit]) as KeptRow[]).filter(([at]) => at <= upTo);
      const chosen = firstWithin(rows, ([, , , , bytes]) => bytes, maxBytes);
      const isOrdered = this.#order.isOrdered();
      return chosen.map((row) => {
        const [at, seq, key, , bytes] = row;
        this.#queue.run([isOrdered ? this.#order.stateOf(seq, key) : 0, nowMs, at]);
        changes.depth += 1;
        changes.bytes += bytes;
        const moved = this.#takeOut(row, changes);
        this.#completedIds.remove(moved, changes);
        return moved;
      });
    });
  }

  drop({
    beforeMs,
    keepBytes,
    limit,
    maxBytes,
  }: Portion & { readonly beforeMs: number; readonly keepBytes: number }): readonly MovedDelivery[] {
    return this.#totals.transaction((changes) => {
      let left = this.#totals.read().keptBytes;
      const rows = runScoped(this.#oldest, null, {}, [limit]) as KeptRow[];
      const spare = rows.findIndex(([, , , , bytes, completedAtMs]) => {
        const isSpare = completedAtMs < beforeMs || left > keepBytes;
        left -= bytes;
        return !isSpare;
      });
      const gone = firstWithin(spare < 0 ? rows : rows.slice(0, spare), ([, , , , bytes]) => bytes, maxBytes);
      return gone.map((row) => this.#delete(row, changes));
    });
  }

  /** Deletes a delivery. Call it within a transaction. @returns whether it was kept. */
  remove(key: string, id: string, changes: Changes): boolean {
    const [row] = runScoped(this.#oldest, id, { key }, [1]) as KeptRow[];
    if (row !== undefined) this.#delete(row, changes);
    return row !== undefined;
  }

  #delete(row: KeptRow, changes: Changes): MovedDelivery {
    this.#removeContents.run([row[1]]);
    return this.#takeOut(row, changes);
  }

  #takeOut([at, , key, id, bytes]: KeptRow, changes: Changes): MovedDelivery {
    this.#remove.run([at]);
    changes.kept -= 1;
    changes.keptBytes -= bytes;
    return { key: decodeText(key), id: decodeText(id), bytes };
  }
}
