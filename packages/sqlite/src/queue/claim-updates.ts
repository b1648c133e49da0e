import { encodeText } from '@webhook-backpressure/inbox/store';
import type { ClaimRef, Settlement } from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import { isDamage } from '../connection/sqlite-errors.ts';
import type { DiskSpace } from '../file/disk-space.ts';
import { rememberIds, type CompletedId } from '../finished/completed-ids.ts';
import { leaveOrder } from '../tables/order.ts';
import { counted, type Totals } from '../tables/totals.ts';

/** A delivery whose claim is still held. */
interface Held {
  readonly seq: number;
  readonly key: string;
  readonly id: string;
  readonly bytes: number;
  readonly isIdGenerated: boolean;
  /** The sum of its body. */
  readonly sum: number | null;
}

type HeldRow = readonly [seq: number, bytes: number, isIdGenerated: number, sum: number | null];

/** Which parts of the file a call may use. */
interface Access {
  /** Whether it may use the index of keys and ids. */
  readonly usesIds: boolean;
  /** Whether it may delete rows, which can also change neighboring pages. A remaining row keeps its id known. */
  readonly removesRows: boolean;
}

const FULL_ACCESS: Access = { usesIds: true, removesRows: true };

/** Which retries are made due. */
interface Hastening {
  readonly key?: string | undefined;
  readonly afterMs: number;
  readonly nowMs: number;
  readonly limit: number;
}

const HELD_ROW = 'SELECT c.seq, c.bytes, c.is_id_generated, q.sum';
const HELD = `${HELD_ROW} FROM contents c JOIN queue q ON q.seq = c.seq
  WHERE c.key = ?1 AND c.id = ?2 AND q.state = 2 AND q.owner = ?3 AND q.attempts = ?4`;
/** Without the index of keys and ids: scans the few claims of this owner. */
const HELD_PAST_IDS = `${HELD_ROW} FROM queue q INDEXED BY queue_held CROSS JOIN contents c ON c.seq = q.seq
  WHERE q.state = 2 AND q.owner = ?3 AND q.attempts = ?4 AND +c.key = ?1 AND +c.id = ?2`;
const RETRY = `UPDATE queue SET state = 1, attempts = attempts - ?, due_ms = ?, owner = NULL, lease_ms = NULL
  WHERE seq = ?`;

/** Renews claims that their owner still holds. */
export function renew(
  connection: Connection,
  self: number,
  claims: readonly ClaimRef[],
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): readonly boolean[] {
  return avoidingDamage(claims, (some, access) =>
    connection.transaction(() =>
      some.map((claim) => {
        const held = find(connection, claim, self, access);
        if (held !== undefined)
          connection.run('UPDATE queue SET lease_ms = ? WHERE seq = ?', [nowMs + leaseMs, held.seq]);
        return held !== undefined;
      }),
    ),
  );
}

/** Settles claims that their owner still holds. */
export function settle(
  connection: Connection,
  disk: DiskSpace,
  self: number,
  settlements: readonly Settlement[],
  nowMs: number,
): readonly boolean[] {
  return avoidingDamage(settlements, (some, access) =>
    counted(connection, (changes) => {
      const completed: CompletedId[] = [];
      const held = some.map((settlement) => {
        const found = find(connection, settlement, self, access);
        if (found === undefined) return false;
        const isFinished = end(connection, disk, found, settlement, nowMs, changes, access);
        if (isFinished) leaveOrder(connection, found.seq, found.key, nowMs);
        const { key, id } = settlement;
        if (settlement.as === 'completed' && !found.isIdGenerated)
          completed.push({ key, id, sum: found.sum });
        return true;
      });
      rememberIds(connection, completed, nowMs, changes);
      return held;
    }),
  );
}

