import type {
  DeliveryRef,
  ListedDelivery,
  ShelfScope,
  ShelvedDelivery,
  StoredDelivery,
} from '@webhook-backpressure/core';
import type { Connection, Statement, Value } from './connection.ts';
import { CONTENTS, deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from './contents.ts';
import { Order } from './order.ts';
import { decodeText, encodeText } from './text.ts';
import type { Totals } from './totals.ts';

type ShelvingRow = readonly [
  attempts: number,
  reason: 'dead' | 'overflow',
  error: string,
  shelvedAtMs: number,
];
type TakenRow = readonly [seq: number, key: string, id: string, bytes: number, receivedAtMs: number];

const SHELVING = 's.attempts, s.reason, s.error, s.shelved_ms';
const SHELVED = 'FROM shelf s JOIN contents c ON c.seq = s.seq';
const TAKEN = 'SELECT c.seq, c.key, c.id, c.bytes, c.received_ms';
const ORDER = 'ORDER BY s.shelved_ms, s.seq LIMIT ?';

/** The same question of all, of a key, of an id, and of both: each has its own index. */
interface Questions {
  readonly ofAll: Statement;
  readonly ofKey: Statement;
  readonly ofId: Statement;
  readonly ofBoth: Statement;
}

/** What will not be tried again by itself. */
export class Shelf {
  readonly #totals: Totals;
  readonly #order: Order;
  readonly #list: Questions;
  readonly #get: Questions;
  readonly #oldest: Questions;
  readonly #count: Statement;
  readonly #unshelve: Statement;
  readonly #moveToEnd: Statement;
  readonly #queue: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#totals = totals;
    this.#order = new Order(connection);
    const questions = (select: string, order: string): Questions => {
      const ask = (condition: string): Statement =>
        connection.prepare(`${select} ${SHELVED} ${condition} ${order}`);
      return {
        ofAll: ask(''),
        ofKey: ask('WHERE s.key = ?'),
        ofId: ask('WHERE s.id = ?'),
        ofBoth: ask('WHERE c.key = ? AND c.id = ?'),
      };
    };
    this.#list = questions(`SELECT ${SHELVING}, length(c.body), ${FACTS}`, `${ORDER} OFFSET ?`);
    this.#get = questions(`SELECT ${SHELVING}, ${CONTENTS}`, ORDER);
    this.#oldest = questions(TAKEN, ORDER);
    this.#count = connection.prepare('SELECT count(*) FROM shelf WHERE key = ?');
    this.#unshelve = connection.prepare('DELETE FROM shelf WHERE seq = ?');
    this.#moveToEnd = connection.prepare(
      'UPDATE contents SET seq = (SELECT max(seq) + 1 FROM contents) WHERE seq = ? RETURNING seq',
    );
    this.#queue = connection.prepare(
      `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms)
      VALUES (?, ?, ?, ?, 0, 0, ?)`,
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

  /** How many of a key: what is asked by hand, since it counts them. */
  count(key: string): number {
    const [count] = this.#count.get([encodeText(key)]) as [number];
    return count;
  }

  redrive(id: string | null, scope: ShelfScope, limit: number, nowMs: number): readonly DeliveryRef[] {
    return this.#totals.transaction((changes) => {
      const isOrdered = this.#order.isOrdered();
      return this.#take(id, scope, limit).map(([seq, key, storedId, bytes, receivedAtMs]) => {
        // It is put anew, behind what is due at the same time, or back to where it stood in the order of its key.
        const newSeq = isOrdered ? seq : (this.#moveToEnd.get([seq]) as [number])[0];
        this.#queue.run([newSeq, key, isOrdered ? this.#order.stateOf(seq, key) : 0, nowMs, receivedAtMs]);
        changes.depth += 1;
        changes.bytes += bytes;
        changes.shelved -= 1;
        changes.shelvedBytes -= bytes;
        return { key: decodeText(key), id: decodeText(storedId) };
      });
    });
  }

  purge(id: string | null, scope: ShelfScope, limit: number): number {
    return this.#totals.transaction((changes) => {
      const taken = this.#take(id, scope, limit);
      for (const [seq, , , bytes] of taken) {
        this.#remove.run([seq]);
        changes.shelved -= 1;
        changes.shelvedBytes -= bytes;
      }
      return taken.length;
    });
  }

  #take(id: string | null, scope: ShelfScope, limit: number): readonly TakenRow[] {
    const rows = ask(this.#oldest, id, scope, [limit]) as TakenRow[];
    for (const [seq] of rows) this.#unshelve.run([seq]);
    return rows;
  }
}

function ask(
  { ofAll, ofKey, ofId, ofBoth }: Questions,
  id: string | null,
  { key }: ShelfScope,
  page: readonly Value[],
): readonly unknown[] {
  if (key === undefined) return id === null ? ofAll.all(page) : ofId.all([encodeText(id), ...page]);
  const name = encodeText(key);
  return id === null ? ofKey.all([name, ...page]) : ofBoth.all([name, encodeText(id), ...page]);
}

function shelvingOf([attempts, reason, error, shelvedAtMs]: ShelvingRow): Omit<
  ShelvedDelivery,
  keyof StoredDelivery
> {
  return { attempts, reason, error: decodeText(error), shelvedAtMs };
}
