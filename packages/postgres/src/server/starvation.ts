import type { Server } from './server.ts';

const LOOK_MS = 30_000;
/** A transaction is old when it has been open for this time. */
const OLD_MS = 60_000;
/** So many claimed deliveries that PostgreSQL could not remove slow claims down. */
const MANY = 10_000;
/** Even without an old transaction: autovacuum is off or too slow. */
const VERY_MANY = 200_000;
const REPEAT_MS = 600_000;

interface Oldest {
  /** Who keeps old rows; null: no one. */
  readonly holder: string | null;
  readonly xmin: string | null;
  readonly dead: number;
}

/** Watches whether PostgreSQL can remove the rows of claimed deliveries, which claims have to pass until then. */
export class Starvation {
  readonly #server: Server;
  readonly #now: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #holder: { readonly name: string; readonly sinceMs: number } | undefined;
  #reportedMs = -Infinity;

  constructor(server: Server, now: () => number = () => performance.now()) {
    this.#server = server;
    this.#now = now;
  }

  begin(): void {
    this.#timer = setInterval(() => {
      this.look().catch(() => undefined);
    }, LOOK_MS);
    this.#timer.unref();
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async look(): Promise<void> {
    const { schema } = this.#server;
    // An application without rights sees the numbers of foreign transactions, but not when they began. A transaction that has
    // written has its own number, which may be the xmin of those that begin later: the first of them holds it.
    const [found] = await this.#server.query<Oldest>(
      `SELECT o.holder, o.xmin::text, coalesce(t.n_dead_tup, 0)::double precision AS dead
      FROM (SELECT pg_stat_get_dead_tuples('${schema}.queue'::regclass) AS n_dead_tup) t LEFT JOIN LATERAL (
        SELECT * FROM (
          SELECT concat('The session ', pid, ' (', application_name, ')') AS holder, xmin, xact_start
          FROM pg_stat_activity, LATERAL (VALUES (backend_xid), (backend_xmin)) AS held (xmin)
          WHERE xmin IS NOT NULL AND pid <> pg_backend_pid()
            AND (datname IS NULL OR datname = current_database())
          UNION ALL SELECT concat('The replication slot ', slot_name), xmin, NULL
          FROM pg_replication_slots WHERE xmin IS NOT NULL
          UNION ALL SELECT concat('The prepared transaction ', gid), transaction, prepared
          FROM pg_prepared_xacts WHERE database = current_database()
        ) AS all_holders ORDER BY age(xmin) DESC, xact_start LIMIT 1
      ) AS o ON true`,
    );
    if (found !== undefined) this.#judge(found);
  }

  #judge({ holder, xmin, dead }: Oldest): void {
    const now = this.#now();
    // While nothing is written, short transactions of different sessions have the same number.
    const name = holder === null || xmin === null ? undefined : `${holder} ${xmin}`;
    if (name === undefined) this.#holder = undefined;
    else if (this.#holder?.name !== name) this.#holder = { name, sinceMs: now };
    if (now - this.#reportedMs < REPEAT_MS) return;
    const heldMs = this.#holder === undefined ? 0 : now - this.#holder.sinceMs;
    const isOld = heldMs >= OLD_MS && dead >= MANY;
    if (!isOld && dead < VERY_MANY) return;
    this.#reportedMs = now;
    const rows = `PostgreSQL has not removed ${String(dead)} rows of claimed deliveries of the schema ${this.#server.schema}, which slow claims down.`;
    if (isOld && holder !== null)
      this.#server.report({
        type: 'warning',
        code: 'WBP_POSTGRES_OLD_TRANSACTION',
        message: `${holder} has kept a transaction open for ${String(Math.round(heldMs / 1000))} s. Meanwhile ${rows} End it.`,
      });
    else
      this.#server.report({
        type: 'warning',
        code: 'WBP_POSTGRES_DEAD_ROWS',
        message: `${rows} Check that autovacuum runs.`,
      });
  }
}
