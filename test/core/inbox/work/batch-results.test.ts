import { memoryStore, RetryAfter, Unrecoverable } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { BatchBench, range } from './batch-bench.ts';

describe('the results of a batch', () => {
  const retry = { attempts: 2, firstDelayMs: 1000, maxDelayMs: 1000 };

  it('end each delivery by itself', async () => {
    const bench = new BatchBench({ retry });
    await bench.fill(['ok', 'error', 'later', 'never', 'promise', 'settled', 'value']);
    await bench.batches[0]?.finish([
      undefined,
      new Error('e'),
      new RetryAfter(60),
      new Unrecoverable('u'),
      Promise.reject(new Error('p')),
      { status: 'rejected', reason: new Error('s') },
      { status: 'fulfilled', value: new Error('fine') },
    ]);
    const ended = bench.events.flatMap((event) =>
      event.type === 'failed' || event.type === 'dead' ? [[event.type, event.id, event.error]] : [],
    );
    expect(ended.sort()).toEqual([
      ['dead', 'never', 'u'],
      ['failed', 'error', 'e'],
      ['failed', 'later', 'The handler asked for another attempt after 60 s.'],
      ['failed', 'promise', 'p'],
      ['failed', 'settled', 's'],
    ]);
    expect(bench.told('completed').sort()).toEqual(['completed ok', 'completed value']);
    await bench.advance(1000);
    expect(bench.ids[1]?.sort()).toEqual(['error', 'promise', 'settled']);
    expect(bench.batches[1]?.attempts).toEqual([2, 2, 2]);
    await bench.batches[1]?.fail();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 1, deadLetters: 4 });
    expect(bench.told('outage')).toEqual([]);
  });

  it('fail all when it throws, with one failure as evidence of an outage', async () => {
    const bench = new BatchBench({ retry: { firstDelayMs: 1000 } });
    await bench.fill(range(50));
    await bench.batches[0]?.fail();
    expect(bench.told('failed')).toHaveLength(50);
    expect(bench.told('outage')).toEqual([]);
    for (let at = 1; at < 12; at += 1) {
      await bench.fill([`more ${String(at)}`], 'a');
      await bench.batches[at]?.fail();
    }
    expect(bench.told('outage')).toEqual(['outage']);
  });

  it.each([
    ['an array that is too short', [undefined]],
    ['an array that is too long', [1, 2, 3]],
    [
      'an array whose entries throw',
      [
        Object.defineProperty({}, 'status', {
          get: () => {
            throw new Error('no');
          },
          enumerable: true,
        }),
        2,
      ],
    ],
  ])('fail all when they are %s', async (_, garbage) => {
    const bench = new BatchBench();
    await bench.fill(['a', 'b']);
    await bench.batches[0]?.finish(garbage);
    expect(bench.told('failed').sort()).toEqual(['failed a', 'failed b']);
  });

  it.each([
    ['a number', 7],
    ['false', false],
    ['a text', 'no'],
    ['an object', { length: 2 }],
  ])('complete all when it is %s', async (_, value) => {
    const bench = new BatchBench();
    await bench.fill(['a', 'b']);
    await bench.batches[0]?.finish(value);
    expect(bench.told('completed')).toHaveLength(2);
  });

  it('are ignored for a batch that took too long', async () => {
    const bench = new BatchBench({ maxHandlingMs: 1000, retry: { firstDelayMs: 60_000 }, concurrency: 1 });
    await bench.fill(['a', 'b']);
    await bench.advance(1000);
    expect(bench.batches[0]?.signal.aborted).toBe(true);
    expect(bench.told('overdue').sort()).toEqual(['overdue a', 'overdue b']);
    await bench.fill(['c']);
    expect(bench.ids[1]).toEqual(['c']);
    await bench.batches[0]?.finish();
    expect(bench.inbox.snapshot().totals).toMatchObject({ completed: 0, failed: 2, overdue: 2 });
  });

  it('are given back when the inbox closes', async () => {
    const bench = new BatchBench();
    await bench.fill(['a', 'b']);
    const closing = bench.inbox.close({ timeoutMs: 1000 });
    await bench.advance(1000);
    expect(await closing).toMatchObject({ remaining: 2 });
    expect(bench.batches[0]?.signal.aborted).toBe(true);
    expect(bench.told('released').sort()).toEqual(['released a', 'released b']);
  });

  it('lose one delivery that another process takes over, and settle the others', async () => {
    const memory = new MemoryState();
    const store = new MemoryStore(memory);
    const settle = store.settle.bind(store);
    Object.assign(store, {
      settle: async (...[settlements, nowMs]: Parameters<typeof settle>) => {
        await settle(
          settlements.filter(({ id }) => id !== 'a'),
          nowMs,
        );
        return settlements.map(({ id }) => id !== 'a');
      },
    });
    const bench = new BatchBench({ store, concurrency: 1 });
    await bench.fill(['a', 'b', 'c']);
    await bench.batches[0]?.finish();
    expect(bench.told('lost', 'completed').sort()).toEqual(['completed b', 'completed c', 'lost a']);
    await bench.fill(['d']);
    expect(bench.ids[1]).toEqual(['d']);
  });

  it('lets those that were in flight when a process died run alone first', async () => {
    const memory = new MemoryState();
    const dead = new BatchBench({ store: new MemoryStore(memory) });
    await dead.fill(range(10));
    expect(dead.ids).toEqual([range(10)]);
    const next = new BatchBench({ store: new MemoryStore(memory), concurrency: 4 });
    await next.advance(60_000);
    expect(next.ids).toEqual([['0']]);
    await next.batches[0]?.finish();
    expect(next.ids).toHaveLength(3);
    for (let at = 1; at < next.batches.length; at += 1) await next.batches[at]?.finish();
    expect(memory.stats().depth).toBe(0);
    expect(next.ids.every((ids) => ids.length === 1)).toBe(true);
  });

  it('do not stop when the store fails while it looks for more', async () => {
    const store = memoryStore();
    Object.assign(store, {
      claimKeys: () => {
        throw new Error('no disk');
      },
    });
    const bench = new BatchBench({ store, concurrency: 1 });
    await bench.fill(['a', 'b']);
    await bench.batches[0]?.finish();
    await bench.advance(60_000);
    await bench.batches[1]?.finish();
    expect(bench.ids).toEqual([['a'], ['b']]);
  });
});
