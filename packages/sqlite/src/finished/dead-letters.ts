import type {
  Counted,
  ListedDelivery,
  MovedDelivery,
  ShelfScope,
  ShelvedDelivery,
  StoredDelivery,
} from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { CONTENTS, deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from '../tables/contents.ts';
import { Order } from '../tables/order.ts';
import { firstWithin, type PortionUpTo } from '../tables/paging.ts';
import {
  runScoped,
  countOf,
  countQueries,
  scopedQueries,
  type ScopedQueries,
} from '../tables/scoped-queries.ts';
import { decodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';

type ShelvingRow = readonly [
  attempts: number,
  reason: 'dead' | 'overflow',
  error: string,
  shelvedAtMs: number,
];
type TakenRow = readonly [seq: number, key: string, id: string, bytes: number, shelvedAtMs: number];

const SHELVING = 's.attempts, s.reason, s.error, s.shelved_ms';
const SHELVED = 'FROM shelf s JOIN contents c ON c.seq = s.seq';
const TAKEN = 'SELECT c.seq, c.key, c.id, c.bytes, s.shelved_ms';
const ORDER = 'ORDER BY s.shelved_ms, s.seq LIMIT ?';

/** The dead-letter queue, in the table `shelf`. */
export class DeadLetters {
  readonly #totals: Totals;
  readonly #order: Order;
  readonly #list: ScopedQueries;
  readonly #get: ScopedQueries;
  readonly #oldest: ScopedQueries;
  readonly #count: ScopedQueries;
  readonly #unshelve: Statement;
  readonly #queue: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#totals = totals;
    this.#order = new Order(connection);
    const queries = (select: string, order: string): ScopedQueries =>
      scopedQueries(connection, (condition) => `${select} ${SHELVED} ${condition} ${order}`, 's');
    this.#list = queries(`SELECT ${SHELVING}, length(c.body), ${FACTS}`, `${ORDER} OFFSET ?`);
    this.#get = queries(`SELECT ${SHELVING}, ${CONTENTS}`, ORDER);
    this.#oldest = queries(TAKEN, ORDER);
    this.#count = countQueries(connection, 'shelf');
    this.#unshelve = connection.prepare('DELETE FROM shelf WHERE seq = ?');
    // The row of the body stays: rewriting it for another position would take as long as storing it.
    this.#queue = connection.prepare(
      `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms, sum)
      SELECT c.seq, c.key, ?, ?, 0, 0, c.received_ms, s.sum ${SHELVED} WHERE s.seq = ?`,
    );
    this.#remove = connection.prepare('DELETE FROM contents WHERE seq = ?');
  }

  list(scope: ShelfScope, limit: number, offset: number): readonly ListedDelivery[] {
    const rows = runScoped(this.#list, null, scope, [limit, offset]) as [
      ...ShelvingRow,
      number,
      ...FactsRow,
    ][];
    return rows.map(([attempts, reason, error, shelvedAtMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      bodyBytes,
      ...shelvingOf([attempts, reason, error, shelvedAtMs]),
    }));
  }

  get(id: string, scope: ShelfScope): ShelvedDelivery | undefined {
    const [row] = runScoped(this.#get, id, scope, [1]) as [...ShelvingRow, ...ContentsRow][];
    if (row === undefined) return undefined;
    const [attempts, reason, error, shelvedAtMs, ...contents] = row;
    return { ...deliveryOf(contents), ...shelvingOf([attempts, reason, error, shelvedAtMs]) };
  }

  count(id: string | null, scope: ShelfScope): Counted {
    return countOf(this.#count, id, scope);
  }

  redrive(
    id: string | null,
    scope: ShelfScope,
    portion: PortionUpTo,
    nowMs: number,
  ): readonly MovedDelivery[] {
    return this.#totals.transaction((changes) => {
      const isOrdered = this.#order.isOrdered();
      return this.#oldestOf(id, scope, portion).map((row) => {
        const [seq, key, , bytes] = row;
        this.#queue.run([isOrdered ? this.#order.stateOf(seq, key) : 0, nowMs, seq]);
        changes.depth += 1;
        changes.bytes += bytes;
        return this.#takeOut(row, changes);
      });
    });
  }

  purge(
    id: string | null,
    scope: ShelfScope,
    portion: PortionUpTo,
    beforeMs: number = Number.POSITIVE_INFINITY,
  ): readonly MovedDelivery[] {
    return this.#totals.transaction((changes) =>
      this.#oldestOf(id, scope, portion)
        .filter(([, , , , shelvedAtMs]) => shelvedAtMs < beforeMs)
        .map((row) => {
          this.#remove.run([row[0]]);
          return this.#takeOut(row, changes);
        }),
    );
  }

  #oldestOf(
    id: string | null,
    scope: ShelfScope,
    { limit, maxBytes, upTo = Infinity }: PortionUpTo,
  ): readonly TakenRow[] {
    const rows = (runScoped(this.#oldest, id, scope, [limit]) as TakenRow[]).filter(
      ([, , , , shelvedAtMs]) => shelvedAtMs <= upTo,
    );
    return firstWithin(rows, ([, , , bytes]) => bytes, maxBytes);
  }

  #takeOut([seq, key, id, bytes]: TakenRow, changes: Changes): MovedDelivery {
    this.#unshelve.run([seq]);
    changes.shelved -= 1;
    changes.shelvedBytes -= bytes;
    return { key: decodeText(key), id: decodeText(id), bytes };
  }
}

function shelvingOf([attempts, reason, error, shelvedAtMs]: ShelvingRow): Omit<
  ShelvedDelivery,
  keyof StoredDelivery
> {
  return { attempts, reason, error: decodeText(error), shelvedAtMs };
}
