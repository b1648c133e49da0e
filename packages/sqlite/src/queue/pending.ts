import type {
  DeliveryRef,
  ListedPending,
  PageQuery,
  PendingState,
  StoredPage,
  StoredPending,
} from '@webhook-backpressure/inbox';
import type { Connection, Statement } from '../connection/connection.ts';
import { CONTENTS, deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from '../tables/contents.ts';
import { pageOf, MAX_SCANNED } from '../tables/paging.ts';
import { decodeText, encodeText } from '../tables/text.ts';

type PendingRow = readonly [state: PendingState, attempts: number, dueMs: number];

/** A retry that is due is `ready`, also before a claim has updated its state. `?2` is the time. */
const STATE = `CASE WHEN q.state = 2 THEN 'active' WHEN q.state = 1 AND q.due_ms > ?2 THEN 'delayed' ELSE 'ready' END`;

/** Lists and shows stored, unfinished deliveries. */
export class Pending {
  readonly #list: Statement;
  readonly #scanned: Statement;
  readonly #get: Statement;
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
    const part = `SELECT seq FROM queue WHERE seq > ?1 ORDER BY seq LIMIT ${String(MAX_SCANNED)}`;
    this.#list = connection.prepare(
      `SELECT q.seq, ${STATE} AS current_state, q.attempts, q.due_ms, length(c.body), ${FACTS}
      FROM queue q CROSS JOIN contents c ON c.seq = q.seq
      WHERE q.seq > ?1 AND q.seq <= (SELECT max(seq) FROM (${part})) AND (?3 IS NULL OR q.key = ?3) AND (?4 IS NULL OR current_state = ?4) ORDER BY q.seq LIMIT ?5`,
    );
    this.#scanned = connection.prepare(`SELECT count(*), max(seq) FROM (${part})`);
    this.#get = connection.prepare(
      `SELECT ${STATE}, q.attempts, q.due_ms, ${CONTENTS} FROM contents c JOIN queue q ON q.seq = c.seq
      WHERE c.key = ?1 AND c.id = ?3`,
    );
  }

  list({
    key,
    state,
    after,
    limit,
    nowMs,
  }: PageQuery & {
    readonly state?: PendingState | undefined;
    readonly nowMs: number;
  }): StoredPage<ListedPending> {
    const only = key === undefined ? null : encodeText(key);
    const rows = this.#list.all([after, nowMs, only, state ?? null, limit + 1]) as [
      number,
      ...PendingRow,
      number,
      ...FactsRow,
    ][];
    const scanned = this.#scanned.get([after]) as [number, number | null];
    return pageOf(rows, limit, scanned, ([, state, attempts, dueMs, bodyBytes, ...facts]) => ({
      ...factsOf(facts),
      ...{ state, attempts, dueMs, bodyBytes },
    }));
  }

  get({ key, id }: DeliveryRef, nowMs: number): StoredPending | undefined {
    const row = this.#get.get([encodeText(key), nowMs, encodeText(id)]) as
      [...PendingRow, ...ContentsRow] | undefined;
    if (row === undefined) return undefined;
    const [state, attempts, dueMs, ...contents] = row;
    return { ...deliveryOf(contents), state, attempts, dueMs };
  }

  /** The keys that have a delivery with this id, in any state. Only for the command-line tool: it scans an index. */
  keysOf(id: string): readonly string[] {
    const rows = this.#connection.prepare('SELECT key FROM contents WHERE id = ?').all([encodeText(id)]);
    return (rows as [string][]).map(([key]) => decodeText(key));
  }
}
