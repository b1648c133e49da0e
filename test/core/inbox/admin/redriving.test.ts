import {
  type InboxOptions,
  memoryStore,
  type RedriveProgress,
  Unrecoverable,
} from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { PartSize } from '../../../../packages/inbox/src/store-calls/part-size.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { delivery, opened, put, storedBytes } from '../store/cases/store-fixtures.ts';

/** An inbox with `count` dead letters, a low-water mark of 20 and a high-water mark of 30. */
async function over(
  count: number,
  options: Partial<InboxOptions> = {},
  body = '{}',
): Promise<{ readonly bench: InboxBench; readonly memory: MemoryState }> {
  const memory = new MemoryState();
  const filler = await opened({ store: () => new MemoryStore(memory), dispose: () => undefined });
  const deadLetters = Array.from({ length: count }, (_, at) =>
    delivery(`old ${String(at)}`, { rawBody: new TextEncoder().encode(body) }),
  );
  await put(filler, deadLetters, { isOverflow: true });
  const bench = new InboxBench({
    store: new MemoryStore(memory),
    capacity: 40,
    highWaterMark: 0.75,
    lowWaterMark: 0.5,
    concurrency: 5,
    ...options,
  });
  await turns();
  return { bench, memory };
}

async function finishAll(bench: InboxBench): Promise<void> {
  // More handlers may start meanwhile.
  for (const call of bench.calls) await call.finish();
}

