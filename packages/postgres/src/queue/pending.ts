import type {
  DeliveryRef,
  ListedPending,
  PageQuery,
  PendingState,
  StoredPage,
  StoredPending,
} from '@webhook-backpressure/inbox';
import { deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from '../records/contents.ts';
import { idHash } from '../records/id-hash.ts';
import { MAX_SCANNED, pageOf, type PageRow, type Scanned } from '../records/paging.ts';
import { encodeText } from '../records/text.ts';
import type { Server } from '../server/server.ts';

interface State {
  readonly state: PendingState;
  readonly attempts: number;
  readonly due_ms: number;
}

/** A retry that is due is `ready`, also before a claim has updated its state. `$1` is the time. */
const STATE = `CASE WHEN q.state = 2 THEN 'active' WHEN q.state = 1 AND q.due_ms > $1::double precision THEN 'delayed' ELSE 'ready' END`;

/** Lists and shows stored, unfinished deliveries. */
export class Pending {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async list({
    key,
    state,
    after,
    limit,
    nowMs,
  }: PageQuery & { readonly state?: PendingState | undefined; readonly nowMs: number }): Promise<
    StoredPage<ListedPending>
  > {
    const { schema, skew } = this.#server;
    const part = `SELECT seq FROM ${schema}.queue WHERE seq > $1 ORDER BY seq LIMIT ${String(MAX_SCANNED)}`;
    const rows = await this.#server.query<FactsRow & State & PageRow & { body_bytes: number }>(
      `SELECT q.seq::double precision AS position, ${STATE} AS state, q.attempts, q.due_ms,
        octet_length(c.body) AS body_bytes, ${FACTS}
      FROM ${schema}.queue q JOIN ${schema}.contents c ON c.seq = q.seq
      WHERE q.seq > $2 AND q.seq <= (SELECT max(seq) FROM (${part.replace('$1', '$2')}) p)
        AND ($3::text IS NULL OR q.key = $3) AND ($4::text IS NULL OR ${STATE} = $4) ORDER BY q.seq LIMIT $5`,
      [skew.toServer(nowMs), after, key === undefined ? null : encodeText(key), state ?? null, limit + 1],
    );
    const [scanned] = await this.#server.query<Scanned>(
      `SELECT count(*)::double precision AS count, max(seq)::double precision AS last FROM (${part}) p`,
      [after],
    );
    return pageOf(rows, limit, scanned as Scanned, (row) => ({
      ...factsOf(row),
      ...this.#stateOf(row),
      bodyBytes: row.body_bytes,
    }));
  }

  async get(ref: DeliveryRef, nowMs: number): Promise<StoredPending | undefined> {
    const { schema, skew } = this.#server;
    const [row] = await this.#server.query<ContentsRow & State>(
      `SELECT ${STATE} AS state, q.attempts, q.due_ms, ${FACTS}, c.body
      FROM ${schema}.ids i JOIN ${schema}.queue q ON q.seq = i.seq JOIN ${schema}.contents c ON c.seq = i.seq
      WHERE i.hash = $2`,
      [skew.toServer(nowMs), idHash(ref)],
    );
    return row === undefined ? undefined : { ...deliveryOf(row), ...this.#stateOf(row) };
  }

  #stateOf({ state, attempts, due_ms: dueMs }: State): Pick<StoredPending, 'state' | 'attempts' | 'dueMs'> {
    return { state, attempts, dueMs: this.#server.skew.fromServer(dueMs) };
  }
}
