import { execFile, type ExecFileException } from 'node:child_process';
import { join } from 'node:path';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';
import { bury, claim, delivery, opened, put, START } from '../inbox/store-cases/store-words.ts';
import { execute } from './broken-files.ts';
import { Scratch } from './scratch.ts';

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const TOOL = join(root, 'packages/sqlite/dist/cli.js');
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

const bed = () => ({ store: () => sqliteStore({ path: file }), dispose: () => undefined });

function tool(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, [TOOL, ...args], (error: ExecFileException | null, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

async function json(...args: readonly string[]): Promise<unknown> {
  const { code, out, err } = await tool(...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

describe('status', () => {
  it('says what is stored, to people and to programs, while a receiver has the file open', async () => {
    const store = await opened(bed());
    expect(await json('status', file)).toMatchObject({
      depth: 1,
      inFlight: 0,
      shelved: 2,
      remembered: 0,
      oldestReceivedAt: new Date(START).toISOString(),
      owners: [{ pid: process.pid, isAlive: true }],
    });
    const { out } = await tool('status', '--file', file);
    expect(out).toMatch(/^unfinished +1 \(/m);
    expect(out).toMatch(/^on the shelf +2 \(/m);
    await store.close(START);
  });
});

describe('dead', () => {
  it('lists the shelf from the oldest on, and sends nothing to the terminal that it would obey', async () => {
    const { code, out } = await tool('dead', file);
    expect(code).toBe(0);
    const [head, first, second] = out.split('\n');
    expect(head).toMatch(/^ID +KEY +REASON +ATTEMPTS/);
    expect(first).toMatch(/^first +shop +dead +1 .* it failed$/);
    expect(second).toMatch(/^evil\\u001b\[2J +shop +overflow +0/);
    expect(out).not.toContain('\u001b');
  });

  it('lists no more than it is told, and says so', async () => {
    const { out } = await tool('dead', file, '--limit', '1');
    expect(out).toMatch(/and 1 more\n$/);
    expect(await json('dead', file, '--limit', '1')).toMatchObject({
      shelved: 2,
      deliveries: [{ id: 'first', attempts: 1, error: 'it failed' }],
    });
  });
});

describe('show', () => {
  it('shows a delivery with its headers and its body', async () => {
    const { out } = await tool('show', 'first', file);
    expect(out).toContain('content-type: application/json');
    expect(out).toMatch(/\{"id":"first"\}\n$/);
    expect(await json('show', 'first', file)).toMatchObject({ body: '{"id":"first"}', encoding: 'utf8' });
  });

  it('shows bytes that are no text in base64', async () => {
    expect(await json('show', 'evil\u001b[2J', file)).toMatchObject({ body: '//4=', encoding: 'base64' });
  });
});

describe('redrive and purge', () => {
  it('put one back, and throw one away', async () => {
    expect(await json('redrive', 'first', file)).toEqual({ redriven: 1 });
    expect((await tool('purge', 'evil\u001b[2J', file)).out).toBe('1 delivery thrown away.\n');
    expect(await json('status', file)).toMatchObject({ depth: 2, shelved: 0 });
  });

  it('take all', async () => {
    expect((await tool('redrive', 'all', file)).out).toBe('2 deliveries put back.\n');
    expect(await json('redrive', 'all', file)).toEqual({ redriven: 0 });
    expect(await json('purge', 'all', file)).toEqual({ purged: 0 });
    expect(await json('status', file)).toMatchObject({ depth: 3, shelved: 0 });
  });

  it('give back to a receiver that runs', async () => {
    const store = await opened(bed());
    await claim(store, 1);
    await tool('redrive', 'first', '--file', file);
    const nowMs = Date.now() + 60_000;
    expect((await claim(store, 9, { nowMs })).map(({ id, attempt }) => [id, attempt])).toEqual([
      ['first', 1],
    ]);
    await store.close(nowMs);
  });
});

describe('a mistake', () => {
  it.each([
    [['stauts', 'x.db'], 'There is no command "stauts". Try --help.\n'],
    [['status'], 'The file is missing. Try --help.\n'],
    [['show'], 'show needs the id of a delivery. Try --help.\n'],
    [['status', 'a', 'b'], '"b" is one argument too many. Try --help.\n'],
    [['dead', 'a', '--limit', '0'], '--limit must be an integer, at least 1, but was "0". Try --help.\n'],
  ])('is told in a sentence: %s', async (args, err) => {
    expect(await tool(...args)).toEqual({ code: 2, out: '', err });
  });

  it('makes no file', async () => {
    const missing = scratch.file('missing.db');
    expect(await tool('status', missing)).toEqual({
      code: 1,
      out: '',
      err: `There is no file ${missing}.\n`,
    });
    expect(await tool('status', missing)).toMatchObject({ code: 1 });
  });

  it('is a delivery that is not there, and the file of something else', async () => {
    for (const command of ['show', 'redrive', 'purge']) {
      expect(await tool(command, 'waiting', file)).toEqual({
        code: 1,
        out: '',
        err: 'There is no delivery "waiting" on the shelf.\n',
      });
    }
    const another = scratch.file('another.db');
    execute(another, 'CREATE TABLE users (name TEXT)');
    const { code, err } = await tool('status', another);
    expect(code).toBe(1);
    expect(err).toContain('ERR_WBP_SQLITE_FOREIGN');
  });
});

it('helps', async () => {
  const [asked, nothing] = [await tool('--help'), await tool()];
  expect(asked).toMatchObject({ code: 0, err: '' });
  expect(asked.out).toMatch(/redrive ID\|all/);
  expect(nothing).toEqual(asked);
});
