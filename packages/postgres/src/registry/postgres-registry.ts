import { inspect } from 'node:util';
import { BackpressureError, checkNames } from '@webhook-backpressure/base';
import type { FleetBeat, FleetRegistry, FleetView } from '@webhook-backpressure/fleet';
import { checkSchema, type PostgresPool } from '../options.ts';
import { migrate } from '../schema/migrate.ts';
import { Server } from '../server/server.ts';

/** Options of {@link postgresRegistry}. */
export interface PostgresRegistryOptions {
  /** The schema of the tables, as for `postgresStore`: both can use the same one. Default: `webhook_inbox`. */
  schema?: string | undefined;
}

/**
 * Where the members of a fleet see each other: two tables in PostgreSQL 15 or newer. The first beat creates the schema of
 * `postgresStore`, or migrates it. Later beats reject while it is away.
 *
 * @param pool - a `Pool` of `pg`. A beat needs one connection for a few milliseconds, every 2 s; behind PgBouncer too.
 * Add a listener of its `error` event, or a connection that fails while it is idle ends the process.
 * @param options - see {@link PostgresRegistryOptions}.
 * @throws BackpressureError `ERR_WBP_POSTGRES_CONNECTION`, `ERR_WBP_POSTGRES_SCHEMA` or `ERR_WBP_UNKNOWN_OPTION` for an
 * invalid argument. Beats reject with the codes of `postgresStore`.
 */
export function postgresRegistry(pool: PostgresPool, options: PostgresRegistryOptions = {}): FleetRegistry {
  checkNames(options, 'options', ['schema']);
  if (typeof (pool as Partial<PostgresPool> | undefined)?.connect !== 'function')
    throw new BackpressureError(
      'ERR_WBP_POSTGRES_CONNECTION',
      `The first argument must be a Pool of pg, but was ${inspect(pool, { depth: 0 })}.`,
    );
  const schema = checkSchema(options.schema);
  return new ServerRegistry(new Server({ connection: { pool }, schema, isPooled: true }), migrate);
}

interface Row {
  readonly member: string;
  /** 0: the state of the member. */
  readonly number: string | number;
  readonly age_ms: number;
  readonly content: string;
}

/** The registry in the schema of a server, which a store may use as well. */
export class ServerRegistry implements FleetRegistry {
  readonly #server: Server;
  readonly #prepare: (server: Server) => Promise<void>;
  #prepared: Promise<void> | undefined;

  /** @param prepare - called before the first beat, and again until it succeeds. */
  constructor(server: Server, prepare: (server: Server) => Promise<void> = () => Promise.resolve()) {
    this.#server = server;
    this.#prepare = prepare;
  }

  async beat({ resource, member, number, state, news, seen }: FleetBeat): Promise<FleetView> {
    const values = [resource, member, number, state, news, JSON.stringify(seen)];
    // Never again after a success: where a schema is away, during a restore for example, receivers would use an empty one.
    this.#prepared ??= this.#prepare(this.#server).catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    await this.#prepared;
    const rows = await this.#server.rows<Row>('fleet_beat_v1', values);
    const states = rows.filter((row) => Number(row.number) === 0);
    const others = rows.filter((row) => Number(row.number) > 0);
    return {
      members: states.map((row) => ({ member: row.member, ageMs: row.age_ms, state: row.content })),
      news: others.map((row) => ({ member: row.member, number: Number(row.number), news: row.content })),
    };
  }
}
