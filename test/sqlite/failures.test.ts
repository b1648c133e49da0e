import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BackpressureError, type InboxStore } from '@webhook-backpressure/core';
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
import { isMountable } from './mounts.ts';
import { anotherProgram, BrokenFiles, damage, execute, makeInbox, toFirstVersion } from './broken-files.ts';
import { causeOf, integrityOf, RESULT } from './results.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
/** Taken back after the test, the last first. */
let undo: (() => void)[];

beforeEach(() => {
  scratch = new Scratch();
  undo = [
    () => {
      scratch.dispose();
    },
  ];
});
afterEach(() => {
  for (const action of undo.reverse()) action();
});

const KIB = 1024;
const isRoot = process.getuid?.() === 0;
const bed = (maxFileBytes?: number) => ({
  store: () => sqliteStore({ path: scratch.file(), maxFileBytes, busyTimeoutMs: 0 }),
  dispose: () => undefined,
});
const large = (id: string) => delivery(id, { rawBody: new Uint8Array(100 * KIB) });

/** What a call throws. */
async function thrownBy(action: () => unknown): Promise<BackpressureError> {
  try {
    await action();
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return error as BackpressureError;
  }
  throw new Error('nothing was thrown');
}

async function fill(store: InboxStore): Promise<BackpressureError> {
  for (let at = 0; at < 1000; at += 1) {
    try {
      await put(store, [large(String(at))]);
    } catch (error) {
      return error as BackpressureError;
    }
  }
  throw new Error('it never was full');
}

/** What every store must still do after a call that found no room. */
async function survivesBeingFull(store: InboxStore): Promise<void> {
  const error = await fill(store);
  expect(error).toMatchObject({ code: 'ERR_WBP_SQLITE_WRITE' });
  expect(causeOf(error)).toBe(RESULT.full);
  const before = await store.stats();
  expect(before.depth).toBeGreaterThan(0);
  // All or nothing: the small one would have found its place.
  await thrownBy(() =>
    put(store, [delivery('small'), ...[1, 2, 3].map((at) => large(`more ${String(at)}`))]),
  );
  expect(await store.stats()).toEqual(before);
}

