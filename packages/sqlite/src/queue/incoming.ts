import {
  areOtherBodies,
  bodySum,
  storedBytes,
  encodeFacts,
  encodeText,
} from '@webhook-backpressure/inbox/store';
import type { Put, PutResult, StoredDelivery, StoreLimits } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import type { DiskSpace } from '../file/disk-space.ts';
import type { FileIdentity } from '../file/file-identity.ts';
import { idHash } from '../tables/contents.ts';
import { enterOrder, isOrdered } from '../tables/order.ts';
import { counted, readTotals, type Totals } from '../tables/totals.ts';

const KNOWN = `SELECT coalesce(q.sum, s.sum, k.sum) FROM contents c LEFT JOIN queue q ON q.seq = c.seq
  LEFT JOIN shelf s ON s.seq = c.seq LEFT JOIN kept k ON k.seq = c.seq WHERE c.key = ?1 AND c.id = ?2
  UNION ALL SELECT r.sum FROM buckets b CROSS JOIN remembered r ON r.bucket = b.bucket AND r.hash = ?3 LIMIT 1`;

/** An open file, as far as new deliveries need it. */
interface PutInto {
  readonly connection: Connection;
  readonly disk: DiskSpace;
  readonly identity: FileIdentity;
}

/** Stores new deliveries, a batch in one commit, since waiting for the disk costs more than everything else. */
export function put(
  { connection, disk, identity }: PutInto,
  batch: readonly Put[],
  { limits, nowMs }: { readonly limits: StoreLimits; readonly nowMs: number },
): readonly PutResult[] {
  const bytes = batch.reduce((sum, { delivery }) => sum + delivery.rawBody.byteLength, 0);
  disk.check(bytes, batch.length);
  return connection.withinFileLimit(() =>
    counted(connection, (changes) => {
      const before = readTotals(connection);
      const ordered = isOrdered(connection);
      const results = batch.map((put) => {
        const key = encodeText(put.delivery.key);
        const id = encodeText(put.delivery.id);
        // A generated id is never sent again.
        const sum = put.delivery.isIdGenerated ? null : bodySum(put.delivery);
        const known = findKnown(connection, put.delivery, key, id, sum);
        if (known !== undefined) return known;
        const size = storedBytes(put.delivery);
        if (!hasRoom(put.isOverflow, size, before, changes, limits)) return 'full';
        const seq = store(connection, put.delivery, key, id, size);
        if (put.isOverflow) {
          connection.run(
            `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms, sum)
            VALUES (?, ?, ?, 'overflow', '', 0, ?, ?)`,
            [seq, key, id, nowMs, sum],
          );
          changes.deadLetters += 1;
          changes.deadLetterBytes += size;
        } else {
          connection.run(
            `INSERT INTO queue (seq, key, state, due_ms, attempts, strandings, received_ms, sum)
            VALUES (?, ?, ?, ?, 0, 0, ?, ?)`,
            [seq, key, ordered ? enterOrder(connection, seq, key) : 0, nowMs, put.delivery.receivedAtMs, sum],
          );
          changes.depth += 1;
          changes.bytes += size;
        }
        return 'stored';
      });
      identity.check();
      return results;
    }),
  );
}

function findKnown(
  connection: Connection,
  delivery: StoredDelivery,
  key: string,
  id: string,
  sum: number | null,
): 'conflict' | 'duplicate' | undefined {
  const hash = delivery.isIdGenerated ? null : idHash(delivery);
  const known = connection.get(KNOWN, [key, id, hash]) as [number | null] | undefined;
  if (known === undefined) return undefined;
  const [before] = known;
  return before !== null && sum !== null && areOtherBodies(before, sum) ? 'conflict' : 'duplicate';
}

function store(
  connection: Connection,
  delivery: StoredDelivery,
  key: string,
  id: string,
  bytes: number,
): number {
  const { isIdGenerated, sender, receivedAtMs, rawBody } = delivery;
  const [seq] = connection.get(
    `INSERT INTO contents (key, id, is_id_generated, sender, facts, received_ms, bytes, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING seq`,
    [
      key,
      id,
      isIdGenerated ? 1 : 0,
      sender === undefined ? null : encodeText(sender),
      encodeFacts(delivery),
      receivedAtMs,
      bytes,
      rawBody,
    ],
  ) as [number];
  return seq;
}

function hasRoom(
  isOverflow: boolean,
  bytes: number,
  before: Totals,
  changes: Totals,
  { capacity, maxBytes, maxDeadLetters, maxDeadLetterBytes }: StoreLimits,
): boolean {
  if (!isOverflow)
    return before.depth + changes.depth + 1 <= capacity && before.bytes + changes.bytes + bytes <= maxBytes;
  return (
    before.deadLetters + changes.deadLetters + 1 <= maxDeadLetters &&
    before.deadLetterBytes + changes.deadLetterBytes + bytes <= maxDeadLetterBytes
  );
}
