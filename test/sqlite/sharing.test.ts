import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../packages/sqlite/src/connection/connection.ts';
import { loadNodeSqlite, useDriver } from '../../packages/sqlite/src/connection/drivers.ts';
import { versionOf } from '../../packages/sqlite/src/tables/schema.ts';
import {
  claim,
  delivery,
  idsOf,
  LEASE,
  opened,
  put,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { makeInbox } from './broken-files.ts';
import { Scratch } from './scratch.ts';

/** Another process with a store on the file. */
class Owner {
  readonly #process: ChildProcess;

  constructor(path: string) {
    this.#process = fork(join(import.meta.dirname, 'children/owner.js'), [path], { execArgv: [] });
  }

  async start(): Promise<this> {
    await this.#next();
    return this;
  }

  async run(command: 'open' | 'put' | 'claim' | 'work', number = 0): Promise<unknown> {
    this.#process.send([command, number]);
    return await this.#next();
  }

  async kill(): Promise<void> {
    if (this.#process.signalCode !== null) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }

  async #next(): Promise<unknown> {
    const [{ result }] = (await once(this.#process, 'message')) as [{ result: unknown }];
    return result;
  }
}

const DELIVERIES = 300;
let scratch: Scratch;
let owners: readonly Owner[];

// The other processes use the SQLite of their runtime, so on a runtime that has one both drivers share a file.
describe.each(loadNodeSqlite() === undefined ? (['libsql'] as const) : (['node:sqlite', 'libsql'] as const))(
  'by %s',
  (driver) => {
    beforeEach(async () => {
      useDriver(driver);
      scratch = new Scratch();
      owners = await Promise.all([1, 2].map(() => new Owner(scratch.file()).start()));
    });
    afterEach(async () => {
      for (const owner of owners) await owner.kill();
      scratch.dispose();
    });

    const bed = () => scratch.bed();
    const locks = (): string[] => readdirSync(scratch.folder).filter((name) => name.includes('.owner-'));

    it('handles each delivery once when two processes start concurrently and store the same ids', async () => {
      const both = (command: 'open' | 'put' | 'work', number?: number): Promise<unknown[]> =>
        Promise.all(owners.map((owner) => owner.run(command, number)));
      expect(await both('open')).toEqual([0, 0]);
      const [one, two] = (await both('put', DELIVERIES)) as [number, number];
      expect(one + two).toBe(DELIVERIES);
      const done = ((await both('work')) as string[][]).flat();
      expect(done).toHaveLength(DELIVERIES);
      expect(new Set(done).size).toBe(DELIVERIES);
    }, 60_000);

    it('does not take a new file for a foreign one while another process creates it', () => {
      const path = scratch.file('new.db');
      const connection = new Connection(path, 1000);
      // Another process creates the inbox after the first statement.
      const interrupted = Object.create(connection, {
        get: {
          value: (sql: string) => {
            const row = connection.get(sql);
            makeInbox(path);
            return row;
          },
        },
      }) as Connection;
      expect(versionOf(interrupted)).toBe(0);
      connection.close();
    });

    it('leaves claims to a live process, and takes them over immediately when it is killed', async () => {
      const [other] = owners as [Owner];
      const store = await opened(bed());
      await put(
        store,
        ['a', 'b', 'c'].map((id) => delivery(id)),
      );
      await other.run('open');
      // The lease of the other process ends after an hour.
      expect(await put(store, [delivery('d')], { nowMs: 0 })).toEqual(['stored']);
      await store.close(0);
      const next = await opened(bed(), 0);
      expect(await other.run('claim', 2)).toHaveLength(2);
      const kept = idsOf(await claim(next, 9, { nowMs: 0 }));
      expect(kept).toHaveLength(2);
      expect(await next.nextDueMs()).toBe(3_600_000);
      expect(locks()).toHaveLength(2);

      await other.kill();
      expect(await next.nextDueMs()).toBeLessThanOrEqual(0);
      const [first] = await claim(next, 9, { nowMs: 0 });
      const [second] = await claim(next, 9, { nowMs: 0 });
      expect([first, second].map((one) => [one?.attempt, one?.strandings])).toEqual([
        [2, 1],
        [2, 1],
      ]);
      expect([first?.id, second?.id, ...kept].sort()).toEqual(['a', 'b', 'c', 'd']);
      expect(locks()).toHaveLength(1);
      await next.close(0);
      expect(locks()).toEqual([]);
    }, 60_000);

    it('lists the keys of a killed process immediately, and takes over its claims by key', async () => {
      const [other] = owners as [Owner];
      const store = await opened(bed(), 0);
      await put(store, [delivery('a'), delivery('b')], { nowMs: 0 });
      await other.run('open');
      expect(await other.run('claim', 2)).toHaveLength(2);
      const wants = [{ key: 'shop', count: 9, isHeadOnly: false }];
      const lease = { leaseMs: LEASE, nowMs: 0 };
      const page = { after: undefined, limit: 9, dueByMs: Infinity };
      // The lease of the other process ends after an hour.
      expect(await store.claimKeys(wants, lease)).toEqual([
        { key: 'shop', claimed: [], nextDueMs: 3_600_000 },
      ]);
      expect(await store.dueKeys(page)).toEqual({
        keys: [{ key: 'shop', nextDueMs: 3_600_000 }],
        next: undefined,
      });
      await other.kill();
      expect(await store.dueKeys({ ...page, dueByMs: 0 })).toEqual({
        keys: [{ key: 'shop', nextDueMs: 0 }],
        next: undefined,
      });
      const [got] = await store.claimKeys(wants, lease);
      expect(got?.claimed.map(({ id, attempt, strandings }) => [id, attempt, strandings])).toEqual([
        ['a', 2, 1],
        ['b', 2, 1],
      ]);
      await store.close(0);
    }, 60_000);

    it('takes over the claims of a killed process at a start, and removes its lock', async () => {
      const [other] = owners as [Owner];
      await other.run('open');
      await other.run('put', 2);
      await other.run('claim', 1);
      await other.kill();
      expect(locks()).toHaveLength(1);
      const store = await opened(bed());
      expect(await store.stats()).toMatchObject({ depth: 2, inFlight: 0 });
      expect(locks()).toHaveLength(1);
      const nowMs = START;
      expect(
        (await claim(store, 9, { nowMs, leaseMs: LEASE })).map(({ strandings }) => strandings).sort(),
      ).toEqual([0, 1]);
      await store.close(nowMs);
    }, 60_000);
  },
);
