import type { ClaimRef, Settlement } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { avoidingDamage, type Access } from '../connection/damage.ts';
import type { DiskSpace } from '../file/disk-space.ts';
import type { CompletedId, CompletedIds } from '../finished/completed-ids.ts';
import type { CompletedDeliveries } from '../finished/completed.ts';
import { Order } from '../tables/order.ts';
import { encodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';

/** A delivery whose claim is still held. */
interface Held {
  readonly seq: number;
  readonly key: string;
  readonly id: string;
  readonly bytes: number;
  readonly isIdGenerated: boolean;
  /** Whether the file is in the ordered mode. */
  readonly isOrdered: boolean;
  /** The sum of its body. */
  readonly sum: number | null;
}

type HeldRow = readonly [
  seq: number,
  bytes: number,
  isIdGenerated: number,
  isOrdered: number,
  sum: number | null,
];

/** Which retries are made due. */
interface Hastening {
  readonly key?: string | undefined;
  readonly afterMs: number;
  readonly nowMs: number;
  readonly limit: number;
}

/** Renews and settles claims if their owner still holds them, and hastens retries. */
export class ClaimUpdates {
  readonly #connection: Connection;
  readonly #totals: Totals;
  readonly #order: Order;
  readonly #disk: DiskSpace;
  readonly #completedIds: CompletedIds;
  readonly #completedDeliveries: CompletedDeliveries;
  readonly #held: Statement;
  readonly #heldPastIds: Statement;
  readonly #renew: Statement;
  readonly #retry: Statement;
  readonly #repeat: Statement;
  readonly #release: Statement;
  readonly #postpone: Statement;
  readonly #hasten: Statement;
  readonly #hastenKey: Statement;
  readonly #dequeue: Statement;
  readonly #remove: Statement;
  readonly #shelve: Statement;

  constructor(
    connection: Connection,
    totals: Totals,
    {
      disk,
      completed,
      completedIds,
    }: {
      readonly disk: DiskSpace;
      readonly completed: CompletedDeliveries;
      readonly completedIds: CompletedIds;
    },
  ) {
    this.#connection = connection;
    this.#totals = totals;
    this.#order = new Order(connection);
    this.#disk = disk;
    this.#completedIds = completedIds;
    this.#completedDeliveries = completed;
    this.#held = connection.prepare(
      `SELECT c.seq, c.bytes, c.is_id_generated, (SELECT is_ordered FROM totals), q.sum
      FROM contents c JOIN queue q ON q.seq = c.seq
      WHERE c.key = ? AND c.id = ? AND q.state = 2 AND q.owner = ? AND q.attempts = ?`,
    );
    // Without the index of keys and ids: scans the few claims of this owner.
    this.#heldPastIds = connection.prepare(
      `SELECT c.seq, c.bytes, c.is_id_generated, (SELECT is_ordered FROM totals), q.sum
      FROM queue q INDEXED BY queue_held CROSS JOIN contents c ON c.seq = q.seq
      WHERE q.state = 2 AND q.owner = ?3 AND q.attempts = ?4 AND +c.key = ?1 AND +c.id = ?2`,
    );
    this.#renew = connection.prepare('UPDATE queue SET lease_ms = ? WHERE seq = ?');
    this.#retry = connection.prepare(
      'UPDATE queue SET state = 1, due_ms = ?, owner = NULL, lease_ms = NULL WHERE seq = ?',
    );
    this.#repeat = connection.prepare('UPDATE queue SET attempts = attempts - 1 WHERE seq = ?');
    this.#release = connection.prepare(
      `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
        due_ms = min(due_ms, ?), owner = NULL, lease_ms = NULL
      WHERE seq = ?`,
    );
    this.#postpone = connection.prepare(
      'UPDATE queue SET state = 1, attempts = attempts - 1, due_ms = ?, owner = NULL, lease_ms = NULL WHERE seq = ?',
    );
    this.#hasten = connection.prepare(
      `UPDATE queue SET due_ms = ?
      WHERE seq IN (SELECT seq FROM queue WHERE state = 1 AND due_ms > ? LIMIT ?)`,
    );
    this.#hastenKey = connection.prepare(
      `UPDATE queue SET due_ms = ? WHERE seq IN (
        SELECT seq FROM queue INDEXED BY queue_waiting WHERE state = 1 AND key = ? AND due_ms > ? LIMIT ?
      )`,
    );
    this.#dequeue = connection.prepare('DELETE FROM queue WHERE seq = ?');
    this.#remove = connection.prepare('DELETE FROM contents WHERE seq = ?');
    this.#shelve = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms, sum) VALUES (?, ?, ?, 'dead', ?, ?, ?, ?)`,
    );
  }

  renew(
    self: number,
    claims: readonly ClaimRef[],
    { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
  ): readonly boolean[] {
    return avoidingDamage(claims, (some, access) =>
      this.#connection.transaction(() =>
        some.map((claim) => {
          const held = this.#find(claim, self, access);
          if (held !== undefined) this.#renew.run([nowMs + leaseMs, held.seq]);
          return held !== undefined;
        }),
      ),
    );
  }

  settle(self: number, settlements: readonly Settlement[], nowMs: number): readonly boolean[] {
    return avoidingDamage(settlements, (some, access) =>
      this.#totals.transaction((changes) => {
        const completed: CompletedId[] = [];
        const held = some.map((settlement) => {
          const found = this.#find(settlement, self, access);
          if (found === undefined) return false;
          const isFinished = this.#end(found, settlement, nowMs, changes, access);
          if (isFinished && found.isOrdered) this.#order.ended(found.seq, found.key, nowMs);
          const { key, id } = settlement;
          if (settlement.as === 'completed' && !found.isIdGenerated)
            completed.push({ key, id, sum: found.sum });
          return true;
        });
        this.#completedIds.add(completed, nowMs, changes);
        return held;
      }),
    );
  }

  hasten({ key, afterMs, nowMs, limit }: Hastening): number {
    return this.#connection.transaction(() =>
      key === undefined
        ? this.#hasten.run([nowMs, afterMs, limit])
        : this.#hastenKey.run([nowMs, encodeText(key), afterMs, limit]),
    );
  }

  #find(claim: ClaimRef, self: number, { usesIds }: Access): Held | undefined {
    const key = encodeText(claim.key);
    const id = encodeText(claim.id);
    const find = usesIds ? this.#held : this.#heldPastIds;
    const row = find.get([key, id, self, claim.attempt]) as HeldRow | undefined;
    if (row === undefined) return undefined;
    const [seq, bytes, isIdGenerated, isOrdered, sum] = row;
    return { seq, key, id, bytes, isIdGenerated: isIdGenerated === 1, isOrdered: isOrdered === 1, sum };
  }

  /** @returns whether the delivery has left the queue. */
  #end(
    held: Held,
    settlement: Settlement,
    nowMs: number,
    changes: Changes,
    { removesRows }: Access,
  ): boolean {
    const { seq, key, id, bytes, sum } = held;
    changes.inFlight -= 1;
    switch (settlement.as) {
      case 'failed':
        this.#retry.run([settlement.retryAtMs, seq]);
        if (settlement.isRepeated === true) this.#repeat.run([seq]);
        return false;
      case 'released':
        if (settlement.retryAtMs === undefined) this.#release.run([nowMs, seq]);
        else this.#postpone.run([settlement.retryAtMs, seq]);
        return false;
      case 'dead':
        this.#shelve.run([
          seq,
          key,
          id,
          encodeText(this.#disk.cutToFit(settlement.error)),
          settlement.attempt,
          nowMs,
          sum,
        ]);
        changes.shelved += 1;
        changes.shelvedBytes += bytes;
        break;
      case 'completed':
        if (settlement.keep)
          this.#completedDeliveries.add({ ...held, attempts: settlement.attempt }, nowMs, changes);
        else if (removesRows) this.#remove.run([seq]);
    }
    this.#dequeue.run([seq]);
    changes.depth -= 1;
    changes.drained += 1;
    changes.bytes -= bytes;
    return true;
  }
}
