import type {
  Counted,
  ListedDelivery,
  MovedDelivery,
  ShelfScope,
  ShelvedDelivery,
  StoredDelivery,
} from '@webhook-backpressure/core';
import type { Connection, Statement } from '../file/connection.ts';
import { CONTENTS, deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from './contents.ts';
import { Order } from './order.ts';
import { within, type PortionUpTo } from './portions.ts';
import { ask, countedBy, countsOf, questionsOf, type Questions } from './questions.ts';
import { decodeText } from './text.ts';
import type { Changes, Totals } from './totals.ts';

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

/** What will not be tried again by itself. */
export class Shelf {
  readonly #totals: Totals;
  readonly #order: Order;
  readonly #list: Questions;
  readonly #get: Questions;
  readonly #oldest: Questions;
  readonly #count: Questions;
  readonly #unshelve: Statement;
  readonly #queue: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#totals = totals;
    this.#order = new Order(connection);
    const questions = (select: string, order: string): Questions =>
      questionsOf(connection, (condition) => `${select} ${SHELVED} ${condition} ${order}`, 's');
    this.#list = questions(`SELECT ${SHELVING}, length(c.body), ${FACTS}`, `${ORDER} OFFSET ?`);
    this.#get = questions(`SELECT ${SHELVING}, ${CONTENTS}`, ORDER);
    this.#oldest = questions(TAKEN, ORDER);
    this.#count = countsOf(connection, 'shelf');
    this.#unshelve = connection.prepare('DELETE FROM shelf WHERE seq = ?');
    // The row of the body is left as it is: to write it anew for another place in the order would take as long as to store it.
    this.#queue = connection.prepare(
      `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms, sum)
      SELECT c.seq, c.key, ?, ?, 0, 0, c.received_ms, s.sum ${SHELVED} WHERE s.seq = ?`,
    );
    this.#remove = connection.prepare('DELETE FROM contents WHERE seq = ?');
  }

  list(scope: ShelfScope, limit: number, offset: number): readonly ListedDelivery[] {
    const rows = ask(this.#list, null, scope, [limit, offset]) as [...ShelvingRow, number, ...FactsRow][];
    return rows.map(([attempts, reason, error, shelvedAtMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      bodyBytes,
      ...shelvingOf([attempts, reason, error, shelvedAtMs]),
    }));
  }

  get(id: string, scope: ShelfScope): ShelvedDelivery | undefined {
    const [row] = ask(this.#get, id, scope, [1]) as [...ShelvingRow, ...ContentsRow][];
    if (row === undefined) return undefined;
    const [attempts, reason, error, shelvedAtMs, ...contents] = row;
    return { ...deliveryOf(contents), ...shelvingOf([attempts, reason, error, shelvedAtMs]) };
  }

  count(id: string | null, scope: ShelfScope): Counted {
    return countedBy(this.#count, id, scope);
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
        return this.#take(row, changes);
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
          return this.#take(row, changes);
        }),
    );
  }

  #oldestOf(
    id: string | null,
    scope: ShelfScope,
    { limit, maxBytes, upTo = Infinity }: PortionUpTo,
  ): readonly TakenRow[] {
    const rows = (ask(this.#oldest, id, scope, [limit]) as TakenRow[]).filter(
      ([, , , , shelvedAtMs]) => shelvedAtMs <= upTo,
    );
    return within(rows, ([, , , bytes]) => bytes, maxBytes);
  }

  #take([seq, key, id, bytes]: TakenRow, changes: Changes): MovedDelivery {
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
