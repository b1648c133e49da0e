import { expect, it, vi } from 'vitest';
import { Connection } from '../../packages/sqlite/src/connection/connection.ts';
import {
  bury,
  claim,
  claimOne,
  delivery,
  ends,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { anotherProgram } from './broken-files.ts';
import { Scratch } from './scratch.ts';

/**
 * Tables with one row, with about ten, or with one for each process or each paused or skipped key; the index of claimed
 * deliveries; indexes of which only the first rows are read.
 */
const MAY_BE_SCANNED =
  /^SCAN (?:totals|owners|paused|buckets|b|k|walk|skipped|json_each VIRTUAL TABLE INDEX 1:|CONSTANT ROW|\(subquery-\d+\)|queue USING (?:COVERING )?INDEX queue_(?:held|ready)|(?:s|completed) USING (?:COVERING )?INDEX (?:shelf|completed)_order)$/;

type Step = readonly [id: number, parent: number, notUsed: number, detail: string];

it('reads no more rows than needed with any statement, however many deliveries are stored', async () => {
  const scratch = new Scratch();
  const prepare = vi.spyOn(Connection.prototype, 'prepare');
  const store = await opened(scratch.bed());
  await put(store, [delivery('a'), delivery('b')]);
  await settle(store, ends.completed(await claimOne(store)));
  await claim(store, 1);
  await bury(store, 'c', START);
  const asked = prepare.mock.calls.map(([sql]) => sql);
  // Without the statements that run only at the start.
  const statements = asked.filter((sql) => !/^(?:PRAGMA|BEGIN|COMMIT)|GROUP BY|sqlite_schema/.test(sql));
  expect(statements.length).toBeGreaterThan(20);

  const database = anotherProgram(scratch.file());
  for (const sql of statements) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all([]) as Step[];
    const costly = plan
      .map(([, , , detail]) => detail)
      .filter((detail) => /SCAN|TEMP B-TREE|AUTOMATIC/.test(detail) && !MAY_BE_SCANNED.test(detail));
    expect(costly, sql).toEqual([]);
  }
  scratch.dispose();
});
