import { statSync } from 'node:fs';
import { BackpressureError, type ClaimedDelivery } from '@webhook-backpressure/core';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  claimOne,
  delivery,
  ends,
  opened,
  put,
  settle,
  START,
} from '../core/inbox/store/cases/store-fixtures.ts';
import { isMountable, mount } from './mounts.ts';
import { Scratch } from './scratch.ts';

const KIB = 1024;

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

const bed = () => ({
  store: () => sqliteStore({ path: scratch.file(), busyTimeoutMs: 0 }),
  dispose: () => undefined,
});
const large = (id: string) => delivery(id, { rawBody: new Uint8Array(100 * KIB) });

async function thrownBy(action: () => unknown): Promise<BackpressureError> {
  try {
    await action();
  } catch (error) {
    expect(error).toBeInstanceOf(BackpressureError);
    return error as BackpressureError;
  }
  throw new Error('nothing was thrown');
}

function integrity(): unknown {
  return new Database(scratch.file()).pragma('integrity_check');
}

describe.skipIf(!isMountable).each([2, 8])('of %i MiB that it fills itself', (megabytes) => {
  it.each([
    ['completed', 'small', (one: ClaimedDelivery) => ends.completed(one)],
    ['completed', 'large', (one: ClaimedDelivery) => ends.completed(one)],
    ['put on the shelf', 'small', (one: ClaimedDelivery) => ({ ...ends.dead(one), error: '€'.repeat(4096) })],
  ])(
    'what is stored is %s (%s), after a restart too, and room is made',
    async (_, size, end) => {
      undo.push(mount(scratch.folder, megabytes));
      const store = await opened(bed());
      const one = (at: number) => (size === 'large' ? large(String(at)) : delivery(String(at).padEnd(99)));
      const limits = { capacity: 1e6, maxBytes: 2 ** 40, maxShelved: 1e6, maxShelvedBytes: 2 ** 40 };
      let stored = 0;
      const error = await thrownBy(async () => {
        for (; stored < 100_000; stored += 10) {
          const batch = Array.from({ length: size === 'large' ? 1 : 10 }, (__, at) => one(stored + at));
          await put(store, batch, { limits });
        }
      });
      expect(error.code).toBe('ERR_WBP_SQLITE_WRITE');
      const { depth } = await store.stats();
      expect(depth).toBeGreaterThan(megabytes);
      // Some end, and the process does too; the rest end after a start.
      for (let at = 0; at < depth / 2; at += 1)
        expect(await settle(store, end(await claimOne(store)))).toBe(true);
      await store.close(START);
      const next = await opened(bed());
      for (let left = (await next.stats()).depth; left > 0; left -= 1)
        expect(await settle(next, end(await claimOne(next)))).toBe(true);
      expect(await next.stats()).toMatchObject({ depth: 0, inFlight: 0 });
      // As the inbox does, in parts.
      while ((await next.purge(null, { limit: 100, maxBytes: 1 << 30 })).length > 0);
      expect(await put(next, [one(-1)])).toEqual(['stored']);
      expect(integrity()).toEqual([{ integrity_check: 'ok' }]);
      await next.close(START);
    },
    60_000,
  );
});

describe('a reader that does not end', () => {
  it('keeps the -wal file from being emptied, and new deliveries out when that is too large, until it has gone', async () => {
    const clock = vi.spyOn(performance, 'now');
    let nowMs = 1000;
    clock.mockImplementation(() => nowMs);
    undo.push(() => {
      clock.mockRestore();
    });
    const store = sqliteStore({ path: scratch.file(), busyTimeoutMs: 0, maxWalBytes: 16 * 1024 * KIB });
    await store.open(START);
    await put(store, [delivery('first')]);
    const reader = new Database(scratch.file());
    reader.exec('BEGIN; SELECT * FROM contents');
    let stored = 0;
    const rawBody = new Uint8Array(1000 * KIB);
    const error = await thrownBy(async () => {
      for (; stored < 100; stored += 1) {
        nowMs += 1000;
        await put(store, [delivery(String(stored), { rawBody })]);
      }
    });
    expect(error.code).toBe('ERR_WBP_SQLITE_LOCKED');
    expect(error.message).toContain('-wal');
    expect(stored).toBeGreaterThan(10);
    expect(stored).toBeLessThan(20);
    // What is stored can be completed, and what has no time left is not asked for anew each time.
    await settle(store, ends.completed(await claimOne(store)));
    reader.exec('ROLLBACK');
    reader.close();
    nowMs += 1000;
    expect(await put(store, [delivery('last')])).toEqual(['stored']);
    expect(statSync(`${scratch.file()}-wal`).size).toBeLessThan(1024 * KIB);
    await store.close(START);
  });
});