describe('redrive', () => {
  it('stops at the low-water mark, and resumes below it until all are redriven', async () => {
    const { bench, memory } = await over(100);
    const progress: RedriveProgress[] = [];
    const state = { isDone: false };
    const redriving = bench.inbox.deadLetters
      .redrive('all', { onProgress: (now) => progress.push(now) })
      .finally(() => (state.isDone = true));
    await bench.advance(1000);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 20, state: 'accepting', deadLetters: 80 });
    const counts = { moved: 20, looked: 20, total: 100 };
    expect(progress.at(-1)).toEqual({ redriven: 20, remaining: 80, isWaiting: true, ...counts });
    expect(bench.events).toContainEqual(
      expect.objectContaining({ type: 'redriving', redriven: 20, remaining: 80, isWaiting: true }),
    );
    // New deliveries have the room above the mark.
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
    expect(progress.at(-1)).toMatchObject({ redriven: 100, remaining: 0, isWaiting: false });
    await finishAll(bench);
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      bytes: 0,
      totals: { completed: 109, refused: {} },
    });
    expect(memory.stats()).toMatchObject({ depth: 0, deadLetters: 0 });
    expect(new Set(bench.calls.map((call) => call.delivery.id)).size).toBe(109);
  });

  it('stops at the low-water mark in bytes too', async () => {
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

  it('does not reach the limit in bytes with a large delivery', async () => {
    const { bench } = await over(3, { maxBytes: 1_000_000, maxBodyBytes: 700_000 }, 'x'.repeat(400_000));
    await bench.deliver('new', 'x'.repeat(300_000));
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(1000);
    // It would fit below the low-water mark and yet leave no room for the next one.
    expect(bench.inbox.snapshot().depth).toBe(1);
    expect((await bench.deliver('large', 'x'.repeat(400_000))).status).toBe(200);
    for (let at = 0; at < 6; at += 1) {
      await finishAll(bench);
      await bench.advance(300);
    }
    expect(await redriving).toBe(3);
  });

  it('redrives a delivery larger than the mark when the inbox is empty', async () => {
    const { bench } = await over(2, { maxBytes: 1000 }, 'x'.repeat(900));
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(300);
    expect(bench.inbox.snapshot().depth).toBe(1);
    await finishAll(bench);
    await bench.advance(300);
    await finishAll(bench);
    expect(await redriving).toBe(2);
  });

  it('redrives a single delivery below the high-water mark, without reaching it', async () => {
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

  it('redrives each dead letter once, however fast it dies again', async () => {
    const { bench } = await over(30, {
      retry: { attempts: 1 },
      process: () => Promise.reject(new Unrecoverable('no')),
    });
    const redriving = bench.inbox.deadLetters.redrive('all');
    for (let at = 0; at < 40; at += 1) await bench.advance(300);
    expect(await redriving).toBe(30);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, deadLetters: 30, totals: { dead: 30 } });
  });

  it('redrives no delivery twice when it is called twice, although all die again', async () => {
    const { bench } = await over(10, { process: () => Promise.reject(new Unrecoverable('no')) });
    await bench.advance(1000);
    const { deadLetters } = bench.inbox;
    const both = Promise.all([deadLetters.redrive('all'), deadLetters.redrive('all')]);
    for (let at = 0; at < 10; at += 1) await bench.advance(300);
    expect((await both).reduce((sum, count) => sum + count)).toBe(10);
    expect(bench.inbox.snapshot()).toMatchObject({ deadLetters: 10, totals: { started: 10, dead: 10 } });
  });

  it('rejects a key that is undefined, because an absent one means every key', async () => {
    const { bench } = await over(3);
    const { deadLetters } = bench.inbox;
    for (const call of ['redrive', 'purge'] as const)
      await expect(deadLetters[call]('all', { key: undefined })).rejects.toThrow(
        'key must be a string if it is given',
      );
    await expect(bench.inbox.pause(undefined)).rejects.toThrow('key must be a string if it is given');
    expect(bench.inbox.snapshot()).toMatchObject({ deadLetters: 3, isPaused: false });
  });

  it('stops when its signal is aborted, and returns how many were redriven', async () => {
    const { bench, memory } = await over(100);
    const controller = new AbortController();
    const redriving = bench.inbox.deadLetters.redrive('all', { signal: controller.signal });
    await bench.advance(300);
    controller.abort();
    await bench.advance(300);
    expect(await redriving).toBe(20);
    expect(memory.stats()).toMatchObject({ depth: 20, deadLetters: 80 });
    expect(await bench.inbox.deadLetters.redrive('all', { signal: controller.signal })).toBe(0);
  });

  it('ends with the inbox, and leaves the rest in the dead-letter queue for the next one', async () => {
    const { bench, memory } = await over(100);
    const redriving = bench.inbox.deadLetters.redrive('all');
    await bench.advance(300);
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    await closing;
    expect(await redriving).toBe(20);
    expect(memory.stats()).toMatchObject({ depth: 20, deadLetters: 80, inFlight: 0 });
    const next = new InboxBench({ store: new MemoryStore(memory), concurrency: 200 });
    const going = next.inbox.deadLetters.redrive('all');
    await next.advance(300);
    expect(await going).toBe(80);
    expect(next.inbox.snapshot().depth).toBe(100);
  });

  it('makes the inbox wait for the current batch, and does not call a closed store', async () => {
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

  it('shares the room between concurrent calls', async () => {
    const { bench } = await over(100);
    const { deadLetters } = bench.inbox;
    void Promise.all([deadLetters.redrive('all'), deadLetters.redrive('all')]);
    await bench.advance(1000);
    expect(bench.inbox.snapshot().depth).toBe(20);
  });

  it('continues when onProgress throws', async () => {
    const { bench } = await over(3);
    const onProgress = (): never => {
      throw new Error('not my day');
    };
    expect(await bench.inbox.deadLetters.redrive('all', { onProgress })).toBe(3);
  });

  it.each([{ signal: true }, { signal: {} }, { onProgress: 'yes' }])(
    'rejects invalid options: %j',
    async (wrong) => {
      const { bench } = await over(3);
      await expect(bench.inbox.deadLetters.redrive('all', wrong as never)).rejects.toMatchObject({
        code: 'ERR_WBP_DEAD_LETTERS',
      });
      expect(bench.inbox.snapshot().depth).toBe(0);
    },
  );
});

it('adapts the batch size to calls of ten milliseconds', () => {
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
