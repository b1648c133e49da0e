import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from './inbox-bench.ts';
import { MemoryState, MemoryStore } from './shared-memory.ts';

describe('close', () => {
  it('lets handlers finish, and makes no more claims', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    await bench.deliver('a');
    await bench.deliver('b');
    const closing = bench.inbox.close();
    await turns();
    expect(bench.inbox.snapshot().state).toBe('closing');
    expect((await bench.deliver('c')).status).toBe(503);
    await bench.last.finish();
    expect(await closing).toEqual({ completed: 1, refused: 0, remaining: 0 });
    expect(bench.calls).toHaveLength(1);
    expect(bench.inbox.snapshot().state).toBe('closed');
    await bench.advance(50);
    expect(bench.clock.pending).toBe(0);
  });

  it('aborts handlers at the timeout, and gives their deliveries back', async () => {
    const state = new MemoryState();
    const bench = new InboxBench({ store: new MemoryStore(state), concurrency: 2 });
    for (const id of ['a', 'b', 'c']) await bench.deliver(id);
    const closing = bench.inbox.close({ timeoutMs: 5000 });
    await bench.advance(4999);
    expect(bench.calls.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    await bench.advance(1);
    expect(bench.calls.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(await closing).toEqual({ completed: 0, refused: 0, remaining: 2 });
    expect(bench.told('released')).toEqual(['released a', 'released b']);
    expect(await bench.inbox.close()).toBe(await closing);

    const next = new InboxBench({ store: new MemoryStore(state), concurrency: 3 });
    await turns();
    const begun = next.calls.map(({ delivery, attempt }) => [delivery.id, attempt]);
    expect(begun.sort()).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ]);
    expect(next.inbox.snapshot().depth).toBe(3);
  });

  it('immediately gives back deliveries that wait for the drain rate', async () => {
    const bench = new InboxBench({ concurrency: 5, maxStartsPerSecond: 1 });
    for (const id of ['a', 'b', 'c']) await bench.deliver(id);
    const closing = bench.inbox.close();
    await bench.last.finish();
    expect(await closing).toEqual({ completed: 1, refused: 0, remaining: 0 });
    expect(bench.told('released').sort()).toEqual(['released b', 'released c']);
  });

  it('closes the store after pending writes', async () => {
    const store = memoryStore();
    const put = store.put.bind(store);
    let isClosed = false;
    let write = (): void => undefined;
    store.put = async (...batch) => {
      await new Promise<void>((resolve) => (write = resolve));
      return put(...batch);
    };
    store.close = () => {
      isClosed = true;
    };
    const bench = new InboxBench({ store });
    const sent = bench.send('a');
    await turns();
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    expect(isClosed).toBe(false);
    write();
    expect((await sent)?.status).toBe(200);
    await closing;
    expect(isClosed).toBe(true);
  });

  it('repeats a result that the store has not stored, until the timeout', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, keepCompletedMs: 60_000 });
    await bench.deliver('a');
    vi.spyOn(store, 'settle').mockImplementationOnce(() => {
      throw new Error('disk full');
    });
    const closing = bench.inbox.close();
    await bench.last.finish();
    await bench.advance(1000);
    expect(await closing).toEqual({ completed: 1, refused: 0, remaining: 0 });
    expect(bench.told('completed', 'store-failed')).toEqual(['store-failed', 'completed a']);
  });

  it('ends at the timeout if the store stores no result', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, keepCompletedMs: 60_000 });
    await bench.deliver('a');
    vi.spyOn(store, 'settle').mockImplementation(() => {
      throw new Error('disk full');
    });
    const closing = bench.inbox.close({ timeoutMs: 3000 });
    await bench.last.finish();
    for (let at = 0; at < 8; at += 1) await bench.advance(1000);
    expect(await closing).toEqual({ completed: 0, refused: 0, remaining: 1 });
    expect(bench.told('completed')).toEqual([]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 1, retained: 0 });
  });

  it('ends although the store hangs', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store });
    await bench.deliver('a');
    store.settle = () => new Promise(() => undefined);
    store.close = () => new Promise(() => undefined);
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(0);
    await bench.advance(2000);
    expect(await closing).toMatchObject({ remaining: 1 });
  });
});
