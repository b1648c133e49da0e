import { postgresSchema } from '@webhook-backpressure/postgres';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle as settings } from '../../packages/postgres/src/options.ts';
import { migrate } from '../../packages/postgres/src/schema/migrate.ts';
import { checkNewest, MIGRATIONS, migrationSql } from '../../packages/postgres/src/schema/migrate.ts';
import { Server } from '../../packages/postgres/src/server/server.ts';
import { claimOne, delivery, ends, opened, put, settle } from '../core/inbox/store/cases/store-fixtures.ts';
import { isSkipped, PostgresBed } from './bed.ts';

/** A made-up next release: it adds a column and an index to the tables that are used most, and notes each run. */
const NEXT = [
  ...MIGRATIONS,
  (s: string) => `
CREATE TABLE IF NOT EXISTS ${s}.runs (at timestamptz DEFAULT clock_timestamp());
INSERT INTO ${s}.runs DEFAULT VALUES;
ALTER TABLE ${s}.queue ADD COLUMN priority integer NOT NULL DEFAULT 0;
ALTER TABLE ${s}.contents ADD COLUMN note text;
CREATE INDEX queue_priority ON ${s}.queue (priority);
`,
];

describe.skipIf(isSkipped)('a migration to the next release', () => {
  let bed: PostgresBed;
  beforeEach(() => {
    bed = new PostgresBed();
  });
  afterEach(() => bed.dispose());

  function serverOf({ pool, schema }: PostgresBed): Server {
    return new Server(settings({ pool }, { schema }));
  }

  it('runs once while receivers of the release before store and settle deliveries', async () => {
    const store = await opened(bed);
    const migrating = { isDone: false };
    let stored = 0;
    const busy = (async () => {
      while (!migrating.isDone || stored < 5) {
        expect(await put(store, [delivery(String(stored))])).toEqual(['stored']);
        expect(await settle(store, ends.completed(await claimOne(store)))).toBe(true);
        stored += 1;
      }
    })();
    await expect(checkNewest(serverOf(bed), NEXT)).rejects.toMatchObject({
      code: 'ERR_WBP_POSTGRES_VERSION',
    });
    await Promise.all([1, 2, 3].map(() => migrate(serverOf(bed), NEXT)));
    await checkNewest(serverOf(bed), NEXT);
    migrating.isDone = true;
    await busy;
    const { rows } = await bed.pool.query(
      `SELECT count(*)::integer AS runs, (SELECT version FROM ${bed.schema}.meta) AS version FROM ${bed.schema}.runs`,
    );
    expect(rows).toEqual([{ runs: 1, version: NEXT.length }]);
    expect(await store.stats()).toMatchObject({ depth: 0, remembered: stored, drained: stored });
  });

  it('leaves a schema that the release before can still open, as when a deploy is rolled back', async () => {
    const first = await opened(bed);
    await put(first, [delivery('a')]);
    await migrate(serverOf(bed), NEXT);
    const restarted = await opened(bed);
    expect(await put(restarted, [delivery('b')])).toEqual(['stored']);
    expect((await claimOne(restarted)).id).toBe('a');
  });

  it('says which releases can use the schema, once it takes something away', async () => {
    await opened(bed);
    const taking = [...NEXT, (s: string) => `UPDATE ${s}.meta SET min_version = ${String(NEXT.length)};\n`];
    await migrate(serverOf(bed), taking);
    await expect(opened(bed)).rejects.toMatchObject({ code: 'ERR_WBP_POSTGRES_VERSION' });
    await expect(migrate(serverOf(bed), NEXT)).resolves.toBeUndefined();
  });

  it('is the same when it was printed and run by hand', async () => {
    const { pool, schema } = bed;
    await pool.query(`BEGIN; ${postgresSchema(schema)} COMMIT`);
    await pool.query(`BEGIN; ${migrationSql(schema, MIGRATIONS.length, NEXT)} COMMIT`);
    await migrate(serverOf(bed), NEXT);
    const { rows } = await pool.query(`SELECT version FROM ${schema}.meta`);
    expect(rows).toEqual([{ version: NEXT.length }]);
    expect(await put(await opened(bed), [delivery('a')])).toEqual(['stored']);
  });
});
