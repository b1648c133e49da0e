import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSkipped } from '../bed.ts';
import { TransactionBed } from './bed.ts';

describe.skipIf(isSkipped)('complete(client) on PostgreSQL', () => {
  let bed: TransactionBed;
  beforeEach(() => {
    bed = new TransactionBed();
  });
  afterEach(() => bed.dispose());

  const insert = (id: string) => `INSERT INTO ${bed.table} VALUES ('${id}')`;

  it('commits the effects and the completion together', async () => {
    await bed.open(({ id }, { complete }) =>
      bed.transaction(async (client) => {
        await client.query(insert(id));
        await complete(client);
      }),
    );
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', key: 'shop', body: 'text' });
    expect(await completed).toMatchObject({ key: 'shop', id: 'a', attempt: 1 });
    expect(await bed.effects()).toEqual(['a']);
    expect(bed.inbox.snapshot()).toMatchObject({ depth: 0, bytes: 0, totals: { completed: 1, failed: 0 } });
    expect(await bed.inbox.add({ id: 'a', key: 'shop', body: 'text' })).toMatchObject({
      status: 'duplicate',
    });
  });

  it.each([true, false])(
    'fails the attempt when the transaction is rolled back, throws: %s',
    async (throws) => {
      await bed.open(async ({ id }, { attempt, complete }) => {
        const client = await bed.bed.pool.connect();
        await client.query('BEGIN');
        await client.query(insert(`${id}${String(attempt)}`));
        await complete(client);
        await client.query(attempt === 1 ? 'ROLLBACK' : 'COMMIT');
        client.release();
        if (attempt === 1 && throws) throw new Error('after the rollback');
      });
      const completed = bed.next('completed');
      await bed.inbox.add({ id: 'a', body: '' });
      await completed;
      expect(bed.ends()).toEqual(['failed', 'completed']);
      const error = throws
        ? 'after the rollback'
        : 'complete() was called, but its transaction was not committed.';
      expect(bed.events.find(({ type }) => type === 'failed')).toMatchObject({ error });
      expect(await bed.effects()).toEqual(['a2']);
    },
  );

  it('completes a delivery whose handler throws after the commit', async () => {
    await bed.open(async ({ id }, { complete }) => {
      await bed.transaction(async (client) => {
        await client.query(insert(id));
        await complete(client);
      });
      throw new Error('too late');
    });
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(bed.ends()).toEqual(['completed']);
    expect(await bed.effects()).toEqual(['a']);
  });

  it('rejects a client without a transaction, before anything is settled', async () => {
    const errors: unknown[] = [];
    await bed.open(async (_, { attempt, complete }) => {
      if (attempt > 1) return;
      await complete(bed.bed.pool).catch((error: unknown) => {
        errors.push(error);
        throw error;
      });
    });
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(errors).toEqual([expect.objectContaining({ code: 'ERR_WBP_TRANSACTION' })]);
    expect(bed.ends()).toEqual(['failed', 'completed']);
  });

  it('works first in a transaction that has written nothing yet', async () => {
    await bed.open(({ id }, { complete }) =>
      bed.transaction(async (client) => {
        await complete(client);
        await client.query(insert(id));
      }),
    );
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(await bed.effects()).toEqual(['a']);
  });

  it('fails an attempt whose handler ignores that complete() has rejected', async () => {
    await bed.open(async ({ id }, { attempt, complete }) => {
      const client = await bed.bed.pool.connect();
      await client.query('BEGIN');
      await client.query(insert(id));
      // The transaction has failed, so that COMMIT rolls it back without an error.
      if (attempt === 1) await client.query('SELECT 1/0').catch(() => undefined);
      await complete(client).catch(() => undefined);
      await client.query('COMMIT');
      client.release();
    });
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(bed.ends()).toEqual(['failed', 'completed']);
    expect(await bed.effects()).toEqual(['a']);
  });

  it('may be called without being awaited', async () => {
    await bed.open(({ id }, { complete }) =>
      bed.transaction(async (client) => {
        await client.query(insert(id));
        void complete(client);
      }),
    );
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(await bed.effects()).toEqual(['a']);
  });

  it('rejects a second call in one transaction, and after the attempt', async () => {
    const codes: unknown[] = [];
    const note = (error: unknown): void => {
      codes.push((error as { code: unknown }).code);
    };
    let late: (client: unknown) => Promise<void> = () => Promise.resolve();
    await bed.open(async ({ id }, { attempt, complete }) => {
      late = complete;
      await bed.transaction(async (client) => {
        await client.query(insert(id));
        await complete(client);
        if (attempt > 1) return;
        await complete(client).catch((error: unknown) => {
          note(error);
          throw error;
        });
      });
    });
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(bed.ends()).toEqual(['failed', 'completed']);
    try {
      await late(bed.bed.pool);
    } catch (error) {
      note(error);
    }
    expect(codes).toEqual(['ERR_WBP_CLAIM_LOST', 'ERR_WBP_CLAIM_LOST']);
    expect(await bed.effects()).toEqual(['a']);
  });

  it('rejects when another process has taken the delivery over', async () => {
    const { schema, pool } = bed.bed;
    const codes: unknown[] = [];
    await bed.open(async ({ id }, { attempt, complete }) => {
      if (attempt === 1) await pool.query(`UPDATE ${schema}.queue SET owner = 1, attempts = 2`);
      await bed
        .transaction(async (client) => {
          await client.query(insert(id));
          await complete(client);
        })
        .catch((error: unknown) => {
          codes.push((error as { code: unknown }).code);
          throw error;
        });
    });
    const lost = bed.next('lost');
    await bed.inbox.add({ id: 'a', body: '' });
    await lost;
    expect(codes).toEqual(['ERR_WBP_CLAIM_LOST']);
    expect(await bed.effects()).toEqual([]);
  });

  it('names the database as the reason where the client is connected to another one', async () => {
    const { pool } = bed.bed;
    const name = `${bed.bed.schema}_other`;
    await pool.query(`CREATE DATABASE ${name}`);
    const { default: pg } = await import('pg');
    const url = new URL(bed.bed.connectionString);
    url.pathname = `/${name}`;
    const other = new pg.Client({ connectionString: String(url) });
    await other.connect();
    const codes: unknown[] = [];
    await bed.open(async (_, { attempt, complete }) => {
      if (attempt > 1) return;
      await other.query('BEGIN; CREATE TEMP TABLE t (id text); INSERT INTO t VALUES (1)');
      await complete(other).catch((error: unknown) => {
        codes.push((error as { code: unknown }).code);
        throw error;
      });
    });
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'a', body: '' });
    await completed;
    expect(codes).toEqual(['ERR_WBP_TRANSACTION']);
    await other.end();
    await pool.query(`DROP DATABASE ${name}`);
  });

  it('keeps the delivery, and completes an encrypted one', async () => {
    await bed.open(
      async (delivery, { complete }) => {
        await bed.transaction(async (client) => {
          await client.query(insert(delivery.text()));
          await complete(client);
        });
      },
      { keepCompletedMs: 1000, encrypt: { keys: { one: new Uint8Array(32).fill(1) } } },
    );
    const completed = bed.next('completed');
    await bed.inbox.add({
      id: 'a',
      body: 'secret',
      headers: { 'X-Api-Key': 'k', 'X-Kind': 'v' },
      context: { of: 1 },
    });
    await completed;
    expect(await bed.effects()).toEqual(['secret']);
    const kept = await bed.inbox.completed.get('a');
    expect(kept).toMatchObject({ headers: { 'x-kind': 'v' }, context: { of: 1 } });
    expect(kept?.headers).not.toHaveProperty('x-api-key');
  });

  it('frees the worker of an overdue handler without waiting for its transaction, and processes others', async () => {
    const begun: string[] = [];
    let commit: () => void = () => undefined;
    await bed.open(
      async ({ id }, { complete, signal }) => {
        begun.push(id);
        if (id !== 'slow') return;
        await bed.transaction(async (client) => {
          await client.query(insert(id));
          await complete(client);
          await once(signal as never, 'abort');
          await new Promise<void>((resolve) => {
            commit = resolve;
          });
        });
      },
      { concurrency: 1, maxHandlingMs: 100 },
    );
    const overdue = bed.next('overdue');
    const fast = bed.next('completed');
    await bed.inbox.add({ id: 'slow', body: '' });
    await overdue;
    await bed.inbox.add({ id: 'fast', body: '' });
    expect(await fast).toMatchObject({ id: 'fast' });
    expect(bed.inbox.snapshot()).toMatchObject({ active: 0, isStoreFailing: false });
    const slow = bed.next('completed', 'failed');
    commit();
    expect(await slow).toMatchObject({ type: 'completed', id: 'slow' });
    expect(await bed.effects()).toEqual(['slow']);
    expect(begun).toEqual(['slow', 'fast']);
  });

  it('settles other deliveries while a handler has thrown and left its transaction open', async () => {
    const { pool } = bed.bed;
    const client = await pool.connect();
    let isOpen: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      isOpen = resolve;
    });
    await bed.open(async ({ id }, { attempt, complete }) => {
      if (id !== 'open' || attempt > 1) return;
      await client.query('BEGIN');
      await client.query(insert(id));
      await complete(client);
      isOpen();
      throw new Error('the client was not released');
    });
    await bed.inbox.add({ id: 'open', body: '' });
    await opened;
    const completed = bed.next('completed');
    await bed.inbox.add({ id: 'b', body: '' });
    expect(await completed).toMatchObject({ id: 'b' });
    expect(bed.inbox.snapshot()).toMatchObject({ isStoreFailing: false });
    const failed = bed.next('failed');
    const again = bed.next('completed');
    await client.query('ROLLBACK');
    client.release();
    expect(await failed).toMatchObject({ id: 'open', error: 'the client was not released' });
    expect(await again).toMatchObject({ id: 'open', attempt: 2 });
    expect(bed.events.filter(({ type }) => type === 'store-failed')).toEqual([]);
  });
});
