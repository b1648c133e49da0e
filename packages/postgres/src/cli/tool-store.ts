import { decodeText, encodeText } from '@webhook-backpressure/inbox/store';
import type { DeliveryRef } from '@webhook-backpressure/inbox';
import type { ToolOwner, ToolStore } from '@webhook-backpressure/inbox/tool';
import { idHash } from '../records/records.ts';
import { announce } from '../server/announcements.ts';
import { LOCK } from '../server/presence.ts';
import type { Server } from '../server/server.ts';
import { StoredDeliveries } from '../store/stored-deliveries.ts';

/** Contents have no index on ids, which only the tool would use, so they are read in parts. */
const SCANNED = 50_000;

/** The schema of an inbox, as the tool uses it: without an owner, because the tool claims nothing. */
export class ToolSchema extends StoredDeliveries implements ToolStore {
  readonly place: ToolStore['place'];
  readonly #end: () => Promise<void>;

  /** @param end - ends the pool of the server. */
  constructor(server: Server, end: () => Promise<void>) {
    super(server);
    this.place = { name: 'schema', value: server.schema };
    this.#end = end;
  }

  protected async announce(): Promise<void> {
    await announce(this.server);
  }

  async keysOf(id: string): Promise<readonly string[]> {
    const { server } = this;
    const keys = new Set<string>();
    for (let after: string | null = '0'; after !== null;) {
      const [part]: readonly { last: string | null; keys: string[] | null }[] = await server.query(
        `SELECT max(seq)::text AS last, array_agg(DISTINCT key) FILTER (WHERE id = $1) AS keys FROM (
          SELECT seq, key, id FROM ${server.schema}.contents WHERE seq > $2::bigint
          ORDER BY seq LIMIT ${String(SCANNED)}) p`,
        [encodeText(id), after],
      );
      for (const key of part?.keys ?? []) keys.add(decodeText(key));
      after = part?.last ?? null;
    }
    return [...keys].sort();
  }

  async isRemembered(ref: DeliveryRef): Promise<boolean> {
    const rows = await this.server.query(
      `SELECT 1 FROM ${this.server.schema}.ids WHERE hash = $1 AND completed_ms IS NOT NULL`,
      [idHash(ref)],
    );
    return rows.length > 0;
  }

  async room(): Promise<{ readonly depth: number; readonly bytes: number } | undefined> {
    const [row] = await this.server.query<{ depth: number | null; bytes: number | null }>(
      `SELECT room_depth AS depth, room_bytes AS bytes FROM ${this.server.schema}.meta`,
    );
    const { depth, bytes } = row ?? {};
    return typeof depth === 'number' && typeof bytes === 'number' ? { depth, bytes } : undefined;
  }

  /** Stores hold a lock in a session while they are open, unless they run behind a pool of connections. */
  async owners(): Promise<readonly ToolOwner[]> {
    const { server } = this;
    const rows = await server.query<{
      owner: number;
      address: string | null;
      application: string;
      at: number;
    }>(
      `SELECT l.objid::bigint::double precision AS owner, host(a.client_addr) AS address,
        coalesce(a.application_name, '') AS application,
        (extract(epoch FROM coalesce(a.backend_start, clock_timestamp())) * 1000)::double precision AS at
      FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.classid::bigint = ${LOCK}::bigint & 4294967295 ORDER BY owner`,
      [server.schema],
    );
    return rows.map(({ owner, address, application, at }) => ({
      sinceMs: server.skew.fromServer(at),
      where: `by owner ${String(owner)}, connected from ${address ?? 'a local socket'}${application === '' ? '' : ` as ${application}`}`,
      hasEnded: false,
      data: { owner, address: address ?? '', application },
    }));
  }

  async close(): Promise<void> {
    await this.#end();
  }
}
