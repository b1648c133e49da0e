import {
  memoryStore,
  Unrecoverable,
  type InboxOptions,
  type RedriveProgress,
} from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { MemoryState } from '../../../../packages/core/src/inbox/store/memory/memory-state.ts';
import { MemoryStore } from '../../../../packages/core/src/inbox/store/memory/memory-store.ts';
import { PartSize } from '../../../../packages/core/src/inbox/store-calls/part-size.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { delivery, opened, put, storedBytes } from '../store/cases/store-words.ts';

/** An inbox over a shelf with `count` deliveries, whose low-water mark is 20 and whose high-water mark is 30. */
async function over(
  count: number,
  options: Partial<InboxOptions> = {},
  body = '{}',
): Promise<{ readonly bench: InboxBench; readonly memory: MemoryState }> {
  const memory = new MemoryState();
  const filler = await opened({ store: () => new MemoryStore(memory), dispose: () => undefined });
  const shelved = Array.from({ length: count }, (_, at) =>
    delivery(`old ${String(at)}`, { rawBody: new TextEncoder().encode(body) }),
  );
  await put(filler, shelved, { isOverflow: true });
  const bench = new InboxBench({
    ...{
      store: new MemoryStore(memory),
      capacity: 40,
      highWaterMark: 0.75,
      lowWaterMark: 0.5,
      concurrency: 5,
    },
    ...options,
  });
  await turns();
  return { bench, memory };
}

async function finishAll(bench: InboxBench): Promise<void> {
  // More may begin meanwhile.
  for (const call of bench.calls) await call.finish();
}

