import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNodeSqlite, useDriver } from '../../packages/sqlite/src/connection/drivers.ts';
import { fileStore } from '../../packages/sqlite/src/store/file-store.ts';
import { settle as settings } from '../../packages/sqlite/src/options.ts';
import {
  claim,
  delivery,
  ends,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { execute } from './broken-files.ts';
import { Scratch } from './scratch.ts';

const drivers = loadNodeSqlite() === undefined ? (['libsql'] as const) : (['libsql', 'node:sqlite'] as const);

describe.each(drivers)('an integer above 2^53 in the file, with %s', (driver) => {
  let scratch: Scratch;
  const store = () =>
    opened({ store: () => fileStore(settings({ path: scratch.file() })), dispose: () => undefined });

  beforeEach(() => {
    useDriver(driver);
    scratch = new Scratch();
  });
  afterEach(() => {
    scratch.dispose();
  });

  async function changed(sql: string): Promise<Awaited<ReturnType<typeof store>>> {
    const first = await store();
    await put(
      first,
      ['a', 'b', 'c'].map((id) => delivery(id)),
    );
    await first.close(START);
    execute(scratch.file(), sql);
    return await store();
  }

  it.each(
    ['9007199254740993', '9223372036854775807'].flatMap((number) =>
      ['queue.attempts', 'queue.strandings', 'queue.sum', 'contents.bytes', 'contents.is_id_generated'].map(
        (place) => [place, number] as const,
      ),
    ),
  )('in %s stops no delivery when it is %s', async (place, number) => {
    const [table = '', column = ''] = place.split('.');
    const opened = await changed(
      `UPDATE ${table} SET ${column} = ${number} WHERE seq = (SELECT min(seq) FROM queue)`,
    );
    const done: string[] = [];
    for (let at = 0; at < 3; at += 1)
      for (const one of await claim(opened, 3)) {
        expect(await settle(opened, ends.completed(one))).toBe(true);
        done.push(one.id);
      }
    expect(done).toEqual(['a', 'b', 'c']);
    expect(await opened.stats()).toMatchObject({ depth: 0, inFlight: 0, bytes: 0 });
    await opened.close(START);
  });

  it.each(['depth', 'in_flight', 'bytes', 'shelved', 'shelved_bytes', 'remembered', 'kept', 'kept_bytes'])(
    'in the total %s is counted again',
    async (column) => {
      const opened = await changed(`UPDATE totals SET ${column} = 9223372036854775807`);
      const { bytes } = await opened.stats();
      expect(await opened.stats()).toMatchObject({
        ...{ depth: 3, inFlight: 0, deadLetters: 0, deadLetterBytes: 0 },
        ...{ remembered: 0, retained: 0, retainedBytes: 0 },
      });
      expect(bytes).toBeGreaterThan(0);
      expect(await put(opened, [delivery('d')])).toEqual(['stored']);
      await opened.close(START);
    },
  );

  it('in the total of deliveries that have left the queue begins again', async () => {
    const opened = await changed('UPDATE totals SET drained = 9223372036854775807');
    expect(await opened.stats()).toMatchObject({ depth: 3, drained: 0 });
    await opened.close(START);
  });
});
