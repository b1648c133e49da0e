import type { Socket } from 'node:net';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery, opened, put } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { blocked } from './held-commits.ts';

/** As a server does that says nothing more. */
function lose(client: pg.PoolClient): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

describe.skipIf(isSkipped)('postgresStore whose connections are lost', () => {
  let bed: PostgresBed;

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  // The server of a machine that fails says nothing more: pg then emits an error, beside failing the statement.
  it('rejects the call whose connection ends during a statement, and stores it with the next one', async () => {
    const store = await opened(bed);
    const other = await bed.pool.connect();
    await other.query(`BEGIN; LOCK TABLE ${bed.schema}.ids`);
    const used: pg.PoolClient[] = [];
    bed.pool.on('acquire', (client) => used.push(client));
    const cut = put(store, [delivery('1')]);
    await blocked(bed, 1, [cut]);
    const waiting = await bed.pool.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${bed.schema}.put%'`,
    );
    const pid = waiting.rows[0]?.pid;
    lose(
      used.find((client) => (client as unknown as { processID: number }).processID === pid) as pg.PoolClient,
    );
    await expect(cut).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_UNAVAILABLE' });
    await other.query('ROLLBACK');
    other.release();
    expect((await put(store, [delivery('1')]))[0]).toMatch(/^(stored|duplicate)$/);
    expect(await store.stats()).toMatchObject({ depth: 1 });
  });

  it('uses another connection after one has failed while it was idle', async () => {
    const clients = new Set<pg.PoolClient>();
    bed.pool.on('connect', (client) => clients.add(client));
    const store = await opened(bed);
    await put(store, [delivery('1')]);
    const closed = [...clients].map((client) => new Promise((resolve) => client.once('end', resolve)));
    expect(closed.length).toBeGreaterThan(0);
    // An error that no listener of the pool gets would be uncaught, and fail this test.
    for (const client of clients) lose(client);
    await Promise.all(closed);
    expect(await put(store, [delivery('2')])).toEqual(['stored']);
  });

  it('leaves the pool as it was', async () => {
    const before = bed.pool.listenerCount('error');
    const store = await opened(bed);
    expect(bed.pool.listenerCount('error')).toBe(before + 1);
    await store.close(0);
    expect(bed.pool.listenerCount('error')).toBe(before);
  });
});
