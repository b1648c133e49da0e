import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bury, claim, delivery, opened, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { anotherProgram, BrokenFiles, execute } from './broken-files.ts';
import { tool as program, toolHere as tool, toolWithoutRoot } from './run-tool.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
let file: string;

beforeEach(async () => {
  scratch = new Scratch();
  file = scratch.file();
  const store = await opened(bed());
  await put(store, [delivery('waiting')]);
  await claim(store, 1);
  await bury(store, 'first', START + 1);
  await put(store, [delivery('evil\u001b[2J', { rawBody: new Uint8Array([0xff, 0xfe]) })], {
    isOverflow: true,
    nowMs: START + 2,
  });
  await store.close(START + 3);
});
afterEach(() => {
  scratch.dispose();
});

const bed = () => scratch.bed();

async function json(...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await tool(...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('status', () => {
  it('prints totals, as text and JSON, while a receiver has the file open', async () => {
    const store = await opened(bed());
    expect(await json('status', file)).toMatchObject({
      depth: 1,
      inFlight: 0,
      deadLetters: 2,
      remembered: 0,
      oldestReceivedAt: new Date(START).toISOString(),
      owners: [{ pid: process.pid, isAlive: true }],
    });
    const { out } = await program('status', '--file', file);
    expect(out).toMatch(/^unfinished +1 \(/m);
    expect(out).toMatch(/^dead letters +2 \(/m);
    await store.close(START);
  });
});

describe('a file that the tool must not change', () => {
  const commands = [['status'], ['show', 'a'], ['redrive', 'all']];
  let files: BrokenFiles;
  beforeEach(() => {
    files = new BrokenFiles();
  });
  afterEach(() => {
    files.dispose();
  });

  it.each([
    ['ofANewerRelease', 'ERR_WBP_SQLITE_VERSION'],
    ['ofAnotherProgram', 'ERR_WBP_SQLITE_FOREIGN'],
    ['empty', 'ERR_WBP_SQLITE_FOREIGN'],
    ['damaged', 'ERR_WBP_SQLITE_DAMAGED'],
  ] as const)('is refused by every command: %s', async (name, code) => {
    const path = files[name];
    const before = readFileSync(path);
    for (const command of commands) {
      const { code: exit, out, err } = await tool(...command, path);
      expect({ exit, out }, command.join(' ')).toEqual({ exit: 1, out: '' });
      expect(err).toMatch(new RegExp(`^.*${code}.*\n$`));
      expect(readFileSync(path).equals(before), command.join(' ')).toBe(true);
    }
  });

  it('is not changed by commands that read, also while it is locked', async () => {
    const lock = anotherProgram(file);
    lock.exec('BEGIN IMMEDIATE');
    expect((await tool('dead', file)).code).toBe(0);
    lock.exec('ROLLBACK');
    lock.close();
    const before = readFileSync(file);
    for (const command of [['status'], ['dead'], ['show', 'first']]) await tool(...command, file);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

describe('a file that cannot be opened', () => {
  it('is reported in one line if it is a folder, below a file, or has too long a name', async () => {
    expect((await tool('status', scratch.folder)).err).toBe(`${scratch.folder} is not a file.\n`);
    for (const path of [join(file, 'below.db'), scratch.file('x'.repeat(300))]) {
      const { code, err } = await tool('status', path);
      expect(code).toBe(1);
      expect(err).toMatch(/^.* cannot be opened: (?:ENOTDIR|ENAMETOOLONG).*ERR_WBP_SQLITE_OPEN.*\n$/);
    }
  });

  it('is reported in one line when this user has no permission to read it', async () => {
    chmodSync(scratch.folder, 0o755);
    chmodSync(file, 0o000);
    const unreadable = await toolWithoutRoot('status', file);
    chmodSync(scratch.folder, 0o000);
    const hidden = await toolWithoutRoot('dead', file);
    chmodSync(scratch.folder, 0o755);
    for (const { code, out, err } of [unreadable, hidden]) {
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/^.* cannot be opened: .*ERR_WBP_SQLITE_OPEN.*\n$/);
    }
  });
});

describe('a wrong command line', () => {
  it.each([
    [['status'], 'The file is missing: add its path as the last argument. Try --help.\n'],
    [['show', 'evt_1'], 'The file is missing: add its path as the last argument. Try --help.\n'],
    [
      ['status', 'a', 'b'],
      'Unexpected argument "b". Usage: webhook-backpressure-sqlite status FILE. Try --help.\n',
    ],
    [['dead', 'a', '--key'], "Option '--key <value>' argument missing. Try --help.\n"],
    [['status', '--file', 'a', 'b'], 'Unexpected argument "b". Try --help.\n'],
  ])('is answered with a sentence: %s', async (args, err) => {
    expect(await tool(...args)).toEqual({ code: 2, out: '', err });
  });

  it('may lack the id, or have it behind the file', async () => {
    for (const args of [[file], [file, 'first']]) {
      const { code, err } = await tool('show', ...args);
      expect(code).toBe(2);
      expect(err).toContain('Example: webhook-backpressure-sqlite show evt_1 FILE.');
    }
    // An id may be the name of a file.
    const { err } = await tool('show', file, '--file', file);
    expect(err).toBe(`There is no delivery ${JSON.stringify(file)} in the file.\n`);
  });

  it('creates no file', async () => {
    const missing = scratch.file('missing.db');
    expect(await tool('status', missing)).toEqual({
      code: 1,
      out: '',
      err: `The file ${missing} does not exist.\n`,
    });
    expect(await tool('status', missing)).toMatchObject({ code: 1 });
  });

  it('may name the file of another program', async () => {
    const another = scratch.file('another.db');
    execute(another, 'CREATE TABLE users (name TEXT)');
    const { code, err } = await tool('status', another);
    expect(code).toBe(1);
    expect(err).toContain('ERR_WBP_SQLITE_FOREIGN');
  });
});

it('prints help', async () => {
  const [asked, nothing] = [await program('--help'), await tool()];
  expect(asked).toMatchObject({ code: 0, err: '' });
  expect(asked.out).toMatch(/redrive ID\|all/);
  expect(nothing).toEqual(asked);
});
