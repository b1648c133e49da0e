import { statSync } from 'node:fs';
import type { ClaimedDelivery } from '@webhook-backpressure/inbox';
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
import { anotherProgram } from './broken-files.ts';
import { isMountable, mount } from './mounts.ts';
import { integrityOf, thrownBy } from './results.ts';
import { Scratch } from './scratch.ts';

const KIB = 1024;

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

describe.skipIf(!isMountable).each([2, 8])('a disk of %i MiB that the inbox fills', (megabytes) => {
  it.each([
    ['completed', 'large', (one: ClaimedDelivery) => ends.completed(one)],
    ['dead-lettered', 'small', (one: ClaimedDelivery) => ({ ...ends.dead(one), error: '€'.repeat(4096) })],
  ])(
    'can be emptied: stored deliveries are %s (%s bodies), also after a restart',
    async (_, size, end) => {
      scratch.defer(mount(scratch.folder, megabytes));
      const store = await opened(scratch.bed({ busyTimeoutMs: 0 }));
      const one = (at: number) =>
        size === 'large'
          ? delivery(String(at), { rawBody: new Uint8Array(100 * KIB) })
          : delivery(String(at).padEnd(99));
      const limits = { capacity: 1e6, maxBytes: 2 ** 40, maxDeadLetters: 1e6, maxDeadLetterBytes: 2 ** 40 };
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
      // Half of them are settled before a restart, the others after it.
      for (let at = 0; at < depth / 2; at += 1)
        expect(await settle(store, end(await claimOne(store)))).toBe(true);
      await store.close(START);
      const next = await opened(scratch.bed({ busyTimeoutMs: 0 }));
      for (let left = (await next.stats()).depth; left > 0; left -= 1)
        expect(await settle(next, end(await claimOne(next)))).toBe(true);
      expect(await next.stats()).toMatchObject({ depth: 0, inFlight: 0 });
      // In parts, as the inbox does.
      while ((await next.purge(null, { limit: 100, maxBytes: 1 << 30 })).length > 0);
      expect(await put(next, [one(-1)])).toEqual(['stored']);
      expect(integrityOf(scratch.file())).toEqual([['ok']]);
      await next.close(START);
    },
    60_000,
  );
});

describe('a read that does not end', () => {
  it('makes the store refuse deliveries above maxWalBytes until it ends', async () => {
    const clock = vi.spyOn(performance, 'now');
    let nowMs = 1000;
    clock.mockImplementation(() => nowMs);
    scratch.defer(() => {
      clock.mockRestore();
    });
    const store = await opened(scratch.bed({ busyTimeoutMs: 0, maxWalBytes: 16 * 1024 * KIB }));
    await put(store, [delivery('first')]);
    const reader = anotherProgram(scratch.file());
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
    // Stored deliveries can still be completed.
    await settle(store, ends.completed(await claimOne(store)));
    reader.exec('ROLLBACK');
    reader.close();
    nowMs += 1000;
    expect(await put(store, [delivery('last')])).toEqual(['stored']);
    expect(statSync(`${scratch.file()}-wal`).size).toBeLessThan(1024 * KIB);
    await store.close(START);
  });
});
