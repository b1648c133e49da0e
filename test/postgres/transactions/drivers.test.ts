import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzlePostgresJs } from 'drizzle-orm/postgres-js';
import { sql as drizzleSql, type SQL } from 'drizzle-orm';
import knexOf from 'knex';
import { CompiledQuery, Kysely, PostgresDialect, type Transaction } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { afterEach, describe, expect, it } from 'vitest';
import { isSkipped } from '../bed.ts';
import { TransactionBed } from './bed.ts';

/** Runs a transaction by a library. `work` gets its client for `complete` and `add`, and what runs a statement in it. */
type RunTransaction = (
  work: (client: unknown, run: (text: string) => Promise<unknown>) => Promise<void>,
) => Promise<void>;
interface Library {
  readonly run: RunTransaction;
  readonly end: () => Promise<unknown>;
}

/** The adapter of Drizzle, as the documentation has it. */
function byDrizzle(tx: { execute: (query: SQL) => Promise<unknown> }) {
  return (text: string, values: unknown[]) =>
    tx.execute(
      text
        .split(/\$\d+/)
        .map((part): SQL => drizzleSql.raw(part))
        // eslint-disable-next-line @typescript-eslint/no-unsafe-return -- programs of other tests declare the module with fewer types
        .reduce((whole, part, at) => drizzleSql`${whole}${values[at - 1]}${part}`),
    );
}

const libraries: Record<string, (connectionString: string) => Library> = {
  pg: (connectionString) => {
    const pool = new pg.Pool({ connectionString });
    return {
      run: async (work) => {
        const client = await pool.connect();
        try {
          await client.query('BEGIN');
          await work(client, (text) => client.query(text));
          await client.query('COMMIT');
        } catch (error) {
          await client.query('ROLLBACK');
          throw error;
        } finally {
          client.release();
        }
      },
      end: () => pool.end(),
    };
  },
  'postgres.js': (connectionString) => {
    const sql = postgres(connectionString, { max: 4 });
    return {
      run: async (work) => {
        await sql.begin((tx) =>
          work(
            (text: string, values: string[]) => tx.unsafe(text, values),
            (text) => tx.unsafe(text),
          ),
        );
      },
      end: () => sql.end(),
    };
  },
  'drizzle on pg': (connectionString) => {
    const pool = new pg.Pool({ connectionString });
    return {
      run: async (work) => {
        await drizzle(pool).transaction((tx) =>
          work(byDrizzle(tx), (text) => tx.execute(drizzleSql.raw(text))),
        );
      },
      end: () => pool.end(),
    };
  },
  'drizzle on postgres.js': (connectionString) => {
    const sql = postgres(connectionString, { max: 4 });
    return {
      run: async (work) => {
        await drizzlePostgresJs(sql).transaction((tx) =>
          work(byDrizzle(tx), (text) => tx.execute(drizzleSql.raw(text))),
        );
      },
      end: () => sql.end(),
    };
  },
  kysely: (connectionString) => {
    const db = new Kysely<unknown>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString }) }),
    });
    const by =
      (tx: Transaction<unknown>) =>
      (text: string, values: unknown[] = []) =>
        tx.executeQuery(CompiledQuery.raw(text, values));
    return {
      run: async (work) => {
        await db.transaction().execute((tx) => work(by(tx), by(tx)));
      },
      end: () => db.destroy(),
    };
  },
  knex: (connectionString) => {
    const knex = knexOf({ client: 'pg', connection: connectionString });
    return {
      run: async (work) => {
        await knex.transaction((trx) =>
          work(
            async (text: string, values: string[]): Promise<unknown> =>
              (await trx.raw(text.replace(/\$\d+/g, '?'), values)) as unknown,
            async (text): Promise<unknown> => (await trx.raw(text)) as unknown,
          ),
        );
      },
      end: () => knex.destroy(),
    };
  },
};

describe.skipIf(isSkipped).each(Object.entries(libraries))('a transaction of %s', (_, open) => {
  const bed = new TransactionBed();
  let library: Library;
  afterEach(async () => {
    await library.end();
    await bed.dispose();
  });

  it('completes a delivery and adds the next one, or neither', async () => {
    library = open(bed.bed.connectionString);
    const body = new Uint8Array([0, 1, 39, 92, 255]);
    await bed.open(async (delivery, { attempt, complete }) => {
      const { id } = delivery;
      await library.run(async (client, run) => {
        await run(`INSERT INTO ${bed.table} VALUES ('${id} ${String(attempt)}')`);
        if (id !== 'next')
          await bed.inbox.add({ id: 'next', key: "o'clock $1 ?", sender: 'us', body }, { client });
        else expect([...delivery.rawBody]).toEqual([...body]);
        await complete(client);
        if (id === 'first' && attempt === 1) throw new Error('rolled back');
      });
    });
    const done = new Promise<void>((resolve) => {
      bed.inbox.subscribe(({ type }) => {
        if (type === 'completed' && bed.inbox.snapshot().totals.completed === 2) resolve();
      });
    });
    await bed.inbox.add({ id: 'first', body: 'x' });
    await done;
    expect(bed.ends()).toEqual(['failed', 'completed', 'completed']);
    expect(await bed.effects()).toEqual(['first 2', 'next 1']);
    expect(await bed.inbox.pending.list()).toMatchObject({ deliveries: [] });
  });
});
