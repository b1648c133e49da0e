import type { InboxStore } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Scratch } from '../../sqlite/scratch.ts';
import { InboxBench, turns } from './inbox-bench.ts';
import { MemoryState, MemoryStore } from './shared-memory.ts';

/** Long enough for the maintenance to read the counts of the store, even in a busy inbox. */
const A_WHILE_MS = 35_000;

let scratch: Scratch;
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(() => {
  scratch.dispose();
});

const kinds: readonly [string, () => () => InboxStore][] = [
  [
    'in memory',
    () => {
      const state = new MemoryState();
      return () => new MemoryStore(state);
    },
  ],
  ['on a file', () => () => sqliteStore({ path: scratch.file() })],
];

describe.each(kinds)('two inboxes with the same deliveries, %s', (_, share) => {
  let door: InboxBench;
  let worker: InboxBench;
  let stores: readonly InboxStore[];

  const send = (id: string, key: string): Promise<unknown> => door.deliver(id, '{}', { 'x-key': key });
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 5000) for (const bench of [door, worker]) await bench.advance(5000);
  };
  const seen = (bench: InboxBench): unknown => {
    const { depth, keys, bytes } = bench.inbox.snapshot();
    return { depth, keys, isEmpty: bytes === 0 };
  };

  beforeEach(async () => {
    const store = share();
    stores = [store(), store()];
    const [one, two] = stores as [InboxStore, InboxStore];
    const keyGenerator = ({ headers }: { headers: Readonly<Record<string, string>> }): string | undefined =>
      headers['x-key'];
    const options = { keyGenerator, concurrency: 1, maxHandlingMs: 86_400_000 };
    door = new InboxBench({ ...options, store: one });
    worker = new InboxBench({ ...options, store: two, concurrency: 9 });
    // All its workers are busy: the inbox is never empty.
    await send('held', 'held');
    await pass(5000);
  });
  afterEach(async () => {
    for (const bench of [door, worker]) {
      const closing = bench.inbox.close({ timeoutMs: 0 });
      await bench.advance(0);
      await bench.advance(2000);
      await closing;
    }
  });

  it('forget keys whose deliveries the other one has completed, and learn keys that it has stored', async () => {
    for (let at = 0; at < 6; at += 1) await send(String(at), `key ${String(at % 3)}`);
    expect(seen(door)).toEqual({ depth: 7, keys: 4, isEmpty: false });
    await pass(A_WHILE_MS);
    expect(seen(worker)).toEqual({ depth: 7, keys: 4, isEmpty: false });
    for (const { finish } of worker.calls) await finish();
    await pass(A_WHILE_MS);
    expect(seen(worker)).toEqual({ depth: 1, keys: 1, isEmpty: false });
    expect(seen(door)).toEqual({ depth: 1, keys: 1, isEmpty: false });
    await door.last.finish();
    expect(seen(door)).toEqual({ depth: 0, keys: 0, isEmpty: true });
    await pass(A_WHILE_MS);
    expect(seen(worker)).toEqual({ depth: 0, keys: 0, isEmpty: true });
  });

  it('never count below zero when one completes deliveries of the other', async () => {
    for (let round = 0; round < 5; round += 1) {
      for (let at = 0; at < 4; at += 1) await send(`${String(round)} ${String(at)}`, `key ${String(at)}`);
      worker.inbox.update({ concurrency: 9 });
      await turns();
      for (const { finish } of worker.calls) await finish();
      for (const bench of [door, worker]) {
        const { depth, keys, bytes } = bench.inbox.snapshot();
        expect(Math.min(depth, keys, bytes)).toBeGreaterThanOrEqual(0);
      }
    }
    await pass(A_WHILE_MS);
    expect(seen(door)).toEqual({ depth: 1, keys: 1, isEmpty: false });
    expect(seen(worker)).toEqual({ depth: 1, keys: 1, isEmpty: false });
  });

  it('count the keys in the store rarely, and never without another process', async () => {
    const [one] = stores as [InboxStore];
    const count = vi.spyOn(one, 'depthByKey');
    for (let at = 0; at < 20; at += 1) await send(String(at), String(at));
    // The other one is idle: only this inbox stores and completes deliveries.
    for (let at = 0; at < 20; at += 1) await door.advance(5000);
    expect(count).not.toHaveBeenCalled();
  });
});
