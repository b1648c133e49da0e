import { postgresSchema, postgresStore } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { delivery, opened, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';

describe.skipIf(isSkipped)('the schema', () => {
  let bed: PostgresBed;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  it('is created once by stores that open at the same time', async () => {
    const stores = await Promise.all([1, 2, 3].map(() => opened(bed)));
    for (const [at, store] of stores.entries()) await put(store, [delivery(String(at))]);
    expect((await stores[0]?.stats())?.depth).toBe(3);
  });

  it('is usable when it was printed and run by another user', async () => {
    const { schema, pool } = bed;
    const user = `${schema}_user`;
    await pool.query(`BEGIN; ${postgresSchema(schema)} COMMIT`);
    await pool.query(
      `CREATE ROLE ${user} LOGIN;
      GRANT USAGE ON SCHEMA ${schema} TO ${user};
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${user};
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user};
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${user}`,
    );
    const connectionString = bed.connectionString.replace('test@', `${user}@`);
    const store = postgresStore({ connectionString }, { schema });
    await store.open(START, { isOrdered: true });
    expect(await put(store, [delivery('a')])).toEqual(['stored']);
    await store.close(START);
    const other = postgresStore({ connectionString }, { schema: `${schema}_other` });
    await expect(other.open(START)).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_SETUP' });
    await pool.query(`DROP OWNED BY ${user}; DROP ROLE ${user}`);
  });

  it('is refused when it belongs to another application or a newer release', async () => {
    const { schema, pool } = bed;
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.meta (name text)`);
    await expect(opened(bed)).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_FOREIGN' });
    await pool.query(`DROP SCHEMA ${schema} CASCADE`);
    await opened(bed);
    await pool.query(`UPDATE ${schema}.meta SET version = 99, min_version = 99`);
    await expect(opened(bed)).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_VERSION' });
  });
});
