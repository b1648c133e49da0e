import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';

describe('an idle worker that shares its store', () => {
  // Seed 192 of the search in test/vopr.
  it('processes the deliveries of others after a failed reading of the totals', async () => {
    const state = new MemoryState();
    const store = new MemoryStore(state);
    const worker = new InboxBench({ store });
    await worker.advance(0);
    const receiver = new InboxBench({ store: new MemoryStore(state), concurrency: 1 });
    // The receiver's only worker takes the first one.
    for (const id of ['1', '2']) await receiver.deliver(id);
    await worker.advance(5000);
    await worker.last.finish();
    expect(worker.calls.map(({ delivery }) => delivery.id)).toEqual(['2']);

    const { stats } = store;
    let failures = 0;
    Object.assign(store, {
      stats: () => {
        failures += 1;
        throw new Error('the connection was lost');
      },
    });
    await worker.advance(600);
    expect(failures).toBe(1);
    Object.assign(store, { stats });
    await receiver.deliver('3');
    await worker.advance(10_000);
    expect(worker.calls.map(({ delivery }) => delivery.id)).toEqual(['2', '3']);
    expect(worker.inbox.snapshot().isStoreFailing).toBe(false);
  });
});

describe('an idle inbox', () => {
  // Seed 995 of the search in test/vopr.
  it('accepts deliveries after a renewal that failed when its handler had ended', async () => {
    const bench = new InboxBench();
    await bench.deliver('1');
    let fail: (error: Error) => void = () => undefined;
    Object.assign(bench.store, {
      renew: () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    });
    await bench.advance(10_000);
    await bench.last.finish();
    fail(new Error('the connection was lost'));
    await bench.advance(0);
    expect(bench.told('store-failed')).toEqual(['store-failed']);
    for (let at = 0; at < 8; at += 1) await bench.advance(5000);
    expect(bench.inbox.snapshot().isStoreFailing).toBe(false);
    expect(await bench.deliver('2')).toMatchObject({ status: 200 });
  });

  it('notices that the store works by renewals, while all workers are busy', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    await bench.deliver('1');
    const stats = bench.store.stats.bind(bench.store);
    Object.assign(bench.store, { stats: () => Promise.reject(new Error('the connection was lost')) });
    await bench.advance(5000);
    Object.assign(bench.store, { stats });
    expect(bench.inbox.snapshot().isStoreFailing).toBe(true);
    for (let at = 0; at < 7; at += 1) await bench.advance(5000);
    expect(bench.inbox.snapshot().isStoreFailing).toBe(false);
    expect(await bench.deliver('2')).toMatchObject({ status: 200 });
  });
});
