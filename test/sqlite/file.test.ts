import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { settle as settled } from '../../packages/sqlite/src/options.ts';
import { fileStore, type FileStore } from '../../packages/sqlite/src/store/file-store.ts';
import { claimKey, want } from '../core/inbox/store/cases/key-fixtures.ts';
import { ANY, delivery, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { anotherProgram, execute } from './broken-files.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

const modes = (): string[] =>
  readdirSync(scratch.folder).map(
    (name) => `${name} ${(statSync(join(scratch.folder, name)).mode & 0o777).toString(8)}`,
  );

describe('the files of a store', () => {
  it('have mode 600 with any umask', async () => {
    const before = process.umask(0);
    const store = sqliteStore({ path: scratch.file(), thread: false });
    await store.open(START);
    await put(store, [delivery('a')]);
    process.umask(before);
    expect(modes()).toEqual([
      'webhooks.db 600',
      'webhooks.db-shm 600',
      'webhooks.db-wal 600',
      'webhooks.db.owner-1 600',
    ]);
    await store.close(START);
  });

  it('keep the mode of an existing file', async () => {
    writeFileSync(scratch.file(), '');
    chmodSync(scratch.file(), 0o640);
    const store = sqliteStore({ path: scratch.file(), thread: false });
    await store.open(START);
    await put(store, [delivery('a')]);
    expect(modes()).toEqual([
      'webhooks.db 640',
      'webhooks.db-shm 640',
      'webhooks.db-wal 640',
      'webhooks.db.owner-1 600',
    ]);
    await store.close(START);
  });
});

const MIB = 1 << 20;
const size = (): number => statSync(scratch.file()).size;

/** A store in which 12 MiB were stored and deleted. */
async function emptied(): Promise<FileStore> {
  const store = fileStore(settled({ path: scratch.file() }));
  store.open(START);
  const large = Array.from({ length: 12 }, (_, at) =>
    delivery(String(at), { rawBody: new Uint8Array(MIB).fill(at) }),
  );
  await put(store, large, { isOverflow: true });
  await store.purge(null, ANY);
  return store;
}

describe('a file with many free pages', () => {
  it('shrinks in small steps to 4 MiB of free pages', async () => {
    const store = await emptied();
    let steps = 1;
    while (store.shrink()) steps += 1;
    expect(steps).toBeGreaterThan(10);
    await store.close(START);
    expect(size()).toBeLessThan(5 * MIB);
    expect(size()).toBeGreaterThan(4 * MIB);
    const database = anotherProgram(scratch.file());
    expect(database.prepare('PRAGMA integrity_check').all([])).toEqual([['ok']]);
    database.close();
  });

  it('does not shrink if another program created it, until it is converted', async () => {
    execute(scratch.file(), 'PRAGMA journal_mode = WAL');
    const before = await emptied();
    expect(before.shrink()).toBe(false);
    await before.close(START);
    expect(size()).toBeGreaterThan(12 * MIB);
    // As documented.
    execute(scratch.file(), 'PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
    const store = await emptied();
    expect(store.shrink()).toBe(true);
    await store.close(START);
  });

  it('shrinks in an idle thread', async () => {
    const before = await emptied();
    await before.close(START);
    expect(size()).toBeGreaterThan(12 * MIB);
    const store = sqliteStore({ path: scratch.file(), thread: true });
    await store.open(START);
    const free = (): number => {
      const database = anotherProgram(scratch.file());
      const [pages] = database.prepare('PRAGMA freelist_count').get([]) as [number];
      database.close();
      return pages;
    };
    await vi.waitFor(
      () => {
        expect(free()).toBeLessThanOrEqual(1024);
      },
      { timeout: 20_000, interval: 200 },
    );
    await store.close(START);
    expect(size()).toBeLessThan(5 * MIB);
  }, 30_000);
});

it('claims deliveries of a key now that were stored before the clock was set back', async () => {
  const store = fileStore(settled({ path: scratch.file() }));
  store.open(START);
  await put(store, [delivery('a', { key: 'k' }), delivery('b', { key: 'k' })], { nowMs: START + 3_600_000 });
  const { keys } = await store.dueKeys({ after: undefined, limit: 9, dueByMs: START });
  expect(keys.map(({ key }) => key)).toEqual(['k']);
  const { claimed, nextDueMs } = await claimKey(store, want('k'));
  expect(claimed.map(({ id }) => id)).toEqual(['a']);
  expect(nextDueMs).toBeLessThanOrEqual(START);
  await store.close(START);
});
