import pg from 'pg';
import { postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimOne, delivery, ends, put, settle, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';

describe.skipIf(isSkipped)('a store on a database that commits without waiting for the disk', () => {
  let bed: PostgresBed;
  let pool: pg.Pool;

  beforeEach(() => {
    bed = new PostgresBed();
    // As ALTER ROLE or ALTER DATABASE … SET synchronous_commit = off.
    pool = new pg.Pool({
      connectionString: bed.connectionString,
      max: 4,
      options: '-c synchronous_commit=off',
    });
  });
  afterEach(async () => {
    await pool.end();
    await bed.dispose();
  });

  /** Notes the setting with which changes of a table are committed. */
  async function commitsOf(table: string, change: string): Promise<() => Promise<string[]>> {
    const { schema } = bed;
    await bed.pool.query(`
      CREATE TABLE ${schema}.seen_${table} (setting text);
      CREATE FUNCTION ${schema}.see_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO ${schema}.seen_${table} VALUES (current_setting('synchronous_commit')); RETURN NULL;
      END $$;
      CREATE CONSTRAINT TRIGGER see AFTER ${change} ON ${schema}.${table} DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${schema}.see_${table}();`);
    return async () => {
      const { rows } = await bed.pool.query<{ setting: string }>(
        `SELECT setting FROM ${schema}.seen_${table}`,
      );
      return rows.map(({ setting }) => setting);
    };
  }

  it('waits for it all the same when a delivery is stored or completed, and not when it is claimed', async () => {
    const store = postgresStore({ pool }, { schema: bed.schema });
    await store.open(START);
    const stored = await commitsOf('contents', 'INSERT OR DELETE');
    const claimed = await commitsOf('queue', 'UPDATE');
    expect(await put(store, [delivery('a')])).toEqual(['stored']);
    expect(await stored()).toEqual(['on']);
    const claim = await claimOne(store);
    expect(await claimed()).toEqual(['off']);
    await settle(store, ends.completed(claim));
    expect(await stored()).toEqual(['on', 'on']);
    await store.close(START);
  });
});
