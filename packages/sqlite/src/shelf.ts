import type { DeliveryRef, ShelvedDelivery } from '@webhook-backpressure/core';
import type { Connection, Statement } from './connection.ts';
import { CONTENTS, deliveryOf, type ContentsRow } from './contents.ts';
import { decodeText, encodeText } from './text.ts';
import type { Totals } from './totals.ts';

type ShelvedRow = readonly [
  ...ContentsRow,
  attempts: number,
  reason: 'dead' | 'overflow',
  error: string,
  shelvedAtMs: number,
];
type TakenRow = readonly [seq: number, key: string, id: string, bytes: number, receivedAtMs: number];

const ORDER = 'ORDER BY s.shelved_ms, s.seq LIMIT ?';

/** What will not be tried again by itself. */
export class Shelf {
  readonly #totals: Totals;
  readonly #list: Statement;
  readonly #get: Statement;
  readonly #oldest: Statement;
  readonly #oldestOfId: Statement;
  readonly #unshelve: Statement;
  readonly #moveToEnd: Statement;
  readonly #queue: Statement;
  readonly #remove: Statement;

  constructor(connection: Connection, totals: Totals) {
    this.#totals = totals;
    const shelved = `SELECT ${CONTENTS}, s.attempts, s.reason, s.error, s.shelved_ms
      FROM shelf s JOIN contents c ON c.seq = s.seq`;
    this.#list = connection.prepare(`${shelved} ${ORDER} OFFSET ?`);
    this.#get = connection.prepare(`${shelved} WHERE s.id = ? ${ORDER}`);
    const taken =
      'SELECT c.seq, c.key, c.id, c.bytes, c.received_ms FROM shelf s JOIN contents c ON c.seq = s.seq';
    this.#oldest = connection.prepare(`${taken} ${ORDER}`);
    this.#oldestOfId = connection.prepare(`${taken} WHERE s.id = ? ${ORDER}`);
    this.#unshelve = connection.prepare('DELETE FROM shelf WHERE seq = ?');
    this.#moveToEnd = connection.prepare(
      'UPDATE contents SET seq = (SELECT max(seq) + 1 FROM contents) WHERE seq = ? RETURNING seq',
    );
    this.#queue = connection.prepare(
      `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms)
      VALUES (?, ?, 0, ?, 0, 0, ?)`,
    );
    this.#remove = connection.prepare('DELETE FROM contents WHERE seq = ?');
  }

  list(limit: number, offset: number): readonly ShelvedDelivery[] {
    return (this.#list.all([limit, offset]) as ShelvedRow[]).map(shelvedOf);
  }

  get(id: string): ShelvedDelivery | undefined {
    const row = this.#get.get([encodeText(id), 1]) as ShelvedRow | undefined;
    return row === undefined ? undefined : shelvedOf(row);
  }

  redrive(id: string | null, limit: number, nowMs: number): readonly DeliveryRef[] {
    return this.#totals.transaction((changes) =>
      this.#take(id, limit).map(([seq, key, storedId, bytes, receivedAtMs]) => {
        // It is put anew: behind what is due at the same time.
        const [newSeq] = this.#moveToEnd.get([seq]) as [number];
        this.#queue.run([newSeq, key, nowMs, receivedAtMs]);
        changes.depth += 1;
        changes.bytes += bytes;
        changes.shelved -= 1;
        changes.shelvedBytes -= bytes;
        return { key: decodeText(key), id: decodeText(storedId) };
      }),
    );
  }

  purge(id: string | null, limit: number): number {
    return this.#totals.transaction((changes) => {
      const taken = this.#take(id, limit);
      for (const [seq, , , bytes] of taken) {
        this.#remove.run([seq]);
        changes.shelved -= 1;
        changes.shelvedBytes -= bytes;
      }
      return taken.length;
    });
  }

  #take(id: string | null, limit: number): readonly TakenRow[] {
    const rows = id === null ? this.#oldest.all([limit]) : this.#oldestOfId.all([encodeText(id), limit]);
    for (const [seq] of rows as TakenRow[]) this.#unshelve.run([seq]);
    return rows as TakenRow[];
  }
}

function shelvedOf(row: ShelvedRow): ShelvedDelivery {
  const [key, id, isIdGenerated, sender, headers, receivedAtMs, body, attempts, reason, error, shelvedAtMs] =
    row;
  return {
    ...deliveryOf([key, id, isIdGenerated, sender, headers, receivedAtMs, body]),
    attempts,
    reason,
    error: decodeText(error),
    shelvedAtMs,
  };
}
