import { createInbox, type Inbox, type InboxEvent, type InboxOptions } from '@webhook-backpressure/inbox';
import { sqliteStore, type SqliteStoreOptions } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNodeSqlite } from '../../packages/sqlite/src/connection/drivers.ts';
import { openBy, type ClientConnection } from './clients.ts';
import { Scratch } from './scratch.ts';

const drivers = loadNodeSqlite() === undefined ? (['libsql'] as const) : (['libsql', 'node:sqlite'] as const);

describe.each(drivers)('complete(client) by %s', (driver) => {
  const open = openBy[driver];
  let scratch: Scratch;
  let client: ClientConnection;
  let inbox: Inbox;
  const events: InboxEvent[] = [];
  beforeEach(() => {
    scratch = new Scratch();
    events.length = 0;
    client = open(scratch.file());
    client.exec('PRAGMA user_version = 77; CREATE TABLE effects (id TEXT)');
  });
  afterEach(async () => {
    await inbox.close({ timeoutMs: 0 });
    client.close();
    scratch.dispose();
  });

  async function begin(
    process: InboxOptions['process'],
    options: Partial<InboxOptions> = {},
    store: Partial<SqliteStoreOptions> = {},
  ): Promise<void> {
    inbox = createInbox({
      store: sqliteStore({ path: scratch.file(), applicationFile: true, driver, ...store }),
      verify: false,
      process,
      retry: { firstDelayMs: 0, maxDelayMs: 0 },
      ...options,
    });
    inbox.subscribe((event) => events.push(event));
    await inbox.opened;
  }

  /** A transaction in a function that rolls it back when it throws, as `transaction` of libsql and better-sqlite3. */
  function transaction(work: () => void): void {
    client.exec('BEGIN IMMEDIATE');
    try {
      work();
      client.exec('COMMIT');
    } catch (error) {
      client.exec('ROLLBACK');
      throw error;
    }
  }

  const rows = (sql: string) => client.prepare(sql).all();
  const ends = () =>
    events.map(({ type }) => type).filter((type) => ['completed', 'failed', 'lost', 'dead'].includes(type));
  const completed = (count = 1) =>
    new Promise<void>((resolve) => {
      inbox.subscribe(() => {
        if (inbox.snapshot().totals.completed === count) resolve();
      });
    });

  it.each([true, false])(
    'commits effects, completion and the next delivery together, thread: %s',
    async (thread) => {
      await begin(
        ({ id }, { attempt, complete }) => {
          transaction(() => {
            client.exec(`INSERT INTO effects VALUES ('${id} ${String(attempt)}')`);
            if (id === 'first') void inbox.add({ id: 'next', body: 'x' }, { client });
            void complete(client);
            if (id === 'first' && attempt === 1) throw new Error('rolled back');
          });
        },
        { keepCompletedMs: 1000 },
        { thread },
      );
      const done = completed(2);
      await inbox.add({ id: 'first', body: 'x' });
      await done;
      expect(ends()).toEqual(['failed', 'completed', 'completed']);
      expect(rows('SELECT id FROM effects')).toEqual([{ id: 'first 2' }, { id: 'next 1' }]);
      expect(rows('SELECT depth, in_flight, kept FROM totals')).toEqual([
        { depth: 0, in_flight: 0, kept: 2 },
      ]);
      expect(rows('PRAGMA user_version')).toEqual([{ user_version: 77 }]);
      expect(rows('PRAGMA application_id')).toEqual([{ application_id: 0 }]);
    },
  );

  it('fails the attempt when the transaction is rolled back', async () => {
    await begin(async ({ id }, { attempt, complete }) => {
      client.exec('BEGIN IMMEDIATE');
      client.exec(`INSERT INTO effects VALUES ('${id} ${String(attempt)}')`);
      await complete(client);
      client.exec(attempt === 1 ? 'ROLLBACK' : 'COMMIT');
    });
    const done = completed();
    await inbox.add({ id: 'a', body: 'x' });
    await done;
    expect(ends()).toEqual(['failed', 'completed']);
    expect(rows('SELECT id FROM effects')).toEqual([{ id: 'a 2' }]);
  });

  it('throws synchronously for what cannot be used', async () => {
    const other = open(scratch.file('other.db'));
    other.exec('BEGIN IMMEDIATE');
    const thrown: unknown[] = [];
    await begin((_, { attempt, complete }) => {
      if (attempt > 1) return;
      for (const wrong of [client, other, {}, null, 'x', () => []]) {
        try {
          void complete(wrong);
        } catch (error) {
          thrown.push((error as { code: unknown }).code);
        }
      }
      throw new Error('enough');
    });
    const done = completed();
    await inbox.add({ id: 'a', body: 'x' });
    await done;
    other.close();
    expect(thrown).toEqual(Array(6).fill('ERR_WBP_TRANSACTION'));
    expect(ends()).toEqual(['failed', 'completed']);
  });

  it('opens the file again, also without applicationFile, and keeps what is stored', async () => {
    await begin(() => undefined, { concurrency: 1, maxStartsPerSecond: 1 });
    await inbox.pause();
    await inbox.add({ id: 'a', body: 'x' });
    await inbox.close();
    await begin(() => undefined, {}, { applicationFile: undefined });
    expect(inbox.snapshot().depth).toBe(1);
  });

  it('refuses a file of the application without the option, or with a table of one of its names', async () => {
    await begin(() => undefined);
    const path = scratch.file('third.db');
    const third = open(path);
    third.exec('CREATE TABLE Queue (id TEXT)');
    third.close();
    const opening = (options: object) => async () => {
      await sqliteStore({ path, driver, ...options }).open(0);
    };
    await expect(opening({})).rejects.toMatchObject({ code: 'ERR_WBP_SQLITE_FOREIGN' });
    await expect(opening({ applicationFile: true })).rejects.toThrow('a table Queue of the application');
  });
});
