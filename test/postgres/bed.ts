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

let schemas = 0;

/** The stores of a test, in a schema of their own, and a pool to look at it. */
export class PostgresBed implements StoreBed {
  readonly schema: string;
  readonly pool: pg.Pool = new pg.Pool({ connectionString, max: 8 });
  readonly connectionString: string = connectionString;
  readonly #stores: InboxStore[] = [];
  readonly #programs: pg.Client[] = [];
  readonly #isPooled: boolean;

  constructor({ pooled = false }: { readonly pooled?: boolean } = {}) {
    // As the documentation of `pool` says.
    this.pool.on('error', () => undefined);
    schemas += 1;
    this.schema = `test_${String(process.pid)}_${String(schemas)}`;
    this.#isPooled = pooled;
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
    await this.pool.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
    await this.pool.end();
  }
}
