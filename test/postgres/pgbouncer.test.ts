import pg from 'pg';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { postgresRegistry, postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimOne, delivery, ends, put, settle, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { findPgBouncer, PgBouncer, type PgBouncerProgram } from './pgbouncer.ts';
import { tool } from './run-tool.ts';

const found = isSkipped
  ? 'There is no PostgreSQL.'
  : await findPgBouncer().catch((error: unknown) => String(error));
if (typeof found === 'string') console.warn(`SKIPPED: the tests of PgBouncer. ${found}`);

describe.skipIf(typeof found === 'string')('behind PgBouncer', () => {
  let bed: PostgresBed;
  let bouncer: PgBouncer | undefined;
  let stores: InboxStore[];

  beforeEach(() => {
    bed = new PostgresBed();
    stores = [];
  });
  afterEach(async () => {
    await Promise.allSettled(stores.map(async (store) => store.close(START)));
    await bouncer?.stop();
    await bed.dispose();
  });

  async function start(mode: 'transaction' | 'session'): Promise<string> {
    bouncer = await PgBouncer.start(found as PgBouncerProgram, mode, bed.connectionString);
    return bouncer.connectionString;
  }
  async function opened(...[connection, options]: Parameters<typeof postgresStore>): Promise<InboxStore> {
    const store = postgresStore(connection, { schema: bed.schema, ...options });
    stores.push(store);
    await store.open(START);
    return store;
  }
  /** Stores a delivery in one store, and handles it in the other. */
  async function passOn(from: InboxStore, to: InboxStore, id: string): Promise<void> {
    expect(await put(from, [delivery(id)])).toEqual(['stored']);
    expect(await put(to, [delivery(id)])).toEqual(['duplicate']);
    const claim = await claimOne(to);
    expect(await settle(to, ends.completed(claim))).toBe(true);
  }

  it('stores with pooled: true, the registry and the tool work in transaction mode', async () => {
    const connectionString = await start('transaction');
    const receiver = await opened({ connectionString }, { pooled: true });
    const worker = await opened({ connectionString }, { pooled: true });
    await passOn(receiver, worker, 'a');
    // More calls at the same time than PgBouncer has connections.
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(receiver, [delivery(`more-${String(at)}`)])));
    expect((await worker.stats()).depth).toBe(20);
    const view = await worker.registry?.beat({
      resource: 'inbox',
      member: 'a',
      number: 1,
      state: '{}',
      news: '',
      seen: {},
    });
    expect(view?.members).toHaveLength(1);
    const { out } = await tool(['status', connectionString, '--schema', bed.schema]);
    expect(out).toMatch(/unfinished +20 /);
  });

  it('a registry on a pool works in transaction mode', async () => {
    const pool = new pg.Pool({ connectionString: await start('transaction'), max: 2 });
    const registry = postgresRegistry(pool, { schema: bed.schema });
    const beat = { resource: 'db', number: 1, state: '{}', news: '', seen: {} };
    await registry.beat({ ...beat, member: 'a' });
    expect((await registry.beat({ ...beat, member: 'b' })).members).toHaveLength(2);
    await pool.end();
  });

  it('stores with a pool work in session mode, and one with an address says which parameter is refused', async () => {
    const connectionString = await start('session');
    const pools: readonly pg.Pool[] = [0, 1].map(() => new pg.Pool({ connectionString, max: 4 }));
    const [receiver, worker] = await Promise.all(pools.map((pool) => opened({ pool })));
    await passOn(receiver as InboxStore, worker as InboxStore, 'a');
    await expect(opened({ connectionString })).rejects.toMatchObject({
      code: 'ERR_WBP_POSTGRES_UNAVAILABLE',
      message: expect.stringContaining('statement_timeout') as unknown,
    });
    await Promise.allSettled(stores.splice(0).map(async (store) => store.close(START)));
    for (const pool of pools) await pool.end();
  });
});
