import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackpressureError } from '@webhook-backpressure/base';
import type { InboxStore } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  bury,
  claim,
  claimOne,
  delivery,
  ends,
  idsOf,
  LEASE,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { Connection } from '../../packages/sqlite/src/connection/connection.ts';
import { checkNewest, MIGRATIONS, migrate } from '../../packages/sqlite/src/tables/schema.ts';
import { anotherProgram, BrokenFiles, damage, execute, makeInbox } from './broken-files.ts';
import { isMountable } from './mounts.ts';
import { causeOf, integrityOf, RESULT, thrownBy } from './results.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

const KIB = 1024;
const isRoot = process.getuid?.() === 0;
const bed = (maxFileBytes?: number) => scratch.bed({ maxFileBytes, busyTimeoutMs: 0 });
const large = (id: string) => delivery(id, { rawBody: new Uint8Array(100 * KIB) });

async function fill(store: InboxStore): Promise<BackpressureError> {
  for (let at = 0; at < 1000; at += 1) {
    try {
      await put(store, [large(String(at))]);
    } catch (error) {
      return error as BackpressureError;
    }
  }
  throw new Error('the file never was full');
}

/** Checks that a call that needs too much space has no effect. */
async function survivesBeingFull(store: InboxStore): Promise<void> {
  const error = await fill(store);
  expect(error).toMatchObject({ code: 'ERR_WBP_SQLITE_WRITE' });
  expect(causeOf(error)).toBe(RESULT.full);
  const before = await store.stats();
  expect(before.depth).toBeGreaterThan(0);
  // The small one alone would fit.
  await thrownBy(() =>
    put(store, [delivery('small'), ...[1, 2, 3].map((at) => large(`more ${String(at)}`))]),
  );
  expect(await store.stats()).toEqual(before);
}

describe('a file of maxFileBytes', () => {
  it('refuses a batch without storing a part of it, and accepts deliveries when there is space', async () => {
    const store = await opened(bed(1024 * KIB));
    await survivesBeingFull(store);
    await settle(store, ends.completed(await claimOne(store)));
    expect(await put(store, [delivery('small'), delivery('small too')])).toEqual(['stored', 'stored']);
    expect(integrityOf(scratch.file())).toEqual([['ok']]);
  });

  it.each([
    ['completed', ends.completed],
    ['dead-lettered', ends.dead],
  ])('lets stored deliveries be %s', async (_, end) => {
    const store = await opened(bed(256 * KIB));
    let stored = 0;
    const error = await thrownBy(async () => {
      for (; stored < 5000; stored += 1) await put(store, [delivery(String(stored).padEnd(99))]);
    });
    expect(error.code).toBe('ERR_WBP_SQLITE_WRITE');
    for (let left = stored; left > 0; left -= 1) await settle(store, end(await claimOne(store)));
    expect((await store.stats()).depth).toBe(0);
  });
});

it('stores nothing of a batch with an invalid delivery, and accepts the next batch', async () => {
  const store = await opened(bed());
  const broken = delivery('broken', { rawBody: { byteLength: 1 } as Uint8Array });
  await expect(async () => put(store, [delivery('a'), broken])).rejects.toThrow();
  expect(await claim(store, 9)).toEqual([]);
  expect(await put(store, [delivery('a')])).toEqual(['stored']);
});

describe('a read-only file', () => {
  it('makes a start throw', async ({ skip }) => {
    skip(isRoot && !isMountable, 'root may write read-only files, and this system does not allow mounts');
    const store = await opened(bed());
    await put(store, [delivery('a')]);
    await store.close(START);
    makeReadOnly(scratch.folder);
    const error = await thrownBy(() => opened(bed()));
    // The code depends on whether there is a -wal file.
    expect(error.code).toMatch(/^ERR_WBP_SQLITE_(?:WRITE|OPEN)$/);
    expect(error.message).toContain('read-only');
  });
});

describe('a damaged file', () => {
  it('is refused and not changed', async () => {
    makeInbox(scratch.file());
    damage(scratch.file());
    const before = readFileSync(scratch.file());
    const error = await thrownBy(() => opened(bed()));
    expect(error).toMatchObject({ code: 'ERR_WBP_SQLITE_DAMAGED' });
    expect(causeOf(error)).toBe(RESULT.corrupt);
    expect(readFileSync(scratch.file()).equals(before)).toBe(true);
  });

  it('is refused if it is not a SQLite file', async () => {
    const error = await thrownBy(() => sqliteStore({ path: import.meta.filename }).open(START));
    expect(error.code).toBe('ERR_WBP_SQLITE_DAMAGED');
  });
});

describe('a file locked by another program', () => {
  it('makes calls throw until it is unlocked', async () => {
    const store = await opened(bed());
    await put(store, [delivery('a')]);
    const other = anotherProgram(scratch.file());
    other.exec('BEGIN IMMEDIATE');
    for (const call of [() => put(store, [delivery('b')]), () => claim(store, 1)]) {
      const error = await thrownBy(call);
      expect(error).toMatchObject({ code: 'ERR_WBP_SQLITE_LOCKED' });
      expect(causeOf(error)).toBe(RESULT.busy);
    }
    // Reads are not blocked.
    expect((await store.stats()).depth).toBe(1);
    other.exec('ROLLBACK');
    expect(await put(store, [delivery('b')])).toEqual(['stored']);
  });
});

