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
