import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle } from '../../packages/postgres/src/options.ts';
import { Server } from '../../packages/postgres/src/server/server.ts';
import { isSkipped, PostgresBed } from './bed.ts';

const SEEN = `SELECT current_setting('transaction_isolation') AS level, 1800000000123.25::double precision AS ms`;

describe.skipIf(isSkipped)('a role whose settings change', () => {
  let bed: PostgresBed;
  let role: string;
  let pool: pg.Pool;

  beforeEach(async () => {
    bed = new PostgresBed();
    role = `${bed.schema}_user`;
    await bed.pool.query(`CREATE ROLE ${role} LOGIN`);
    pool = new pg.Pool({ connectionString: bed.connectionString.replace('test@', `${role}@`), max: 1 });
    pool.on('error', () => undefined);
  });
  afterEach(async () => {
    await pool.end();
    await bed.pool.query(`DROP ROLE ${role}`);
    await bed.dispose();
  });

  it('leaves the store its isolation level, and times their digits, in each new connection', async () => {
    const server = new Server(settle({ pool }, { schema: bed.schema, pooled: true }));
    const usual = [{ level: 'read committed', ms: 1_800_000_000_123.25 }];
    expect(await server.query(SEEN)).toEqual(usual);
    await bed.pool.query(
      `ALTER ROLE ${role} SET default_transaction_isolation = 'repeatable read';
      ALTER ROLE ${role} SET extra_float_digits = -10`,
    );
    expect(await server.query(SEEN)).toEqual(usual);
    const removed = new Promise((resolve) => pool.once('remove', resolve));
    await bed.pool.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
    await removed;
    expect(await server.query(SEEN)).toEqual(usual);
  });

  it('leaves it to a store whose pooler has changed the connection, when a transaction was refused', async () => {
    const server = new Server(settle({ pool }, { schema: bed.schema, pooled: true }));
    await server.query(SEEN);
    await bed.pool.query(
      `CREATE SCHEMA ${bed.schema}; GRANT USAGE ON SCHEMA ${bed.schema} TO PUBLIC;
      CREATE FUNCTION ${bed.schema}.level() RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        IF current_setting('transaction_isolation') = 'read committed' THEN RETURN 'usual'; END IF;
        RAISE EXCEPTION USING ERRCODE = '40001';
      END $$`,
    );
    await pool.query('SET default_transaction_isolation = serializable');
    expect(await server.query(`SELECT ${bed.schema}.level()`)).toEqual([{ level: 'usual' }]);
  });
});