export function hasten(connection: Connection, { key, afterMs, nowMs, limit }: Hastening): number {
  return connection.transaction(() =>
    key === undefined
      ? connection.run(
          `UPDATE queue SET due_ms = ?
          WHERE seq IN (SELECT seq FROM queue INDEXED BY queue_retries WHERE state = 1 AND due_ms > ? LIMIT ?)`,
          [nowMs, afterMs, limit],
        )
      : connection.run(
          `UPDATE queue SET due_ms = ? WHERE seq IN (
            SELECT seq FROM queue INDEXED BY queue_waiting WHERE state = 1 AND key = ? AND due_ms > ? LIMIT ?
          )`,
          [nowMs, encodeText(key), afterMs, limit],
        ),
  );
}

function find(connection: Connection, claim: ClaimRef, self: number, { usesIds }: Access): Held | undefined {
  const key = encodeText(claim.key);
  const id = encodeText(claim.id);
  const row = connection.get(usesIds ? HELD : HELD_PAST_IDS, [key, id, self, claim.attempt]) as
    HeldRow | undefined;
  if (row === undefined) return undefined;
  const [seq, bytes, isIdGenerated, sum] = row;
  return { seq, key, id, bytes, isIdGenerated: isIdGenerated === 1, sum };
}

/** @returns whether the delivery has left the queue. */
function end(
  connection: Connection,
  disk: DiskSpace,
  held: Held,
  settlement: Settlement,
  nowMs: number,
  changes: Totals,
  { removesRows }: Access,
): boolean {
  const { seq, key, id, bytes, sum } = held;
  changes.inFlight -= 1;
  switch (settlement.as) {
    case 'failed':
      connection.run(RETRY, [settlement.isRepeated === true ? 1 : 0, settlement.retryAtMs, seq]);
      return false;
    case 'released':
      if (settlement.retryAtMs === undefined)
        connection.run(
          `UPDATE queue SET state = CASE WHEN strandings > 0 THEN 3 ELSE 0 END, attempts = attempts - 1,
            due_ms = min(due_ms, ?), owner = NULL, lease_ms = NULL
          WHERE seq = ?`,
          [nowMs, seq],
        );
      else connection.run(RETRY, [1, settlement.retryAtMs, seq]);
      return false;
    case 'dead':
      connection.run(
        `INSERT INTO shelf (seq, key, id, reason, error, attempts, shelved_ms, sum)
        VALUES (?, ?, ?, 'dead', ?, ?, ?, ?)`,
        [seq, key, id, encodeText(disk.cutToFit(settlement.error)), settlement.attempt, nowMs, sum],
      );
      changes.deadLetters += 1;
      changes.deadLetterBytes += bytes;
      break;
    case 'completed':
      if (settlement.keep) {
        connection.run(
          'INSERT INTO kept (seq, key, id, bytes, attempts, completed_ms, sum) VALUES (?, ?, ?, ?, ?, ?, ?)',
          [seq, key, id, bytes, settlement.attempt, nowMs, sum],
        );
        changes.retained += 1;
        changes.retainedBytes += bytes;
      } else if (removesRows) {
        connection.run('DELETE FROM contents WHERE seq = ?', [seq]);
      }
  }
  connection.run('DELETE FROM queue WHERE seq = ?', [seq]);
  changes.depth -= 1;
  changes.drained += 1;
  changes.bytes -= bytes;
  return true;
}

/**
 * Calls `call` with all items in one commit. If that meets a damaged page, it calls `call` for each item in its own
 * commit, with less and less access: a transaction that has met a damaged page can only be rolled back.
 */
function avoidingDamage<T, R>(
  all: readonly T[],
  call: (some: readonly T[], access: Access) => readonly R[],
): readonly R[] {
  try {
    return call(all, FULL_ACCESS);
  } catch (error) {
    if (!isDamage(error)) throw error;
  }
  return all.flatMap((one) => {
    for (const access of [FULL_ACCESS, { ...FULL_ACCESS, removesRows: false }]) {
      try {
        return call([one], access);
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
    }
    return call([one], { usesIds: false, removesRows: false });
  });
}
