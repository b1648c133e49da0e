import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { startPostgres, type PostgresServer } from '../../demo/src/postgres-server.ts';
import { isSkipped, PostgresBed } from './bed.ts';

let server: PostgresServer | undefined;

afterEach(() => server?.stop());

async function query<R extends object>(text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: server?.connectionString });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}

// Without this test, the others would run on Debian's release, or be skipped, when that of npm does not start.
it('starts PostgreSQL 18 from npm, which keeps its data after an immediate stop', async () => {
  server = await startPostgres({ release: 18 });
  const [{ server_version: version } = {}] = await query<{ server_version: string }>('SHOW server_version');
  expect(version).toMatch(/^18\./);
  await query('CREATE TABLE kept AS SELECT 1 AS one');
  await server.crash();
  await expect(query('SELECT')).rejects.toThrow();
  await server.restart();
  expect(await query('SELECT * FROM kept')).toEqual([{ one: 1 }]);
});

it.skipIf(isSkipped || process.env['TEST_POSTGRES'] === '15')(
  'runs the other tests on that release',
  async () => {
    const bed = new PostgresBed();
    const { rows } = await bed.pool.query<{ server_version: string }>('SHOW server_version');
    expect(rows[0]?.server_version).toMatch(/^18\./);
    await bed.dispose();
  },
);

it('says why no server starts', async () => {
  await expect(startPostgres({ release: 18, settings: ['shared_buffers=none'] })).rejects.toThrow(
    /^PostgreSQL 18: .*shared_buffers/s,
  );
});
