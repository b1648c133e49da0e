import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bury, claim, delivery, opened, put, START } from '../core/inbox/store/cases/store-fixtures.ts';
import { anotherProgram, BrokenFiles, execute } from './broken-files.ts';
import { tool, toolWithoutRoot } from './run-tool.ts';
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
      shelved: 2,
      remembered: 0,
      oldestReceivedAt: new Date(START).toISOString(),
      owners: [{ pid: process.pid, isAlive: true }],
    });
    const { out } = await tool('status', '--file', file);
    expect(out).toMatch(/^unfinished +1 \(/m);
    expect(out).toMatch(/^dead letters +2 \(/m);
    await store.close(START);
  });
});

describe('dead', () => {
  it('lists dead letters, oldest first, and escapes control characters', async () => {
    const { code, out } = await tool('dead', file);
    expect(code).toBe(0);
    const [head, first, second] = out.split('\n');
    expect(head).toMatch(/^ID +KEY +REASON +ATTEMPTS/);
    expect(first).toMatch(/^first +shop +dead +1 .* it failed$/);
    expect(second).toMatch(/^evil\\u001b\[2J +shop +overflow +0/);
    expect(out).not.toContain('\u001b');
  });

  it('lists at most --limit lines, and counts the others', async () => {
    const { out } = await tool('dead', file, '--limit', '1');
    expect(out).toMatch(/and 1 more\n$/);
    expect(await json('dead', file, '--limit', '1')).toMatchObject({
      shelved: 2,
      deliveries: [{ id: 'first', attempts: 1, error: 'it failed' }],
    });
  });
});

describe('show', () => {
  it('prints a delivery with its headers and body', async () => {
    const { out } = await tool('show', 'first', file);
    expect(out).toContain('content-type: application/json');
    expect(out).toMatch(/\{"id":"first"\}\n$/);
    expect(await json('show', 'first', file)).toMatchObject({ body: '{"id":"first"}', encoding: 'utf8' });
  });

  it('prints the request, its params, the context and the encryption key', async () => {
    const store = await opened(bed());
    const request = { method: 'POST', url: '/hooks/a\u001b?x', params: { tenant: 'a' } };
    const sealed = { request: { method: '', url: '', params: {} }, headers: {}, sealedBy: 'key-1' };
    const more = [delivery('asked', { request, context: { n: 1 } }), delivery('sealed', sealed)];
    await put(store, more, { isOverflow: true });
    await store.close(START);
    const { out } = await tool('show', 'asked', file);
    expect(out).toMatch(/^request +POST \/hooks\/a\\u001b\?x$/m);
    expect(out).toMatch(/^params +\{"tenant":"a"\}$/m);
    expect(out).toMatch(/^context +\{"n":1\}$/m);
    expect(await json('show', 'asked', file)).toMatchObject({
      ...request,
      context: { n: 1 },
      encryptedBy: null,
    });
    expect((await tool('show', 'sealed', file)).out).toMatch(/^encrypted with +key-1$/m);
    expect(await json('show', 'sealed', file)).toMatchObject({ encryptedBy: 'key-1' });
  });

  it('prints binary bodies in base64', async () => {
    expect(await json('show', 'evil\u001b[2J', file)).toMatchObject({ body: '//4=', encoding: 'base64' });
  });
});

describe('redrive and purge', () => {
  it('move and delete one dead letter', async () => {
    expect(await json('redrive', 'first', file)).toEqual({ redriven: 1 });
    expect((await tool('purge', 'evil\u001b[2J', file)).out).toBe('1 delivery deleted.\n');
    expect(await json('status', file)).toMatchObject({ depth: 2, shelved: 0 });
  });

  it('move and delete all dead letters', async () => {
    expect((await tool('redrive', 'all', file)).out).toBe('2 deliveries put back into the queue.\n');
    expect(await json('redrive', 'all', file)).toEqual({ redriven: 0 });
    expect(await json('purge', 'all', file)).toEqual({ purged: 0 });
    expect(await json('status', file)).toMatchObject({ depth: 3, shelved: 0 });
  });

  it('make a running receiver process the delivery', async () => {
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

describe('--key', () => {
  it('limits a command to the deliveries of one key', async () => {
    const store = await opened(bed());
    await put(store, [delivery('first', { key: 'other' })], { isOverflow: true, nowMs: START + 9 });
    await store.close(START);
    expect(await json('dead', file, '--key', 'other')).toMatchObject({
      shelved: 1,
      deliveries: [{ id: 'first', key: 'other', bodyBytes: 14 }],
    });
    expect((await tool('dead', file, '--key', 'none')).out).toBe(
      'There are no dead letters with the key "none".\n',
    );
    expect(await json('show', 'first', file, '--key', 'other')).toMatchObject({ reason: 'overflow' });
    expect((await tool('show', 'first', file, '--key', 'none')).err).toBe(
      'There is no delivery "first" with the key "none" in the file.\n',
    );
    expect(await json('purge', 'first', file, '--key', 'other')).toEqual({ purged: 1 });
    expect(await json('redrive', 'all', file, '--key', 'shop')).toEqual({ redriven: 2 });
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
    ['ofAnOlderRelease', 'ERR_WBP_SQLITE_VERSION'],
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

  it('is refused with its version and what to do', async () => {
    const { err } = await tool('status', files.ofAnOlderRelease);
    expect(err).toContain('has version 1. Start a receiver of this release on it');
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
    [['stauts', 'x.db'], 'Unknown command "stauts". Try --help.\n'],
    [['status'], 'The file is missing. Try --help.\n'],
    [['show'], 'show needs the id of a delivery. Try --help.\n'],
    [['status', 'a', '--key', 'k'], 'status does not take --key. Try --help.\n'],
    [['status', 'a', 'b'], 'Unexpected argument "b". Try --help.\n'],
    [['dead', 'a', '--limit', '0'], '--limit must be an integer of at least 1, but was "0". Try --help.\n'],
  ])('is answered with a sentence: %s', async (args, err) => {
    expect(await tool(...args)).toEqual({ code: 2, out: '', err });
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

  it('may name an unknown delivery or the file of another program', async () => {
    for (const command of ['redrive', 'purge']) {
      expect(await tool(command, 'waiting', file)).toEqual({
        code: 1,
        out: '',
        err: 'There is no delivery "waiting" in the dead-letter queue.\n',
      });
    }
    expect((await tool('show', 'unknown', file)).err).toBe('There is no delivery "unknown" in the file.\n');
    const another = scratch.file('another.db');
    execute(another, 'CREATE TABLE users (name TEXT)');
    const { code, err } = await tool('status', another);
    expect(code).toBe(1);
    expect(err).toContain('ERR_WBP_SQLITE_FOREIGN');
  });
});

it('prints help', async () => {
  const [asked, nothing] = [await tool('--help'), await tool()];
  expect(asked).toMatchObject({ code: 0, err: '' });
  expect(asked.out).toMatch(/redrive ID\|all/);
  expect(nothing).toEqual(asked);
});
