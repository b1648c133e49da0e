import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { BackpressureError, type ClaimedDelivery } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { useDriver, type DriverName } from '../../packages/sqlite/src/drivers/choose.ts';
import { loadNodeSqlite } from '../../packages/sqlite/src/drivers/node-sqlite.ts';
import {
  claim,
  claimOne,
  delivery,
  ends,
  LEASE,
  put,
  ROOMY,
  settle,
  START,
} from '../core/inbox/store/cases/store-words.ts';
import { anotherProgram, BrokenFiles } from './broken-files.ts';
import { Threads } from './threads.ts';

const drivers: readonly DriverName[] =
  loadNodeSqlite() === undefined ? ['libsql'] : ['node:sqlite', 'libsql'];
let threads: Threads;
beforeEach(() => {
  threads = new Threads();
});
afterEach(() => threads.dispose());

const limits = { limits: ROOMY, nowMs: START };

describe('the thread of a store', () => {
  it('is asked for with anything but true or false: the options are refused', () => {
    expect(() => sqliteStore({ path: 'x', thread: 'yes' as never })).toThrow('ERR_WBP_SQLITE_THREAD');
  });

  it('answers in the order in which it was asked, however many calls are under way', async () => {
    const store = await threads.opened();
    const order: string[] = [];
    const note = (name: string) => () => order.push(name);
    const calls = Array.from({ length: 50 }, (_, at) => [
      Promise.resolve(store.put([{ delivery: delivery(String(at)), isOverflow: false }], limits)).then(
        note(`put ${String(at)}`),
      ),
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
        return threads.store(path).open(START);
      } catch (error) {
        expect(error).toBeInstanceOf(BackpressureError);
        return (error as BackpressureError).code;
      }
    };
    expect(codeOf(files.damaged)).toBe('ERR_WBP_SQLITE_DAMAGED');
    expect(codeOf(files.ofAnotherProgram)).toBe('ERR_WBP_SQLITE_FOREIGN');
    expect(codeOf(threads.scratch.file('missing/webhooks.db'))).toBe('ERR_WBP_SQLITE_OPEN');
    files.dispose();
  });

  it('can be opened again when that has failed, and when it was closed', async () => {
    const store = threads.store();
    const other = anotherProgram(threads.scratch.file());
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
    const store = await threads.opened();
    const exits = threads.started.map((thread) => once(thread, 'exit'));
    await put(store, [delivery('a')]);
    await store.close(START);
    await Promise.all(exits);
    expect(readdirSync(threads.scratch.folder)).toEqual(['webhooks.db']);
    await expect(async () => store.stats()).rejects.toThrow('ERR_WBP_SQLITE_NOT_OPEN');
  });

  it('passes errors on with their code, their words and what SQLite said', async () => {
    const store = await threads.opened();
    const other = anotherProgram(threads.scratch.file());
    other.exec('BEGIN IMMEDIATE');
    const error: unknown = await put(store, [delivery('a')]).catch((thrown: unknown) => thrown);
    other.exec('ROLLBACK');
    other.close();
    expect(error).toBeInstanceOf(BackpressureError);
    expect(error).toMatchObject({ name: 'BackpressureError', code: 'ERR_WBP_SQLITE_LOCKED' });
    const { message, help, cause } = error as BackpressureError;
    expect(message).toMatch(/is locked by another process .*\(ERR_WBP_SQLITE_LOCKED, see /);
    expect(message.split('ERR_WBP_SQLITE_LOCKED')).toHaveLength(2);
    expect(message).toContain(help);
    expect(cause).toMatchObject({ message: expect.stringMatching(/locked/) as string });
  });
});

describe('a thread that dies', () => {
  it('rejects all that is under way with a code, and the next call starts another', async () => {
    const store = await threads.opened();
    await put(store, [delivery('a')]);
    let under: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await threads.crash(() => {
      under = Promise.allSettled([store.stats(), store.stats(), store.nextDueMs()]);
    });
    for (const result of (await under) ?? []) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'ERR_WBP_SQLITE_THREAD_ENDED' },
      });
    }
    expect(await store.stats()).toMatchObject({ depth: 1 });
    expect(threads.started).toHaveLength(2);
  });

  it('leaves its claims to the next one of the same process: they are held, renewed and settled', async () => {
    const store = await threads.opened();
    await put(store, [delivery('a'), delivery('b')]);
    const [a, b] = (await claim(store, 2)) as [ClaimedDelivery, ClaimedDelivery];
    await settle(store, ends.failed(b, START + 1));
    await threads.crash();
    expect(await store.renew([a], { leaseMs: LEASE, nowMs: START })).toEqual([true]);
    expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 1 });
    const again = await claimOne(store, START + 1);
    expect(again).toMatchObject({ id: 'b', attempt: 2, strandings: 0 });
    expect(await settle(store, ends.completed(a))).toBe(true);
    expect(readdirSync(threads.scratch.folder).filter((name) => name.includes('.owner-'))).toHaveLength(1);
  });

  it('gives back what it had claimed and nobody has heard of, as if it had not been claimed', async () => {
    const store = await threads.opened();
    await put(store, [delivery('known'), delivery('unheard')]);
    await claimOne(store);
    // Claimed for this process, and the answer did not arrive.
    const other = anotherProgram(threads.scratch.file());
    other.exec(
      `UPDATE queue SET state = 2, owner = 1, attempts = 1, lease_ms = ${String(START + LEASE)} WHERE state = 0`,
    );
    other.exec('UPDATE totals SET in_flight = 2');
    other.close();
    await threads.crash();
    expect(await claimOne(store)).toMatchObject({ id: 'unheard', attempt: 1, strandings: 0 });
    expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 2 });
  });

  it('while another process has taken its claims over: they are lost, and not taken back', async () => {
    const store = await threads.opened();
    await put(store, [delivery('a')]);
    const a = await claimOne(store);
    await threads.crash();
    const second = threads.store();
    await second.open(START);
    expect(await claimOne(second)).toMatchObject({ id: 'a', attempt: 2, strandings: 1 });
    expect(await settle(store, ends.completed(a))).toBe(false);
    expect(await store.stats()).toMatchObject({ depth: 1, inFlight: 1 });
  });

  it('again and again: the next call finds a new one each time', async () => {
    const store = await threads.opened();
    for (let at = 1; at <= 3; at += 1) {
      await threads.crash();
      expect(await put(store, [delivery(String(at))])).toEqual(['stored']);
    }
    expect(await store.stats()).toMatchObject({ depth: 3 });
  });

  it.each(drivers)('lets go of a transaction that it is in the middle of: %s', async (driver) => {
    const path = threads.scratch.file('held.db');
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