describe('a row that cannot be read', () => {
  it.each([
    ['headers that are not JSON', "UPDATE contents SET facts = '{' WHERE id = 'bad'"],
    ['headers of the wrong shape', `UPDATE contents SET facts = '{"a":1}' WHERE id = 'bad'`],
    ['an id in another encoding', String.raw`UPDATE contents SET id = '\x' WHERE id = 'bad'`],
    ['no contents', "DELETE FROM contents WHERE id = 'bad'"],
  ])('moves to the dead-letter queue with the reason, and the others are claimed: %s', async (_, sql) => {
    const store = await opened(bed());
    // The first one has the id that the dead letter of the second once had.
    await put(store, [delivery('lost-2'), delivery('bad'), delivery('b')]);
    execute(scratch.file(), sql);
    expect(idsOf(await claim(store, 9))).toEqual(['lost-2', 'b']);
    expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 2, deadLetters: 1 });
    const [dead] = await store.listDeadLetters({ limit: 9, offset: 0 });
    expect(dead).toMatchObject({ key: 'shop', reason: 'dead', attempts: 0 });
    expect(dead?.error).toContain('cannot be read');
    // Redriven, it becomes a dead letter again. It can be purged.
    expect(await store.redrive(null, { limit: 9, maxBytes: 9999, nowMs: START })).toHaveLength(1);
    expect(await claim(store, 9)).toEqual([]);
    expect(await store.purge(null, { limit: 9, maxBytes: 9999 })).toHaveLength(1);
    expect(await store.stats()).toMatchObject({ depth: 2, deadLetters: 0, deadLetterBytes: 0 });
  });
});

describe('a file of another version', () => {
  it('is refused and not changed if it is newer or of another program', async () => {
    const files = new BrokenFiles();
    scratch.defer(() => {
      files.dispose();
    });
    for (const path of [files.ofANewerRelease, files.ofAnotherProgram]) {
      const before = readFileSync(path);
      await thrownBy(() => sqliteStore({ path }).open(START));
      expect(readFileSync(path).equals(before), path).toBe(true);
    }
  });

  it('is migrated with its contents if it is older, for which the tool waits', async () => {
    // A made-up next release.
    const next = [...MIGRATIONS, 'ALTER TABLE queue ADD COLUMN priority INTEGER NOT NULL DEFAULT 0'];
    const before = await opened(bed());
    await put(before, [delivery('waiting')]);
    await before.close(START);
    const connection = new Connection(scratch.file(), 1000);
    expect(() => {
      checkNewest(connection, next);
    }).toThrow(/has version 1\. Start a receiver of this release on it, which migrates it to version 2\./);
    migrate(connection, false, next);
    checkNewest(connection, next);
    expect(connection.all('SELECT key, priority FROM queue')).toEqual([['shop', 0]]);
    connection.close();
    expect((await thrownBy(() => opened(bed()))).code).toBe('ERR_WBP_SQLITE_VERSION');
  });

  it('is created if an earlier start was interrupted before it wrote anything', async () => {
    execute(scratch.file(), 'PRAGMA journal_mode = WAL');
    expect(await (await opened(bed())).stats()).toMatchObject({ depth: 0 });
  });
});

describe('a clock that jumps', () => {
  const DAY = 86_400_000;

  it('forward keeps the claims of a live owner, and makes retries due', async () => {
    const store = await opened(bed());
    await put(store, [delivery('a'), delivery('b')]);
    const [a, b] = await claim(store, 2);
    await settle(store, ends.failed(b as NonNullable<typeof b>, START + 1000));
    expect(idsOf(await claim(store, 2, { nowMs: START + DAY }))).toEqual(['b']);
    expect(await settle(store, ends.completed(a as NonNullable<typeof a>), START + DAY)).toBe(true);
  });

  it('back does not delay due deliveries', async () => {
    const store = await opened(bed());
    await put(store, [delivery('a'), delivery('b')]);
    await claim(store, 1);
    expect(idsOf(await claim(store, 1, { nowMs: START - DAY }))).toEqual(['b']);
    await store.close(START - DAY);
    const next = await opened(bed(), START - DAY);
    expect(await claim(next, 2, { nowMs: START - DAY, leaseMs: LEASE })).toHaveLength(2);
    await bury(next, 'c', START - DAY);
  });
});

function makeReadOnly(folder: string): void {
  if (isRoot) {
    execFileSync('mount', ['--bind', folder, folder]);
    scratch.defer(() => {
      execFileSync('umount', ['-l', folder]);
    });
    execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
    return;
  }
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
  chmodSync(folder, 0o555);
  scratch.defer(() => {
    chmodSync(folder, 0o755);
  });
}
