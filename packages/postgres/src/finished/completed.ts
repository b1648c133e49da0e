import type {
  Counted,
  DeliveryRef,
  ListedCompleted,
  MovedDelivery,
  PageQuery,
  Portion,
  ShelfScope,
  StoredCompleted,
  StoredPage,
} from '@webhook-backpressure/inbox';
import { deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from '../records/contents.ts';
import { idHash } from '../records/id-hash.ts';
import { MAX_SCANNED, pageOf, type PageRow, type Scanned } from '../records/paging.ts';
import { countRows, movedOf, moveRows, scopeOf, scopeValues, type PortionUpTo } from '../records/scope.ts';
import type { Server } from '../server/server.ts';

interface Completion {
  readonly attempts: number;
  readonly completed_ms: number;
}

/** Completed deliveries that are kept, and ids of completed ones. */
export class Completed {
  readonly #server: Server;
  readonly #from: string;

  constructor(server: Server) {
    this.#server = server;
    const { schema } = server;
    this.#from = `FROM ${schema}.kept k JOIN ${schema}.contents c ON c.seq = k.seq`;
  }

  async list({ key, after, limit }: PageQuery): Promise<StoredPage<ListedCompleted>> {
    const part = `SELECT at FROM ${this.#server.schema}.kept WHERE at > $3 ORDER BY at LIMIT ${String(MAX_SCANNED)}`;
    const scope = scopeOf('k', null, { key });
    const rows = await this.#server.query<FactsRow & Completion & PageRow & { body_bytes: number }>(
      `SELECT k.at::double precision AS position, k.attempts, k.completed_ms, octet_length(c.body) AS body_bytes,
        ${FACTS} ${this.#from}
      WHERE k.at > $3 AND k.at <= (SELECT max(at) FROM (${part}) p) AND ${scope} ORDER BY k.at LIMIT $4`,
      [...scopeValues(null, { key }), after, limit + 1],
    );
    const [scanned] = await this.#server.query<Scanned>(
      `SELECT count(*)::double precision AS count, max(at)::double precision AS last
      FROM (${part.replace('$3', '$1')}) p`,
      [after],
    );
    return pageOf(rows, limit, scanned as Scanned, (row) => ({
      ...factsOf(row),
      ...this.#completion(row),
      bodyBytes: row.body_bytes,
    }));
  }

  async get(id: string, scope: ShelfScope): Promise<StoredCompleted | undefined> {
    const [row] = await this.#server.query<ContentsRow & Completion>(
      `SELECT k.attempts, k.completed_ms, ${FACTS}, c.body ${this.#from}
      WHERE ${scopeOf('k', id, scope)} ORDER BY k.at DESC LIMIT 1`,
      scopeValues(id, scope),
    );
    return row === undefined ? undefined : { ...deliveryOf(row), ...this.#completion(row) };
  }

  async count(id: string | null, scope: ShelfScope): Promise<Counted> {
    return await countRows(this.#server, 'kept', id, scope);
  }

  async replay(
    id: string | null,
    scope: ShelfScope,
    portion: PortionUpTo,
    nowMs: number,
  ): Promise<readonly MovedDelivery[]> {
    return await moveRows(this.#server, 'replay_v1', id, scope, portion, nowMs);
  }

  async drop({
    beforeMs,
    keepBytes,
    limit,
    maxBytes,
  }: Portion & { readonly beforeMs: number; readonly keepBytes: number }): Promise<readonly MovedDelivery[]> {
    const values = [limit, maxBytes, this.#server.skew.toServer(beforeMs), keepBytes];
    return (await this.#server.rows<MovedDelivery>('drop_kept_v1', values)).map(movedOf);
  }

  async forget({
    beforeMs,
    keep,
    limit,
  }: {
    readonly beforeMs: number;
    readonly keep: number;
    readonly limit: number;
  }): Promise<number> {
    const values = [this.#server.skew.toServer(beforeMs), keep, limit];
    const { forget_v1: count } = await this.#server.call<{ forget_v1: string }>('forget_v1', values);
    return Number(count);
  }

  async forgetId(ref: DeliveryRef): Promise<boolean> {
    const answer = await this.#server.call<{ forget_id_v1: boolean }>('forget_id_v1', [idHash(ref)]);
    return answer.forget_id_v1;
  }

  #completion({ attempts, completed_ms: completedMs }: Completion): {
    readonly attempts: number;
    readonly completedAtMs: number;
  } {
    return { attempts, completedAtMs: this.#server.skew.fromServer(completedMs) };
  }
}
