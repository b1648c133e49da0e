import type {
  Counted,
  ListedDelivery,
  MovedDelivery,
  ShelfScope,
  ShelvedDelivery,
} from '@webhook-backpressure/inbox';
import { deliveryOf, FACTS, factsOf, type ContentsRow, type FactsRow } from '../records/contents.ts';
import { countRows, moveRows, scopeOf, scopeValues, type PortionUpTo } from '../records/scope.ts';
import { decodeText } from '../records/text.ts';
import type { Server } from '../server/server.ts';

interface Shelving {
  readonly attempts: number;
  readonly reason: 'dead' | 'overflow';
  readonly error: string;
  readonly shelved_ms: number;
}

const SHELVING = 'd.attempts, d.reason, d.error, d.shelved_ms';
const ORDER = 'ORDER BY d.shelved_ms, d.seq';

/** The dead-letter queue. */
export class DeadLetters {
  readonly #server: Server;
  readonly #from: string;

  constructor(server: Server) {
    this.#server = server;
    const { schema } = server;
    this.#from = `FROM ${schema}.dead_letters d JOIN ${schema}.contents c ON c.seq = d.seq`;
  }

  async list(scope: ShelfScope, limit: number, offset: number): Promise<readonly ListedDelivery[]> {
    const rows = await this.#server.query<FactsRow & Shelving & { body_bytes: number }>(
      `SELECT ${SHELVING}, octet_length(c.body) AS body_bytes, ${FACTS} ${this.#from}
      WHERE ${scopeOf('d', null, scope)} ${ORDER} LIMIT $3 OFFSET $4`,
      [...scopeValues(null, scope), limit, offset],
    );
    return rows.map((row) => ({ ...factsOf(row), ...this.#shelving(row), bodyBytes: row.body_bytes }));
  }

  async get(id: string, scope: ShelfScope): Promise<ShelvedDelivery | undefined> {
    const [row] = await this.#server.query<ContentsRow & Shelving>(
      `SELECT ${SHELVING}, ${FACTS}, c.body ${this.#from} WHERE ${scopeOf('d', id, scope)} ${ORDER} LIMIT 1`,
      scopeValues(id, scope),
    );
    return row === undefined ? undefined : { ...deliveryOf(row), ...this.#shelving(row) };
  }

  async count(id: string | null, scope: ShelfScope): Promise<Counted> {
    return await countRows(this.#server, 'dead_letters', id, scope);
  }

  async redrive(
    id: string | null,
    scope: ShelfScope,
    portion: PortionUpTo,
    nowMs: number,
  ): Promise<readonly MovedDelivery[]> {
    return await moveRows(this.#server, 'redrive_v1', id, scope, portion, nowMs);
  }

  async purge(
    id: string | null,
    scope: ShelfScope,
    portion: PortionUpTo,
    beforeMs: number | undefined,
  ): Promise<readonly MovedDelivery[]> {
    return await moveRows(this.#server, 'purge_v1', id, scope, portion, beforeMs ?? Infinity);
  }

  #shelving(row: Shelving): Pick<ShelvedDelivery, 'attempts' | 'reason' | 'error' | 'shelvedAtMs'> {
    const { attempts, reason, error, shelved_ms: shelvedMs } = row;
    return {
      ...{ attempts, reason },
      error: decodeText(error),
      shelvedAtMs: this.#server.skew.fromServer(shelvedMs),
    };
  }
}
