import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { BackpressureError, type InboxStore, type Put } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { useDriver, type DriverName } from '../../packages/sqlite/src/drivers/choose.ts';
import { loadNodeSqlite } from '../../packages/sqlite/src/drivers/node-sqlite.ts';
import {
  claim,
  claimOne,
  delivery,
  ends,
  idsOf,
  LEASE,
  put,
  ROOMY,
  settle,
  START,
} from '../inbox/store-cases/store-words.ts';
import { anotherProgram, BrokenFiles } from './broken-files.ts';
import { Scratch } from './scratch.ts';

const drivers: readonly DriverName[] =
  loadNodeSqlite() === undefined ? ['libsql'] : ['node:sqlite', 'libsql'];
let scratch: Scratch;
let stores: InboxStore[];

beforeEach(() => {
  scratch = new Scratch();
  stores = [];
});
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.allSettled(stores.map((store) => store.close(START)));
  scratch.dispose();
});

function threaded(path = scratch.file()): InboxStore {
  const store = sqliteStore({ path, thread: true, busyTimeoutMs: 0 });
  stores.push(store);
  return store;
}

async function opened(): Promise<InboxStore> {
  const store = threaded();
  await store.open(START);
  return store;
}

const limits = { limits: ROOMY, nowMs: START };
const large = (id: string, bytes = 100_000): Put & { isBodyGiven: true } => ({
  delivery: delivery(id, { rawBody: new Uint8Array(bytes).fill(7) }),
  isOverflow: false,
  isBodyGiven: true,
});

/** Ends the thread of a store, whatever it does, as a crash of it would. */
async function kill(during?: () => unknown): Promise<void> {
  const worker = threads.at(-1);
  if (worker === undefined) throw new Error('there is no thread');
  const exit = once(worker, 'exit');
  during?.();
  await worker.terminate();
  await exit;
}

/** Every thread that was started. */
let threads: Worker[] = [];
beforeEach(() => {
  threads = [];
  const unref = Worker.prototype.unref;
  vi.spyOn(Worker.prototype, 'unref').mockImplementation(function (this: Worker) {
    if (!threads.includes(this)) threads.push(this);
    unref.call(this);
  });
});

