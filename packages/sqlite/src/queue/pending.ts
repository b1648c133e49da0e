import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type {
  DeliveryRef,
  ListedPending,
  PageQuery,
  PendingState,
  StoredPage,
  StoredPending,
} from '@webhook-backpressure/inbox';
import type { Connection } from '../connection/connection.ts';
import {
  CONTENTS,
  deliveryOf,
  FACTS,
  factsOf,
  pageOf,
  PART_ROWS,
  type ContentsRow,
  type FactsRow,
} from '../tables/contents.ts';

type PendingRow = readonly [state: PendingState, attempts: number, dueMs: number];
type Query = PageQuery & { readonly state?: PendingState | undefined; readonly nowMs: number };

/** A retry that is due is `ready`, also before a claim has updated its state. `?2` is the time. */
const STATE = `CASE WHEN q.state = 2 THEN 'active' WHEN q.state = 1 AND q.due_ms > ?2 THEN 'delayed' ELSE 'ready' END`;
const PART = `SELECT seq FROM queue WHERE seq > ?1 ORDER BY seq LIMIT ${String(PART_ROWS)}`;

export function listPending(
  connection: Connection,
  { key, state, after, limit, nowMs }: Query,
): StoredPage<ListedPending> {
  const rows = connection.all(
    `SELECT q.seq, ${STATE} AS current_state, q.attempts, q.due_ms, length(c.body), ${FACTS}
    FROM queue q CROSS JOIN contents c ON c.seq = q.seq
    WHERE q.seq > ?1 AND q.seq <= (SELECT max(seq) FROM (${PART}))
      AND (?3 IS NULL OR q.key = ?3) AND (?4 IS NULL OR current_state = ?4)
    ORDER BY q.seq LIMIT ?5`,
    [after, nowMs, key === undefined ? null : encodeText(key), state ?? null, limit + 1],
  ) as [number, ...PendingRow, number, ...FactsRow][];
  const scanned = connection.get(`SELECT count(*), max(seq) FROM (${PART})`, [after]);
  return pageOf(
    rows,
    limit,
    scanned as [number, number | null],
    ([, current, attempts, dueMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      state: current,
      attempts,
      dueMs,
      bodyBytes,
    }),
  );
}

export function getPending(
  connection: Connection,
  { key, id }: DeliveryRef,
  nowMs: number,
): StoredPending | undefined {
  const row = connection.get(
    `SELECT ${STATE}, q.attempts, q.due_ms, ${CONTENTS} FROM contents c JOIN queue q ON q.seq = c.seq
    WHERE c.key = ?1 AND c.id = ?3`,
    [encodeText(key), nowMs, encodeText(id)],
  ) as [...PendingRow, ...ContentsRow] | undefined;
  if (row === undefined) return undefined;
  const [state, attempts, dueMs, ...contents] = row;
  return { ...deliveryOf(contents), state, attempts, dueMs };
}

/** The keys that have a delivery with this id, in any state. Only for the command-line tool: it scans an index. */
export function keysOf(connection: Connection, id: string): readonly string[] {
  const rows = connection.all('SELECT key FROM contents WHERE id = ?', [encodeText(id)]);
  return (rows as [string][]).map(([key]) => decodeText(key));
}
