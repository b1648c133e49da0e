import pg from 'pg';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { postgresStore } from '@webhook-backpressure/postgres';
import { inject } from 'vitest';
import type { ClientTransaction, StoreBed } from '../core/inbox/store-bed.ts';
import type { Found } from './global-setup.ts';

const found = (await (await fetch(inject('postgresAt'))).json()) as Found;
if (found.connectionString === undefined)
  console.warn(`SKIPPED: the tests of PostgreSQL, because no server starts here.\n${found.problem}`);

/** Whether no server starts on this machine. */
export const isSkipped: boolean = found.connectionString === undefined;
const connectionString = found.connectionString ?? 'postgres://nowhere.invalid/';

/** A schema, and a pool to look at it. */
interface Place {
  readonly schema: string;
  readonly pool: pg.Pool;
}

let schemas = 0;
/** Of earlier tests of this process, with the tables empty: to create them, and to plan the first calls, takes 200 ms. */
const emptied: Place[] = [];

function newPlace(): Place {
  // Connections that a reused place keeps open must not keep the process.
  const pool = new pg.Pool({ connectionString, max: 8, allowExitOnIdle: true });
  // As the documentation of `pool` says.
  pool.on('error', () => undefined);
  schemas += 1;
  return { schema: `test_${String(process.pid)}_${String(schemas)}`, pool };
}

/** Leaves no row but those of a new schema. */
async function empty({ schema, pool }: Place): Promise<void> {
  await pool.query(`DO $$
    DECLARE
      one text;
    BEGIN
      FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = '${schema}' AND tablename NOT IN ('meta', 'totals') LOOP
        EXECUTE 'DELETE FROM ${schema}.' || one;
      END LOOP;
      UPDATE ${schema}.meta SET is_ordered = DEFAULT, first_slot = DEFAULT, room_depth = DEFAULT, room_bytes = DEFAULT;
      DELETE FROM ${schema}.totals;
      INSERT INTO ${schema}.totals (slot) SELECT generate_series(0, 15);
    END $$`);
}

interface BedOptions {
  readonly pooled?: boolean;
  /** For tests that change neither the tables nor what the connections are set to. */
  readonly isReused?: boolean;
}

/** The stores of a test, in a schema of their own, and a pool to look at it. */
export class PostgresBed implements StoreBed {
  readonly schema: string;
  readonly pool: pg.Pool;
  readonly connectionString: string = connectionString;
  readonly #stores: InboxStore[] = [];
  readonly #programs: pg.Client[] = [];
  readonly #isPooled: boolean;
  readonly #isReused: boolean;

  constructor({ pooled = false, isReused = false }: BedOptions = {}) {
    const { schema, pool } = (isReused ? emptied.pop() : undefined) ?? newPlace();
    this.schema = schema;
    this.pool = pool;
    this.#isPooled = pooled;
    this.#isReused = isReused;
  }

  store(): InboxStore {
    const { schema, pool } = this;
    const store = postgresStore({ pool }, { schema, pooled: this.#isPooled });
    this.#stores.push(store);
    return store;
  }

  /** Another program that uses the database. */
  async otherProgram(): Promise<pg.Client> {
    const { connectionString } = this;
    const client = new pg.Client({ connectionString });
    this.#programs.push(client);
    await client.connect();
    return client;
  }

  async transaction(): Promise<ClientTransaction> {
    const client = await this.otherProgram();
    await client.query('BEGIN');
    const end = async (text: string): Promise<void> => {
      await client.query(text);
    };
    return { client, commit: () => end('COMMIT'), rollBack: () => end('ROLLBACK') };
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#programs.map((client) => client.end()));
    // Some may be closed already, or never opened.
    await Promise.allSettled(this.#stores.map(async (store) => store.close(0)));
    const { rowCount } = await this.pool.query(`SELECT FROM pg_tables WHERE schemaname = $1`, [this.schema]);
    if (this.#isReused && rowCount !== 0) {
      await empty(this);
      emptied.push({ schema: this.schema, pool: this.pool });
      return;
    }
    await this.pool.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
    await this.pool.end();
  }
}
