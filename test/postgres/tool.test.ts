import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery, opened, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';
import { tool, toolHere } from './run-tool.ts';

const MISSING = 'The connection is missing: add postgres://…, or set DATABASE_URL or PGHOST. Try --help.\n';

describe('without a server', () => {
  it('prints help', async () => {
    const [asked, nothing] = [await tool(['--help']), await toolHere([])];
    expect(asked).toMatchObject({ code: 0, err: '' });
    expect(asked.out).toMatch(
      /^Usage: webhook-backpressure-postgres COMMAND \[ID\] \[CONNECTION\] \[options\]$/m,
    );
    expect(asked.out).toMatch(/^ {2}schema +prints the statements/m);
    expect(nothing).toEqual(asked);
    expect(await toolHere(['schema', '--help'])).toEqual(asked);
  });

  it('prints the statements that create or migrate the tables', async () => {
    const { code, out } = await toolHere(['schema', '--schema', 'elsewhere']);
    expect(code).toBe(0);
    expect(out).toMatch(/^BEGIN;\nCREATE SCHEMA IF NOT EXISTS elsewhere;\n/);
    expect(out).toMatch(/\nCOMMIT;\n$/);
    expect((await toolHere(['schema', '--from', '1'])).out).not.toContain('CREATE SCHEMA');
    expect(await toolHere(['schema', '--from', '99'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('ERR_WBP_POSTGRES_VERSION') as string,
    });
    expect(await toolHere(['schema', 'extra'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Try --help.') as string,
    });
    expect((await toolHere(['schema', '--form', '1'])).err).toBe(
      'Unknown option "--form". Did you mean "--from"? Try --help.\n',
    );
  });

  it('asks for a connection', async () => {
    expect(await tool(['status'])).toEqual({ code: 2, out: '', err: MISSING });
    expect(await tool(['status'], { DATABASE_URL: '' })).toEqual({ code: 2, out: '', err: MISSING });
    expect(await tool(['redrive', 'evt_1', 'evt_2'])).toEqual({
      code: 2,
      out: '',
      err: 'CONNECTION must begin with postgres://, but was "evt_2". Try --help.\n',
    });
  });

  it('reports a server that does not answer, and a wrong schema name, in one line', async () => {
    const { code, out, err } = await tool(['status', 'postgres://127.0.0.1:1/app']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^.*ECONNREFUSED.*ERR_WBP_POSTGRES_UNAVAILABLE.*\n$/);
    expect((await toolHere(['status', 'postgres://127.0.0.1:1/app', '--schema', 'A B'])).err).toMatch(
      /^.*ERR_WBP_POSTGRES_SCHEMA.*\n$/,
    );
  });
});

describe.skipIf(isSkipped)('on a server', () => {
  let bed: PostgresBed;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  const run = (...args: readonly string[]) =>
    toolHere([...args, '--schema', bed.schema, bed.connectionString]);

  it('finds it by variables', async () => {
    await opened(bed);
    const { connectionString, schema } = bed;
    const { hostname: host, port, username, pathname } = new URL(connectionString);
    const status = ['status', '--schema', schema];
    expect(await tool(status, { DATABASE_URL: connectionString })).toMatchObject({ code: 0, err: '' });
    const variables = { PGHOST: host, PGPORT: port, PGUSER: username, PGDATABASE: pathname.slice(1) };
    expect(await tool(status, variables)).toMatchObject({ code: 0, err: '' });
  });

  it('names the stores that are open', async () => {
    const store = await opened(bed);
    await put(store, [delivery('waiting')]);
    const { out } = await run('status', '--json');
    expect(JSON.parse(out)).toMatchObject({
      schema: bed.schema,
      depth: 1,
      oldestReceivedAt: new Date(START).toISOString(),
      owners: [{ owner: expect.any(Number) as number, isAlive: true }],
    });
    expect((await run('status')).out).toMatch(/^open since +20[\d:.TZ-]+ by owner \d+, connected from /m);
    await store.close(START);
    expect(JSON.parse((await run('status', '--json')).out)).toMatchObject({ owners: [] });
  });

  it('creates and changes nothing where there are no tables, or those of another release or application', async () => {
    const { schema, pool } = bed;
    const commands = [['status'], ['show', 'a'], ['redrive', 'all']];
    const refuses = async (code: string): Promise<void> => {
      for (const command of commands) {
        const { code: exit, out, err } = await run(...command);
        expect({ exit, out }, command.join(' ')).toEqual({ exit: 1, out: '' });
        expect(err, command.join(' ')).toMatch(new RegExp(`^.*${code}.*\n$`));
      }
    };
    await refuses('ERR_WBP_POSTGRES_FOREIGN');
    const { rows } = await pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
    expect(rows).toEqual([]);
    await opened(bed);
    await pool.query(`UPDATE ${schema}.meta SET version = 0`);
    await refuses('ERR_WBP_POSTGRES_FOREIGN');
    await pool.query(`UPDATE ${schema}.meta SET version = 99, min_version = 99`);
    await refuses('ERR_WBP_POSTGRES_VERSION');
    await pool.query(`UPDATE ${schema}.meta SET application = 'shop'`);
    await refuses('ERR_WBP_POSTGRES_FOREIGN');
  });

  it('finds an id whatever the number of its keys is, and text that PostgreSQL cannot store', async () => {
    const store = await opened(bed);
    const odd = 'nul\0 and \ud800';
    await put(store, [delivery('same', { key: 'a' }), delivery('same', { key: odd }), delivery(odd)]);
    const { out } = await run('find', 'same', '--json');
    expect((JSON.parse(out) as { places: unknown[] }).places).toHaveLength(2);
    expect((await run('pending')).out).toContain('nul\\u0000 and \\ud800');
  });
});
