import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { BackpressureError } from '@webhook-backpressure/base';
import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNodeSqlite, useDriver } from '../../packages/sqlite/src/connection/drivers.ts';
import type { DriverName } from '../../packages/sqlite/src/options.ts';
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
} from '../core/inbox/store/cases/store-fixtures.ts';
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
  it('is refused as an option unless it is a boolean', () => {
    expect(() => sqliteStore({ path: 'x', thread: 'yes' as never })).toThrow('ERR_WBP_SQLITE_THREAD');
  });

  it('answers concurrent calls in order', async () => {
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

  it('makes open throw when the file is unusable', () => {
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

  it('can be opened again after a failure and after close', async () => {
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

  it('ends with the store and releases the file', async () => {
    const store = await threads.opened();
    const exits = threads.started.map((thread) => once(thread, 'exit'));
    await put(store, [delivery('a')]);
    await store.close(START);
    await Promise.all(exits);
    expect(readdirSync(threads.scratch.folder)).toEqual(['webhooks.db']);
    await expect(async () => store.stats()).rejects.toThrow('ERR_WBP_SQLITE_NOT_OPEN');
  });

  it('passes errors on with code, message and cause', async () => {
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
  it('rejects the calls in progress with a code, and is replaced by the next call', async () => {
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

  it('leaves its claims to the next thread, which renews and settles them', async () => {
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

  it('leaves claims of named keys to the next thread as well', async () => {
    const store = await threads.opened();
    await put(store, [delivery('a'), delivery('b')]);
    const wants = [{ key: 'shop', count: 2, isHeadOnly: false }];
    const [got] = await store.claimKeys(wants, { leaseMs: LEASE, nowMs: START });
    await threads.crash();
    const held = got?.claimed ?? [];
    expect(await store.renew(held, { leaseMs: LEASE, nowMs: START })).toEqual([true, true]);
    expect(await store.settle(held.map(ends.completed), START)).toEqual([true, true]);
    expect(await store.stats()).toMatchObject({ depth: 0, inFlight: 0 });
  });

  it('releases claims that never reached the process, without using an attempt', async () => {
    const store = await threads.opened();
    await put(store, [delivery('known'), delivery('unheard')]);
    await claimOne(store);
    // A claim whose reply did not arrive.
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

  it('does not take back claims that another process has taken over', async () => {
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

  it('is replaced each time it dies', async () => {
    const store = await threads.opened();
    for (let at = 1; at <= 3; at += 1) {
      await threads.crash();
      expect(await put(store, [delivery(String(at))])).toEqual(['stored']);
    }
    expect(await store.stats()).toMatchObject({ depth: 3 });
  });

  it.each(drivers)('rolls back its open transaction: %s', async (driver) => {
    const path = threads.scratch.file('held.db');
    const begin = "database.exec('BEGIN IMMEDIATE; CREATE TABLE t (x); INSERT INTO t VALUES (1)')";
    const open = {
      libsql: `new (require('libsql'))(path)`,
      'node:sqlite': `new (require('node:sqlite').DatabaseSync)(path)`,
      'better-sqlite3': `new (require('better-sqlite3'))(path)`,
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
