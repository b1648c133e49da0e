import type { Socket } from 'node:net';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery, opened, put } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { blocked } from './held-commits.ts';

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
    (used[0] as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
    await expect(cut).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_UNAVAILABLE' });
    await other.query('ROLLBACK');
    other.release();
    expect((await put(store, [delivery('1')]))[0]).toMatch(/^(stored|duplicate)$/);
    expect(await store.stats()).toMatchObject({ depth: 1 });
  });
});
