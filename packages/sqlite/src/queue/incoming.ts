import { areOtherBodies, bodySum, storedBytes } from '@webhook-backpressure/inbox/store';
import type { Put, PutResult, StoreLimits } from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import type { DiskSpace } from '../file/disk-space.ts';
import type { FileIdentity } from '../file/file-identity.ts';
import { encodeFacts } from '../tables/contents.ts';
import { idHash } from '../tables/id-hash.ts';
import { Order } from '../tables/order.ts';
import { encodeText } from '../tables/text.ts';
import type { Changes, Totals } from '../tables/totals.ts';

/** Stores new deliveries, a batch in one commit, since waiting for the disk costs more than everything else. */
export class Incoming {
  readonly #connection: Connection;
  readonly #totals: Totals;
  readonly #identity: FileIdentity;
  readonly #order: Order;
  readonly #disk: DiskSpace;
  readonly #isKnown: Statement;
  readonly #store: Statement;
  readonly #queue: Statement;
  readonly #shelve: Statement;

  constructor(connection: Connection, totals: Totals, identity: FileIdentity, disk: DiskSpace) {
    this.#connection = connection;
    this.#totals = totals;
    this.#identity = identity;
    this.#order = new Order(connection);
    this.#disk = disk;
    this.#isKnown = connection.prepare(
      `SELECT coalesce(q.sum, s.sum, k.sum) FROM contents c LEFT JOIN queue q ON q.seq = c.seq
        LEFT JOIN shelf s ON s.seq = c.seq LEFT JOIN kept k ON k.seq = c.seq WHERE c.key = ?1 AND c.id = ?2
      UNION ALL SELECT r.sum FROM buckets b CROSS JOIN remembered r ON r.bucket = b.bucket AND r.hash = ?3
      UNION ALL SELECT NULL FROM completed WHERE key = ?1 AND id = ?2 LIMIT 1`,
    );
    this.#store = connection.prepare(
      `INSERT INTO contents (key, id, is_id_generated, sender, headers, received_ms, bytes, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
    );
    this.#queue = connection.prepare(
      `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms, sum)
      VALUES (?, ?, ?, ?, 0, 0, ?, ?)`,
    );
    this.#shelve = connection.prepare(
      `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms, sum)
      VALUES (?, ?, ?, 'overflow', '', 0, ?, ?)`,
    );
  }

  put(batch: readonly Put[], limits: StoreLimits, nowMs: number): readonly PutResult[] {
    const bytes = batch.reduce((sum, { delivery }) => sum + delivery.rawBody.byteLength, 0);
    this.#disk.check(bytes, batch.length);
    return this.#connection.withinFileLimit(() => this.#put(batch, limits, nowMs));
  }

  #put(batch: readonly Put[], limits: StoreLimits, nowMs: number): readonly PutResult[] {
    return this.#totals.transaction((changes) => {
      const before = this.#totals.read();
      const isOrdered = this.#order.isOrdered();
      const results = batch.map((put): PutResult => {
        const { delivery, isOverflow } = put;
        const key = encodeText(delivery.key);
        const id = encodeText(delivery.id);
        // A generated id is never sent again.
        const sum = delivery.isIdGenerated ? null : bodySum(delivery);
        const hash = delivery.isIdGenerated ? null : idHash(delivery);
        const known = this.#isKnown.get([key, id, hash]) as [number | null] | undefined;
        if (known !== undefined) {
          const [before] = known;
          const isOther = before !== null && sum !== null && areOtherBodies(before, sum);
          return isOther ? 'conflict' : 'duplicate';
        }
        const bytes = storedBytes(delivery);
        if (!hasRoom(isOverflow, bytes, before, changes, limits)) return 'full';
        const { isIdGenerated, sender, receivedAtMs, rawBody } = delivery;
        const [seq] = this.#store.get([
          key,
          id,
          isIdGenerated ? 1 : 0,
          sender === undefined ? null : encodeText(sender),
          encodeFacts(delivery),
          receivedAtMs,
          bytes,
          rawBody,
        ]) as [number];
        if (isOverflow) {
          this.#shelve.run([seq, key, id, nowMs, sum]);
          changes.shelved += 1;
          changes.shelvedBytes += bytes;
        } else {
          const state = isOrdered ? this.#order.stateOf(seq, key) : 0;
          this.#queue.run([seq, key, state, nowMs, receivedAtMs, sum]);
          changes.depth += 1;
          changes.bytes += bytes;
        }
        return 'stored';
      });
      this.#identity.check();
      return results;
    });
  }
}

function hasRoom(
  isOverflow: boolean,
  bytes: number,
  before: Changes,
  changes: Changes,
  { capacity, maxBytes, maxShelved, maxShelvedBytes }: StoreLimits,
): boolean {
  if (isOverflow) {
    const { shelved, shelvedBytes } = before;
    return (
      shelved + changes.shelved + 1 <= maxShelved &&
      shelvedBytes + changes.shelvedBytes + bytes <= maxShelvedBytes
    );
  }
  return before.depth + changes.depth + 1 <= capacity && before.bytes + changes.bytes + bytes <= maxBytes;
}