describe('redrive', () => {
  it('stops at the low-water mark, and goes on below it until all are back', async () => {
    const { bench, memory } = await over(100);
    const progress: RedriveProgress[] = [];
    const state = { isDone: false };
    const redriving = bench.inbox.deadLetters
      .redrive('all', { onProgress: (now) => progress.push(now) })
      .finally(() => (state.isDone = true));
    await bench.advance(1000);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 20, state: 'accepting', shelved: 80 });
    expect(progress.at(-1)).toEqual({ redriven: 20, remaining: 80, isWaiting: true });
    expect(bench.events).toContainEqual(
      expect.objectContaining({ type: 'redriving', redriven: 20, remaining: 80, isWaiting: true }),
    );
    // Fresh deliveries have the room above the mark.
    for (let at = 0; at < 9; at += 1) expect((await bench.deliver(`new ${String(at)}`)).status).toBe(200);
    await bench.advance(1000);
    expect(bench.inbox.snapshot().depth).toBe(29);
    let most = 0;
    while (!state.isDone) {
      await finishAll(bench);
      await bench.advance(300);
      most = Math.max(most, bench.inbox.snapshot().depth);
    }
    expect(most).toBeLessThanOrEqual(20);
    expect(await redriving).toBe(100);
    expect(progress.at(-1)).toEqual({ redriven: 100, remaining: 0, isWaiting: false });
    await finishAll(bench);
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      bytes: 0,
      totals: { completed: 109, refused: {} },
    });
    expect(memory.stats()).toMatchObject({ depth: 0, shelved: 0 });
    expect(new Set(bench.calls.map((call) => call.delivery.id)).size).toBe(109);
  });

  it('stops at the low-water mark of the bytes as well', async () => {
    const body = 'x'.repeat(100_000);
    const bytes = storedBytes(delivery('old 1', { rawBody: new TextEncoder().encode(body) }));
    const options = { capacity: 1000, maxBytes: 10 * bytes, maxBodyBytes: 100_000 };
    const { bench } = await over(12, options, body);
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(1000);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 5, state: 'accepting' });
    for (const id of ['x', 'y']) expect((await bench.deliver(id, body)).status).toBe(200);
    await finishAll(bench);
    await bench.advance(300);
    await finishAll(bench);
    await bench.advance(300);
    expect(await redriving).toBe(12);
  });

  it('does not reach the limit in bytes with one that is large', async () => {
    const { bench } = await over(3, { maxBytes: 1_000_000, maxBodyBytes: 700_000 }, 'x'.repeat(400_000));
    await bench.deliver('new', 'x'.repeat(300_000));
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(1000);
    // It would fit below the low-water mark and yet leave no place for the next one.
    expect(bench.inbox.snapshot().depth).toBe(1);
    expect((await bench.deliver('large', 'x'.repeat(400_000))).status).toBe(200);
    for (let at = 0; at < 6; at += 1) {
      await finishAll(bench);
      await bench.advance(300);
    }
    expect(await redriving).toBe(3);
  });

  it('puts back one that is larger than the mark when nothing else is there', async () => {
    const { bench } = await over(2, { maxBytes: 1000 }, 'x'.repeat(900));
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(300);
    expect(bench.inbox.snapshot().depth).toBe(1);
    await finishAll(bench);
    await bench.advance(300);
    await finishAll(bench);
    expect(await redriving).toBe(2);
  });

  it('puts a single one back up to the high-water mark, which it does not reach', async () => {
    const { bench } = await over(3);
    for (let at = 0; at < 28; at += 1) await bench.deliver(`new ${String(at)}`);
    expect(await bench.inbox.deadLetters.redrive('old 0')).toBe(1);
    let isDone = false;
    const redriving = bench.inbox.deadLetters.redrive('old 1').finally(() => (isDone = true));
    await bench.advance(1000);
    expect([isDone, bench.inbox.snapshot().depth, bench.inbox.snapshot().state]).toEqual([
      false,
      29,
      'accepting',
    ]);
    await bench.last.finish();
    await bench.advance(300);
    expect(await redriving).toBe(1);
  });

  it('goes once through what was there, however fast it dies again', async () => {
    const { bench } = await over(30, {
      retry: { attempts: 1 },
      process: () => Promise.reject(new Unrecoverable('no')),
    });
    const redriving = bench.inbox.deadLetters.redrive('all');
    for (let at = 0; at < 40; at += 1) await bench.advance(300);
    expect(await redriving).toBe(30);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, shelved: 30, totals: { dead: 30 } });
  });

  it('puts nothing back twice when it is called twice, although all die again', async () => {
    const { bench } = await over(10, { process: () => Promise.reject(new Unrecoverable('no')) });
    await bench.advance(1000);
    const { deadLetters } = bench.inbox;
    const both = Promise.all([deadLetters.redrive('all'), deadLetters.redrive('all')]);
    for (let at = 0; at < 10; at += 1) await bench.advance(300);
    expect((await both).reduce((sum, count) => sum + count)).toBe(10);
    expect(bench.inbox.snapshot()).toMatchObject({ shelved: 10, totals: { started: 10, dead: 10 } });
  });

  it('refuses a key that is undefined: left out it means every key', async () => {
    const { bench } = await over(3);
    const { deadLetters } = bench.inbox;
    for (const call of ['redrive', 'purge'] as const)
      await expect(deadLetters[call]('all', { key: undefined })).rejects.toThrow(
        'key must be a string if it is given',
      );
    await expect(bench.inbox.pause(undefined)).rejects.toThrow('key must be a string if it is given');
    expect(bench.inbox.snapshot()).toMatchObject({ shelved: 3, isPaused: false });
  });

  it('stops when its signal is aborted, and says how many are back', async () => {
    const { bench, memory } = await over(100);
    const controller = new AbortController();
    const redriving = bench.inbox.deadLetters.redrive('all', { signal: controller.signal });
    await bench.advance(300);
    controller.abort();
    await bench.advance(300);
    expect(await redriving).toBe(20);
    expect(memory.stats()).toMatchObject({ depth: 20, shelved: 80 });
    expect(await bench.inbox.deadLetters.redrive('all', { signal: controller.signal })).toBe(0);
  });

  it('ends with the inbox, and leaves the rest on the shelf for the next one', async () => {
    const { bench, memory } = await over(100);
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(300);
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    await closing;
    expect(await redriving).toBe(20);
    expect(memory.stats()).toMatchObject({ depth: 20, shelved: 80, inFlight: 0 });
    const next = new InboxBench({ store: new MemoryStore(memory), concurrency: 200 });
    const going = next.inbox.deadLetters.redrive('all');
    await next.advance(300);
    expect(await going).toBe(80);
    expect(next.inbox.snapshot().depth).toBe(100);
  });

  it('calls nothing after the store is closed, and waits for the part that is under way', async () => {
    const store = memoryStore();
    const order: string[] = [];
    const [redrive, close] = [store.redrive.bind(store), store.close.bind(store)];
    let write = (): void => undefined;
    store.redrive = async (...asked) => {
      await new Promise<void>((resolve) => (write = resolve));
      order.push('redriven');
      return await redrive(...asked);
    };
    store.close = (nowMs) => {
      order.push('closed');
      return close(nowMs);
    };
    const bench = new InboxBench({ store, retry: { attempts: 1 } });
    await bench.deliver('a');
    await bench.last.fail();
    const redriving = bench.inbox.deadLetters.redrive('all');
    await turns();
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    write();
    await closing;
    expect([await redriving, order]).toEqual([1, ['redriven', 'closed']]);
  });

  it('shares the room between calls that run together', async () => {
    const { bench } = await over(100);
    const { deadLetters } = bench.inbox;
    void Promise.all([deadLetters.redrive('all'), deadLetters.redrive('all')]);
    await bench.advance(1000);
    expect(bench.inbox.snapshot().depth).toBe(20);
  });

  it('goes on when a listener of its progress throws', async () => {
    const { bench } = await over(3);
    const onProgress = (): never => {
      throw new Error('not my day');
    };
    expect(await bench.inbox.deadLetters.redrive('all', { onProgress })).toBe(3);
  });

  it.each([{ signal: true }, { signal: {} }, { onProgress: 'yes' }])(
    'says what it cannot use: %j',
    async (wrong) => {
      const { bench } = await over(3);
      await expect(bench.inbox.deadLetters.redrive('all', wrong as never)).rejects.toMatchObject({
        code: 'ERR_WBP_DEAD_LETTERS',
      });
      expect(bench.inbox.snapshot().depth).toBe(0);
    },
  );
});

it('moves as many in a call as take ten milliseconds', () => {
  const size = new PartSize();
  for (let at = 0; at < 20; at += 1) size.note(size.count * 0.5);
  expect(size.count).toBeLessThanOrEqual(20);
  for (let at = 0; at < 20; at += 1) size.note(size.count * 0.001);
  expect(size.count).toBe(1000);
  for (let at = 0; at < 9; at += 1) size.note(10_000);
  expect(size.count).toBe(10);
  for (let at = 0; at < 9; at += 1) size.note(0);
  expect(size.count).toBe(1000);
});
