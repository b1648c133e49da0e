import type { Settlement } from '@webhook-backpressure/inbox';
import { idHash } from '../records/id-hash.ts';
import type { Server } from '../server/server.ts';

interface Row {
  /** Null: it has left the queue. */
  readonly state: number | null;
  readonly due_ms: number | null;
}

const WAITING = 1;

/**
 * Settlements that the server may have committed, although no answer arrived. When such a settlement is repeated, its
 * claim is not held any more, which must not look as if another process had taken it over.
 */
export class UnknownSettlements {
  readonly #server: Server;
  readonly #unknown = new Set<string>();

  constructor(server: Server) {
    this.#server = server;
  }

  lost(settlements: readonly Settlement[]): void {
    for (const one of settlements) this.#unknown.add(nameOf(one));
  }

  /** Whether each claim was held by the settlement or by an earlier try. */
  async resolve(settlements: readonly Settlement[], held: readonly boolean[]): Promise<readonly boolean[]> {
    if (this.#unknown.size === 0) return held;
    const repeated = settlements.filter((one, at) => this.#unknown.has(nameOf(one)) && held[at] !== true);
    const rows = repeated.length === 0 ? [] : await this.#rowsOf(repeated);
    const done = new Set(repeated.filter((one, at) => this.#isDone(one, rows[at])));
    for (const one of settlements) this.#unknown.delete(nameOf(one));
    return settlements.map((one, at) => held[at] === true || done.has(one));
  }

  #isDone(one: Settlement, row: Row | undefined): boolean {
    if (one.as === 'completed' || one.as === 'dead') return row?.state === null;
    const { retryAtMs } = one;
    // The time has a fraction at random, so that no other owner has set the same.
    return (
      row?.state === WAITING &&
      retryAtMs !== undefined &&
      row.due_ms === this.#server.skew.toServer(retryAtMs)
    );
  }

  async #rowsOf(settlements: readonly Settlement[]): Promise<readonly Row[]> {
    const { schema } = this.#server;
    return await this.#server.query<Row>(
      `SELECT q.state, q.due_ms FROM unnest($1::uuid[]) WITH ORDINALITY AS p(hash, at)
      LEFT JOIN ${schema}.ids i ON i.hash = p.hash LEFT JOIN ${schema}.queue q ON q.seq = i.seq ORDER BY p.at`,
      [settlements.map(idHash)],
    );
  }
}

function nameOf(one: Settlement): string {
  return `${idHash(one)} ${String(one.attempt)} ${one.as}`;
}
