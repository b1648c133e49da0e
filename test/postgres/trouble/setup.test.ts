import pg from 'pg';
import { postgresSchema, postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSkipped, PostgresBed } from '../bed.ts';
import { TroubledReceiver } from './receiver.ts';

describe.skipIf(isSkipped)('a receiver on PostgreSQL whose schema cannot be used', () => {
  let bed: PostgresBed;
  let receiver: TroubledReceiver | undefined;

  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(async () => {
    await receiver?.close();
    await bed.dispose();
  });

  /** A receiver that refuses everything, because of this. */
  async function refusing(code: string, connectionString = bed.connectionString): Promise<TroubledReceiver> {
    const { schema } = bed;
    receiver = new TroubledReceiver(postgresStore({ connectionString }, { schema }));
    expect(await receiver.failed('open')).toContain(schema);
    expect(receiver.codes).toContain(code);
    expect(await receiver.send('a')).toBe(503);
    return receiver;
  }

  async function works(one: TroubledReceiver): Promise<void> {
    await one.deliver('a');
    await one.completed('a');
    expect(one.of('store-recovered')).not.toEqual([]);
  }

  it('refuses deliveries while the schema has tables of another application, and changes none', async () => {
    const { pool, schema } = bed;
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.orders (id integer)`);
    const one = await refusing('ERR_WBP_POSTGRES_FOREIGN');
    const { rows } = await pool.query('SELECT tablename FROM pg_tables WHERE schemaname = $1', [schema]);
    expect(rows).toEqual([{ tablename: 'orders' }]);
    await pool.query(`DROP TABLE ${schema}.orders`);
    await works(one);
  });

  it('refuses deliveries for a database that cannot store all characters', async () => {
    const { pool, schema, connectionString } = bed;
    await pool.query(`CREATE DATABASE ${schema} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
    const one = await refusing('ERR_WBP_POSTGRES_SETUP', connectionString.replace(/\/\w+$/, `/${schema}`));
    expect(await one.failed('open')).toContain('LATIN1');
    await one.close();
    await pool.query(`DROP DATABASE ${schema} WITH (FORCE)`);
  });

  it('refuses a pool of a single connection, which would leave none for statements', async () => {
    const single = new pg.Pool({ connectionString: bed.connectionString, max: 1 });
    expect(() => postgresStore({ pool: single })).toThrow(/at most 1 connection/);
    const store = postgresStore({ pool: single }, { schema: bed.schema, pooled: true });
    await store.open(0);
    await store.close(0);
    await single.end();
  });

  it('refuses deliveries while a single table has the name of one of the inbox', async () => {
    const { pool, schema } = bed;
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.meta (version text, application text)`);
    await pool.query(`INSERT INTO ${schema}.meta VALUES ('one', 'webhook-backpressure inbox')`);
    const one = await refusing('ERR_WBP_POSTGRES_FOREIGN');
    await pool.query(`DROP TABLE ${schema}.meta`);
    await works(one);
  });

  it('refuses deliveries while the schema needs a newer release', async () => {
    const { pool, schema } = bed;
    await pool.query(`BEGIN; ${postgresSchema(schema)} COMMIT`);
    const { rows } = await pool.query<{ least: number }>(`SELECT min_version AS least FROM ${schema}.meta`);
    await pool.query(`UPDATE ${schema}.meta SET min_version = 99`);
    const one = await refusing('ERR_WBP_POSTGRES_VERSION');
    await pool.query(`UPDATE ${schema}.meta SET min_version = $1`, [rows[0]?.least]);
    await works(one);
  });

  it('keeps receiving while a newer release migrates the schema', async () => {
    const { pool, schema } = bed;
    receiver = new TroubledReceiver(postgresStore({ pool }, { schema }));
    await receiver.deliver('a');
    await pool.query(`UPDATE ${schema}.meta SET version = 99`);
    expect(await receiver.send('b')).toBe(200);
    await receiver.completed('a', 'b');
    expect(receiver.codes).toEqual([]);
  });

  it('refuses deliveries until its user gets the rights that the docs name', async () => {
    const { pool, schema } = bed;
    const user = `${schema}_user`;
    await pool.query(`CREATE ROLE ${user} LOGIN`);
    const one = await refusing('ERR_WBP_POSTGRES_SETUP', bed.connectionString.replace('test@', `${user}@`));
    // Another user runs the printed statements, and grants the rights one after the other.
    await pool.query(`BEGIN; ${postgresSchema(schema)} COMMIT`);
    const grants = [
      `USAGE ON SCHEMA ${schema}`,
      `SELECT ON ALL TABLES IN SCHEMA ${schema}`,
      `USAGE ON ALL SEQUENCES IN SCHEMA ${schema}`,
      `EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema}`,
    ];
    for (const grant of grants) {
      await pool.query(`GRANT ${grant} TO ${user}`);
      expect(await one.send('a')).toBe(503);
    }
    await pool.query(`GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user}`);
    await works(one);
    expect(new Set(one.codes)).toEqual(new Set(['ERR_WBP_POSTGRES_SETUP']));
    await one.close();
    await pool.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
  });

  it('reports the rights of a table that are taken away while it works', async () => {
    const { pool, schema } = bed;
    const user = `${schema}_user`;
    const rights = `INSERT ON ${schema}.contents`;
    await pool.query(
      `BEGIN; ${postgresSchema(schema)} COMMIT; CREATE ROLE ${user} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user};
      GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user}`,
    );
    const connectionString = bed.connectionString.replace('test@', `${user}@`);
    receiver = new TroubledReceiver(postgresStore({ connectionString }, { schema }));
    await receiver.deliver('a');
    await pool.query(`REVOKE ${rights} FROM ${user}`);
    expect(await receiver.send('b')).toBe(503);
    expect(receiver.codes).toEqual(['ERR_WBP_POSTGRES_SETUP']);
    await pool.query(`GRANT ${rights} TO ${user}`);
    await receiver.deliver('b');
    await receiver.completed('a', 'b');
    await receiver.close();
    await pool.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
  });

  it('refuses deliveries while its schema is away, and creates no empty one', async () => {
    const { pool, schema } = bed;
    const store = postgresStore({ pool }, { schema });
    receiver = new TroubledReceiver(store);
    await receiver.deliver('a');
    await receiver.completed('a');
    const beat = { resource: 'inbox', member: 'a', state: '{}', news: '', seen: {} };
    await pool.query(`ALTER SCHEMA ${schema} RENAME TO ${schema}_away`);
    for (const number of [1, 2])
      await expect(store.registry?.beat({ ...beat, number })).rejects.toMatchObject({
        code: 'ERR_WBP_POSTGRES_SETUP',
      });
    expect(await receiver.send('a')).toBe(503);
    expect(new Set(receiver.codes)).toEqual(new Set(['ERR_WBP_POSTGRES_SETUP']));
    await pool.query(`ALTER SCHEMA ${schema}_away RENAME TO ${schema}`);
    await receiver.deliver('a');
    expect(receiver.of('duplicate').map(({ id }) => id)).toEqual(['a']);
  });

  it('opens after a lock that another program holds on the queue', async () => {
    const { pool, schema } = bed;
    await pool.query(`BEGIN; ${postgresSchema(schema)} COMMIT`);
    const client = await pool.connect();
    await client.query(`BEGIN; LOCK TABLE ${schema}.queue IN SHARE MODE`);
    // A change of the order waits for the lock, and this role for no lock longer than so.
    const own = new pg.Pool({ connectionString: bed.connectionString, max: 3, lock_timeout: 50 });
    receiver = new TroubledReceiver(postgresStore({ pool: own }, { schema }), { ordered: true });
    expect(await receiver.failed('open')).toContain('lock timeout');
    await client.query('ROLLBACK');
    client.release();
    await works(receiver);
    await receiver.close();
    // All connections are back: a pool with one in use does not end.
    await own.end();
  });

  it('refuses deliveries when its pool was ended, and closes', async () => {
    const { schema } = bed;
    const pool = new pg.Pool({ connectionString: bed.connectionString, max: 4 });
    receiver = new TroubledReceiver(postgresStore({ pool }, { schema }));
    await receiver.deliver('a');
    await receiver.completed('a');
    const ending = pool.end();
    expect(await receiver.send('b')).toBe(503);
    expect(receiver.codes).toContain('ERR_WBP_POSTGRES_UNAVAILABLE');
    expect(await receiver.failed('put')).toContain('pool');
    await receiver.close();
    await ending;
  });
});
