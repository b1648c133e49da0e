import { expect, it, vi } from 'vitest';
import { Connection } from '../../packages/sqlite/src/connection/connection.ts';
import {
  ANY,
  bury,
  claim,
  claimOne,
  delivery,
  ends,
  LEASE,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { anotherProgram } from './broken-files.ts';
import { Scratch } from './scratch.ts';

/**
 * Tables with one row, with about ten, or with one for each process or each paused or skipped key; the indexes of claimed
 * and of suspect deliveries; indexes of which only the first rows are read.
 */
const MAY_BE_SCANNED =
  /^SCAN (?:totals|owners|paused|buckets|b|walk|skipped|json_each VIRTUAL TABLE INDEX 1:|CONSTANT ROW|\(subquery-\d+\)|queue USING (?:COVERING )?INDEX queue_(?:held|ready|suspect)|t USING (?:COVERING )?INDEX shelf_order)$/;

type Step = readonly [id: number, parent: number, notUsed: number, detail: string];

it('reads no more rows than needed with any statement, however many deliveries are stored', async () => {
  const scratch = new Scratch();
  const store = await opened(scratch.bed());
  const other = await opened(scratch.bed());
  const spies = (['get', 'all', 'run'] as const).map((name) => vi.spyOn(Connection.prototype, name));
  const nowMs = START;
  const lease = { leaseMs: LEASE, nowMs };
  await put(
    store,
    ['a', 'b', 'c', 'd', 'e'].map((id) => delivery(id)),
  );
  await put(store, [delivery('o')], { isOverflow: true });
  const claimed = await claim(store, 3);
  await store.renew(claimed, lease);
  const [a, b, c] = claimed.map(
    (one, at) => [{ ...ends.completed(one), keep: true }, ends.failed(one, START + 1), ends.dead(one)][at],
  );
  await store.settle([a, b, c] as never, nowMs);
  await settle(store, { ...ends.completed(await claimOne(store)), as: 'released' } as never);
  for (const isHeadOnly of [false, true])
    await store.claimKeys([{ key: 'shop', count: 1, isHeadOnly }], lease);
  for (const after of [undefined, 'a']) await store.dueKeys({ after, limit: 9, dueByMs: Infinity });
  for (const key of [undefined, 'shop']) await store.hasten({ key, afterMs: START, nowMs, limit: 9 });
  await store.nextDueMs();
  await store.nextDueMs(new Set(['other']));
  await claim(store, 9, { except: ['other'] });
  await store.pause('shop');
  await store.resume('shop');
  await bury(store, 'f', START);
  for (const key of [undefined, 'shop']) {
    for (const id of [null, 'f']) {
      await store.countDeadLetters(id, { key });
      await store.redrive(id, { ...ANY, key, nowMs });
      await store.purge(id, { ...ANY, key });
      await store.countCompleted(id, { key });
      await store.replay(id, { ...ANY, key, nowMs });
    }
    await store.listDeadLetters({ key, limit: 9, offset: 0 });
    await store.scanDeadLetters({ key, after: 0, limit: 9 });
    await store.getDeadLetter('f', { key });
    await store.getCompleted('f', { key });
    await store.listCompleted({ key, after: 0, limit: 9 });
    await store.listPending({ key, after: 0, limit: 9, nowMs });
  }
  await store.getPending({ key: 'shop', id: 'e' }, nowMs);
  await store.dropCompleted({ ...ANY, beforeMs: 0, keepBytes: 0 });
  await store.forget({ beforeMs: START + 1, keep: 0, limit: 9, nowMs: START + 1 });
  await store.forgetId({ key: 'shop', id: 'a' });
  await put(
    store,
    ['g', 'h'].map((id) => delivery(id)),
  );
  await claim(other, 2);
  const after = { leaseMs: LEASE, nowMs: START + LEASE, maxStranded: 1 };
  const [suspect] = await store.claimKeys([{ key: 'shop', count: 1, isHeadOnly: false }], after);
  expect(suspect?.claimed).toMatchObject([{ strandings: 1 }]);
  await store.noteRoom({ depth: 1, bytes: 1 });
  await store.stats();
  const statements = new Set(spies.flatMap((spy) => spy.mock.calls.map(([sql]) => sql)));
  vi.restoreAllMocks();
  for (const sql of statements) if (/^(?:PRAGMA|BEGIN|COMMIT)/.test(sql)) statements.delete(sql);
  expect(statements.size).toBeGreaterThan(70);

  const database = anotherProgram(scratch.file());
  for (const sql of statements) {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all([]) as Step[];
    const costly = plan
      .map(([, , , detail]) => detail)
      // In the order of the position, of which only the first rows are read.
      .filter((detail) => !(detail === 'SCAN t' && sql.includes('FROM kept t') && sql.includes('LIMIT')))
      // Suspects are at most as many as were being handled when processes died.
      .filter((detail) => !(detail.startsWith('USE TEMP B-TREE') && sql.includes('INDEXED BY queue_suspect')))
      .filter((detail) => /SCAN|TEMP B-TREE|AUTOMATIC/.test(detail) && !MAY_BE_SCANNED.test(detail));
    expect(costly, sql).toEqual([]);
  }
  scratch.dispose();
});