describe('a full disk', () => {
  it('by maxFileBytes: the call throws, nothing of it is done, and it goes on when there is room', async () => {
    const store = await opened(bed(1024 * KIB));
    await survivesBeingFull(store);
    await settle(store, ends.completed(await claimOne(store)));
    expect(await put(store, [delivery('small'), delivery('small too')])).toEqual(['stored', 'stored']);
    expect(integrityOf(scratch.file())).toEqual([['ok']]);
  });

  it.each([
    ['completed', ends.completed],
    ['put on the shelf', ends.dead],
  ])('by maxFileBytes: what is stored is %s all the same', async (_, end) => {
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

it('a batch with one that cannot be stored: nothing of it is, and the next one can be', async () => {
  const store = await opened(bed());
  const broken = delivery('broken', { rawBody: { byteLength: 1 } as Uint8Array });
  await expect(async () => put(store, [delivery('a'), broken])).rejects.toThrow();
  expect(await claim(store, 9)).toEqual([]);
  expect(await put(store, [delivery('a')])).toEqual(['stored']);
});

describe('a file that may only be read', () => {
  it('makes every change throw, and a start as well', async ({ skip }) => {
    skip(isRoot && !isMountable, 'nothing is read-only to root, and this system does not let us mount');
    const store = await opened(bed());
    await put(store, [delivery('a')]);
    await store.close(START);
    makeReadOnly(scratch.folder);
    const error = await thrownBy(() => opened(bed()));
    // Which one depends on whether there is a -wal file to be read.
    expect(error.code).toMatch(/^ERR_WBP_SQLITE_(?:WRITE|OPEN)$/);
    expect(error.message).toContain('read-only');
  });
});

describe('a file that is damaged', () => {
  it('is refused, and left as it is', async () => {
    makeInbox(scratch.file());
    damage(scratch.file());
    const before = readFileSync(scratch.file());
    const error = await thrownBy(() => opened(bed()));
    expect(error).toMatchObject({ code: 'ERR_WBP_SQLITE_DAMAGED' });
    expect(causeOf(error)).toBe(RESULT.corrupt);
    expect(readFileSync(scratch.file()).equals(before)).toBe(true);
  });

  it('is refused when it is no SQLite file at all', async () => {
    const error = await thrownBy(() => sqliteStore({ path: import.meta.filename }).open(START));
    expect(error.code).toBe('ERR_WBP_SQLITE_DAMAGED');
  });
});

describe('a file that another program has locked', () => {
  it('makes the call throw, and goes on when it is free', async () => {
    const store = await opened(bed());
    await put(store, [delivery('a')]);
    const other = anotherProgram(scratch.file());
    other.exec('BEGIN IMMEDIATE');
    for (const call of [() => put(store, [delivery('b')]), () => claim(store, 1)]) {
      const error = await thrownBy(call);
      expect(error).toMatchObject({ code: 'ERR_WBP_SQLITE_LOCKED' });
      expect(causeOf(error)).toBe(RESULT.busy);
    }
    // Who only reads need not wait.
    expect((await store.stats()).depth).toBe(1);
    other.exec('ROLLBACK');
    expect(await put(store, [delivery('b')])).toEqual(['stored']);
  });
});

describe('a row that cannot be read', () => {
  it.each([
    ['headers that are no JSON', "UPDATE contents SET headers = '{' WHERE id = 'bad'"],
    ['headers that are none', `UPDATE contents SET headers = '{"a":1}' WHERE id = 'bad'`],
    ['an id that is not as we write it', String.raw`UPDATE contents SET id = '\x' WHERE id = 'bad'`],
    ['nothing that it is for', "DELETE FROM contents WHERE id = 'bad'"],
  ])('goes to the shelf, with the reason, and the rest go on: %s', async (_, sql) => {
    const store = await opened(bed());
    await put(store, [delivery('a'), delivery('bad'), delivery('b')]);
    execute(scratch.file(), sql);
    expect(idsOf(await claim(store, 9))).toEqual(['a', 'b']);
    expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 2, shelved: 1 });
    const [dead] = await store.listShelved({ limit: 9, offset: 0 });
    expect(dead).toMatchObject({ key: 'shop', reason: 'dead', attempts: 0 });
    expect(dead?.error).toContain('cannot be read');
    // Put back as it is, it comes to the same; and it can be thrown away.
    expect(await store.redrive(null, { limit: 9, maxBytes: 9999, nowMs: START })).toHaveLength(1);
    expect(await claim(store, 9)).toEqual([]);
    expect(await store.purge(null, { limit: 9, maxBytes: 9999 })).toHaveLength(1);
    expect(await store.stats()).toMatchObject({ depth: 2, shelved: 0, shelvedBytes: 0 });
  });
});

describe('a file of another version', () => {
  it('is refused when it is newer or not ours, and not changed', async () => {
    const files = new BrokenFiles();
    undo.push(() => {
      files.dispose();
    });
    for (const path of [files.ofANewerRelease, files.ofAnotherProgram]) {
      const before = readFileSync(path);
      await thrownBy(() => sqliteStore({ path }).open(START));
      expect(readFileSync(path).equals(before), path).toBe(true);
    }
  });

  it('is brought to the newest version when it is older, with all that is in it', async () => {
    const before = await opened(bed());
    await put(before, [delivery('waiting')]);
    await put(before, [delivery('kept')], { isOverflow: true });
    await before.close(START);
    toFirstVersion(scratch.file());
    const store = await opened(bed());
    expect(await store.stats()).toMatchObject({ depth: 1, shelved: 1 });
    expect(idsOf(await store.listShelved({ key: 'shop', limit: 9, offset: 0 }))).toEqual(['kept']);
    await put(store, [delivery('kept too')], { isOverflow: true });
    expect(await store.purge(null, { key: 'shop', limit: 9, maxBytes: 9999 })).toHaveLength(2);
  });

  it('is made when a start was cut short before anything was written', async () => {
    execute(scratch.file(), 'PRAGMA journal_mode = WAL');
    expect(await (await opened(bed())).stats()).toMatchObject({ depth: 0 });
  });
});

describe('a clock that jumps', () => {
  const DAY = 86_400_000;

  it('forward: keeps claims with a live owner that is alone, and brings retries forward', async () => {
    const store = await opened(bed());
    await put(store, [delivery('a'), delivery('b')]);
    const [a, b] = await claim(store, 2);
    await settle(store, ends.failed(b as NonNullable<typeof b>, START + 1000));
    expect(idsOf(await claim(store, 2, { nowMs: START + DAY }))).toEqual(['b']);
    expect(await settle(store, ends.completed(a as NonNullable<typeof a>), START + DAY)).toBe(true);
  });

  it('back: keeps nothing waiting that was due', async () => {
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
    undo.push(() => {
      execFileSync('umount', ['-l', folder]);
    });
    execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
    return;
  }
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o444);
  chmodSync(folder, 0o555);
  undo.push(() => {
    chmodSync(folder, 0o755);
  });
}