describe('the thread of a store', () => {
  it('is asked for with anything but true or false: the options are refused', () => {
    expect(() => sqliteStore({ path: 'x', thread: 'yes' as never })).toThrow('ERR_WBP_SQLITE_THREAD');
  });

  it('answers in the order in which it was asked, however many calls are under way', async () => {
    const store = await opened();
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const calls = Array.from({ length: 50 }, (_, at) => [
      Promise.resolve(store.put([large(String(at))], limits)).then(note(`put ${String(at)}`)),
      Promise.resolve(store.stats()).then(({ depth }) => order.push(`depth ${String(depth)}`)),
    ]).flat();
    await Promise.all(calls);
    expect(order).toEqual(
      Array.from({ length: 50 }, (_, at) => [`put ${String(at)}`, `depth ${String(at + 1)}`]).flat(),
    );
  });

  it('throws what is wrong with the file when it is opened, to whoever opens it', () => {
    const files = new BrokenFiles();
    const codeOf = (path: string): unknown => {
      try {
        return threaded(path).open(START);
      } catch (error) {
        expect(error).toBeInstanceOf(BackpressureError);
        return (error as BackpressureError).code;
      }
    };
    expect(codeOf(files.damaged)).toBe('ERR_WBP_SQLITE_DAMAGED');
    expect(codeOf(files.ofAnotherProgram)).toBe('ERR_WBP_SQLITE_FOREIGN');
    expect(codeOf(scratch.file('missing/webhooks.db'))).toBe('ERR_WBP_SQLITE_OPEN');
    files.dispose();
  });

  it('can be opened again when that has failed, and when it was closed', async () => {
    const store = threaded();
    const other = anotherProgram(scratch.file());
    other.exec('BEGIN EXCLUSIVE');
    expect(() => store.open(START)).toThrow('ERR_WBP_SQLITE_LOCKED');
    other.exec('ROLLBACK');
    other.close();
    await store.open(START);
    await put(store, [delivery('a')]);
    await store.close(START);
    expect(await store.open(START)).toMatchObject({ depth: 1 });
  });

  it('ends with the store, and lets go of the file', async () => {
    const store = await opened();
    const exits = threads.map((thread) => once(thread, 'exit'));
    await put(store, [delivery('a')]);
    await store.close(START);
    await Promise.all(exits);
    expect(readdirSync(scratch.folder)).toEqual(['webhooks.db']);
    await expect(async () => store.stats()).rejects.toThrow('ERR_WBP_SQLITE_NOT_OPEN');
  });

  it('passes errors on with their code, their words and what SQLite said', async () => {
    const store = await opened();
    const other = anotherProgram(scratch.file());
    other.exec('BEGIN IMMEDIATE');
    const error: unknown = await put(store, [delivery('a')]).catch((thrown: unknown) => thrown);
    other.exec('ROLLBACK');
    other.close();
    expect(error).toBeInstanceOf(BackpressureError);
    expect(error).toMatchObject({ name: 'BackpressureError', code: 'ERR_WBP_SQLITE_LOCKED' });
    const { message, help, cause } = error as BackpressureError;
    expect(message).toMatch(/is locked by another process .*\(ERR_WBP_SQLITE_LOCKED, see /);
    expect(message.split('ERR_WBP_SQLITE_LOCKED')).toHaveLength(2);
    expect(help).toBe('docs/errors.md#err_wbp_sqlite_locked');
    expect(cause).toMatchObject({ message: expect.stringMatching(/locked/) as string });
  });
});

describe('bodies', () => {
  it('that are given are handed over, both ways, and others stay as they are', async () => {
    const store = await opened();
    const given = large('given');
    const kept = { ...large('kept'), isBodyGiven: false };
    expect(await store.put([given, kept], limits)).toEqual(['stored', 'stored']);
    expect(given.delivery.rawBody.byteLength).toBe(0);
    expect(kept.delivery.rawBody.byteLength).toBe(100_000);
    for (const { rawBody } of await claim(store, 2)) {
      expect(rawBody.buffer.byteLength).toBe(100_000);
      expect(rawBody.every((byte) => byte === 7)).toBe(true);
    }
  });

  it('that are a part of other memory are copied: nothing beside them crosses, and nothing is taken away', async () => {
    const store = await opened();
    const pool = new Uint8Array(64_000).fill(1);
    const part = pool.subarray(1000, 21_000).fill(2);
    const small = Buffer.from('small');
    await store.put(
      [part, small].map((rawBody, at) => ({
        delivery: delivery(String(at), { rawBody }),
        isOverflow: false,
        isBodyGiven: true,
      })),
      limits,
    );
    expect([pool.byteLength, part.byteLength, small.toString()]).toEqual([64_000, 20_000, 'small']);
    const claimed = await claim(store, 2);
    expect(claimed.map(({ rawBody }) => [rawBody.byteLength, rawBody.buffer.byteLength])).toEqual([
      [20_000, 20_000],
      [5, 5],
    ]);
  });

  it('come back when their put fails, so that the same can be put again, in parts', async () => {
    const store = await opened();
    const batch = ['a', 'b', 'c'].map((id) => large(id));
    const bad = large('bad');
    Object.assign(bad.delivery, { rawBody: { byteLength: 20_000 } });
    await expect(async () => store.put([...batch, bad], limits)).rejects.toThrow('ERR_WBP_STORE_VALUE');
    expect(batch.map(({ delivery: { rawBody } }) => rawBody.byteLength)).toEqual([0, 0, 0]);
    expect(await store.put(batch.slice(0, 2), limits)).toEqual(['stored', 'stored']);
    expect(await store.put(batch.slice(2), limits)).toEqual(['stored']);
    for (const { rawBody } of await claim(store, 3)) expect(rawBody).toEqual(new Uint8Array(100_000).fill(7));
  });

  it('that are gone with their thread are not stored as empty ones', async () => {
    const store = await opened();
    const lost = large('lost');
    const failed = kill(() => Promise.resolve(store.put([lost], limits)).catch(() => undefined));
    await failed;
    await expect(async () => store.put([lost], limits)).rejects.toThrow('ERR_WBP_STORE_VALUE');
  });

  it('that cannot be sent at all leave the others where they are', async () => {
    const store = await opened();
    const good = large('good');
    const bad = large('bad');
    Object.assign(bad.delivery, { headers: { broken: () => undefined } });
    await expect(async () => store.put([good, bad], limits)).rejects.toThrow('could not be cloned');
    expect(await store.put([good], limits)).toEqual(['stored']);
  });
});

describe('a thread that dies', () => {
  it('rejects all that is under way with a code, and the next call starts another', async () => {
    const store = await opened();
    await put(store, [delivery('a')]);
    let under: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await kill(() => {
      under = Promise.allSettled([store.stats(), store.stats(), store.nextDueMs()]);
    });
    for (const result of (await under) ?? []) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ code: 'ERR_WBP_SQLITE_THREAD_ENDED' });
    }
    expect(await store.stats()).toMatchObject({ depth: 1 });
    expect(threads).toHaveLength(2);
  });

  it('leaves its claims to the next one of the same process: they are held, renewed and settled', async () => {
    const store = await opened();
    await put(store, [delivery('a'), delivery('b')]);
    const [a, b] = (await claim(store, 2)) as [Awaited<ReturnType<typeof claimOne>>, typeof a];
    await settle(store, ends.failed(b, START + 1));
    await kill();
    expect(await store.renew([a], { leaseMs: LEASE, nowMs: START })).toEqual([true]);
    expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 1 });
    const again = await claimOne(store, START + 1);
    expect(again).toMatchObject({ id: 'b', attempt: 2, strandings: 0 });
    expect(await settle(store, ends.completed(a))).toBe(true);
    expect(readdirSync(scratch.folder).filter((name) => name.includes('.owner-'))).toHaveLength(1);
  });

  it('gives back what it had claimed and nobody has heard of, as if it had not been claimed', async () => {
    const store = await opened();
    await put(store, [delivery('known'), delivery('unheard')]);
    await claimOne(store);
    // Claimed for this process, and the answer did not arrive.
    const other = anotherProgram(scratch.file());
    other.exec(
      `UPDATE queue SET state = 2, owner = 1, attempts = 1, lease_ms = ${String(START + LEASE)} WHERE state = 0`,
    );
    other.exec('UPDATE totals SET in_flight = 2');
    other.close();
    await kill();
    expect(await claimOne(store)).toMatchObject({ id: 'unheard', attempt: 1, strandings: 0 });
    expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 2 });
  });

  it('while another process has taken its claims over: they are lost, and not taken back', async () => {
    const store = await opened();
    await put(store, [delivery('a')]);
    const a = await claimOne(store);
    await kill();
    const second = threaded();
    await second.open(START);
    expect(await claimOne(second)).toMatchObject({ id: 'a', attempt: 2, strandings: 1 });
    expect(await settle(store, ends.completed(a))).toBe(false);
    expect(await store.stats()).toMatchObject({ depth: 1, inFlight: 1 });
  });

  it('again and again: the next call finds a new one each time', async () => {
    const store = await opened();
    for (let at = 1; at <= 3; at += 1) {
      await kill();
      expect(await put(store, [delivery(String(at))])).toEqual(['stored']);
    }
    expect(await store.stats()).toMatchObject({ depth: 3 });
  });

  it.each(drivers)('lets go of a transaction that it is in the middle of: %s', async (driver) => {
    const path = scratch.file('held.db');
    const begin = "database.exec('BEGIN IMMEDIATE; CREATE TABLE t (x); INSERT INTO t VALUES (1)')";
    const open = {
      libsql: `new (require('libsql'))(path)`,
      'node:sqlite': `new (require('node:sqlite').DatabaseSync)(path)`,
    }[driver];
    const worker = new Worker(
      `const path = ${JSON.stringify(path)}; const database = ${open};
      database.exec('PRAGMA journal_mode = WAL'); ${begin};
      require('node:worker_threads').parentPort.postMessage('begun'); for (;;);`,
      { eval: true },
    );
    await once(worker, 'message');
    await worker.terminate();
    useDriver(driver);
    const database = anotherProgram(path);
    expect(database.prepare('SELECT count(*) FROM sqlite_schema').get([])).toEqual([0]);
    database.exec('BEGIN IMMEDIATE; CREATE TABLE t (x); COMMIT');
    database.close();
  });
});
