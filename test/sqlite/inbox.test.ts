import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import type { InboxAnswer } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../core/inbox/inbox-bench.ts';
import { anotherProgram } from './broken-files.ts';
import { Scratch } from './scratch.ts';

let scratch: Scratch;

beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

const store = (name?: string) => sqliteStore({ path: scratch.file(name), busyTimeoutMs: 0 });

function statuses(answers: readonly (InboxAnswer | null)[]): unknown[] {
  return answers.map((answer) => answer?.status);
}

/** Closes the inbox, and returns running deliveries to the queue. */
async function close(bench: InboxBench): Promise<void> {
  const closing = bench.inbox.close({ timeoutMs: 0 });
  await bench.advance(0);
  await bench.advance(2000);
  await closing;
}

/** The last error of the store. */
function complaint(bench: InboxBench): string {
  const failed = bench.events.findLast(({ type }) => type === 'store-failed');
  return failed !== undefined && 'error' in failed ? failed.error : '';
}

describe('a file whose write lock another process holds', () => {
  it('is tried at growing intervals, with 503 in between', async () => {
    const own = store();
    const calls = [vi.spyOn(own, 'put'), vi.spyOn(own, 'claim')];
    const bench = new InboxBench({ store: own });
    await bench.deliver('before');
    const other = anotherProgram(scratch.file());
    other.exec('BEGIN IMMEDIATE');
    for (const call of calls) call.mockClear();
    const answers: (InboxAnswer | null)[] = [];
    for (let at = 0; at < 1000; at += 1) {
      answers.push(await bench.deliver(String(at)));
      await bench.advance(10);
    }
    expect(new Set(statuses(answers))).toEqual(new Set([503]));
    expect(complaint(bench)).toContain('ERR_WBP_SQLITE_LOCKED');
    // In ten seconds: at 0, 0.1, 0.3, 0.7 and 1.5 s, and then once a second.
    expect(calls[0]?.mock.calls.length).toBe(13);
    expect(calls[1]?.mock.calls.length).toBeLessThan(13);

    other.exec('ROLLBACK');
    other.close();
    await bench.advance(1000);
    expect((await bench.deliver('after')).status).toBe(200);
    await bench.last.finish();
    expect(bench.told('store-recovered').length).toBeGreaterThan(0);
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 2 });
    await close(bench);
  });
});

describe('a delivery that SQLite cannot store', () => {
  it('is refused alone', async () => {
    const own = store();
    const put = own.put.bind(own);
    own.put = (batch, options) =>
      put(
        batch.map(({ delivery, isOverflow }) => {
          const rawBody = { byteLength: 1 } as Uint8Array;
          return { delivery: delivery.id === 'bad' ? { ...delivery, rawBody } : delivery, isOverflow };
        }),
        options,
      );
    const bench = new InboxBench({ store: own });
    const answers = await Promise.all(['a', 'b', 'bad', 'c'].map((id) => bench.send(id)));
    expect(statuses(answers)).toEqual([200, 200, 503, 200]);
    expect(complaint(bench)).toContain('ERR_WBP_STORE_VALUE');
    expect((await bench.deliver('d')).status).toBe(200);
    await close(bench);
  });
});

describe('a file that is removed or replaced while it is open', () => {
  const remove = (...names: readonly string[]): void => {
    for (const name of names) rmSync(scratch.file(name));
  };
  const move = (from: string, to: string): void => {
    renameSync(scratch.file(from), scratch.file(to));
  };
  const losses: readonly [string, () => void][] = [
    [
      'deleted',
      () => {
        remove('webhooks.db');
      },
    ],
    [
      'deleted with all files beside it',
      () => {
        remove(...readdirSync(scratch.folder));
      },
    ],
    [
      'without its -wal file',
      () => {
        remove('webhooks.db-wal');
      },
    ],
    [
      'moved away',
      () => {
        move('webhooks.db', 'away.db');
      },
    ],
    [
      'replaced by a copy of itself',
      () => {
        copyFileSync(scratch.file(), scratch.file('copy.db'));
        move('copy.db', 'webhooks.db');
      },
    ],
  ];

  it.each(losses)('accepts no deliveries, and lets stored ones be processed: %s', async (_, lose) => {
    const bench = new InboxBench({ store: store(), concurrency: 1 });
    for (const id of ['a', 'b']) expect((await bench.deliver(id)).status).toBe(200);
    lose();
    expect((await bench.deliver('c')).status).toBe(503);
    expect(complaint(bench)).toContain('ERR_WBP_SQLITE_REPLACED');
    await bench.advance(100);
    expect((await bench.deliver('c')).status).toBe(503);
    await bench.last.finish();
    await bench.last.finish();
    expect(bench.told('completed')).toEqual(['completed a', 'completed b']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { stored: 2 } });
    await close(bench);
  });

  it('accepts deliveries again when it is moved back', async () => {
    const bench = new InboxBench({ store: store() });
    await bench.deliver('a');
    move('webhooks.db', 'away.db');
    expect((await bench.deliver('b')).status).toBe(503);
    move('away.db', 'webhooks.db');
    await bench.advance(100);
    expect(JSON.parse((await bench.deliver('b')).body)).toMatchObject({ status: 'accepted' });
    await close(bench);
  });

  it('does not remove the lock of its successor on close', async () => {
    const first = new InboxBench({ store: store() });
    remove(...readdirSync(scratch.folder));
    const second = new InboxBench({ store: store() });
    await turns();
    await close(first);
    expect(existsSync(scratch.file('webhooks.db.owner-1'))).toBe(true);
    expect((await second.deliver('a')).status).toBe(200);
    await close(second);
  });
});

describe('a file with a symbolic link', () => {
  beforeEach(() => {
    mkdirSync(scratch.file('elsewhere'));
    symlinkSync(scratch.file(), scratch.file('elsewhere/link.db'));
  });

  it('is shared by stores on the file and on the link', async () => {
    const first = new InboxBench({ store: store() });
    await first.deliver('a');
    const second = new InboxBench({ store: store('elsewhere/link.db') });
    await turns();
    expect(second.calls).toHaveLength(0);
    await first.last.finish();
    expect(first.told('completed', 'lost')).toEqual(['completed a']);
    expect(readdirSync(scratch.file('elsewhere'))).toEqual(['link.db']);
    await close(second);
    await close(first);
  });

  it('is checked at its real path', async () => {
    const bench = new InboxBench({ store: store('elsewhere/link.db') });
    expect((await bench.deliver('a')).status).toBe(200);
    rmSync(scratch.file('webhooks.db-wal'));
    expect((await bench.deliver('b')).status).toBe(503);
    expect(complaint(bench)).toContain('ERR_WBP_SQLITE_REPLACED');
    await close(bench);
  });
});
