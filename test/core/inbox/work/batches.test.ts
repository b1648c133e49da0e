import {
  memoryStore,
  RetryAfter,
  Unrecoverable,
  type BatchContext,
  type InboxDelivery,
  type InboxOptions,
} from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';

/** A batch that runs until the test ends it. */
interface Batch extends BatchContext {
  readonly ids: string[];
  readonly finish: (result?: unknown) => Promise<void>;
  readonly fail: (error?: Error) => Promise<void>;
}

/** An inbox whose batches the test ends. */
class BatchBench extends InboxBench {
  readonly batches: Batch[];

  constructor(options: Partial<InboxOptions> = {}) {
    const batches: Batch[] = [];
    super({
      process: undefined,
      keyGenerator: ({ headers }) => headers['x-key'] ?? 'a',
      processBatch: (deliveries: readonly InboxDelivery[], context) =>
        new Promise((resolve, reject) => {
          batches.push({
            ids: deliveries.map(({ id }) => id),
            attempts: context.attempts,
            signal: context.signal,
            finish: (result) => {
              resolve(result);
              return turns(20);
            },
            fail: (error = new Error('it failed')) => {
              reject(error);
              return turns(20);
            },
          });
        }),
      ...options,
    });
    this.batches = batches;
  }

  async fill(ids: readonly (string | number)[], key = 'a', body = '{}'): Promise<void> {
    await Promise.all(ids.map((id) => this.send(String(id), body, { 'x-key': key })));
    await turns(20);
  }

  get ids(): string[][] {
    return this.batches.map(({ ids }) => ids);
  }
}

const range = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => String(from + at));

describe('processBatch', () => {
  it('gets the stored deliveries of one key, by count, while one worker runs one batch', async () => {
    const bench = new BatchBench({ concurrency: 2, batch: { maxDeliveries: 3 } });
    await bench.inbox.pause();
    await bench.fill(range(7));
    await bench.fill(['x', 'y'], 'b');
    await bench.inbox.resume();
    await turns(20);
    expect(bench.ids).toEqual([
      ['0', '1', '2'],
      ['x', 'y'],
    ]);
    expect(bench.inbox.snapshot()).toMatchObject({ active: 5, depth: 9 });
    expect(bench.batches[0]?.attempts).toEqual([1, 1, 1]);
    await bench.batches[0]?.finish();
    expect(bench.ids[2]).toEqual(['3', '4', '5']);
    await bench.batches[2]?.finish([undefined, null, 7]);
    await bench.batches[1]?.finish({ rows: 2 });
    await bench.batches[3]?.finish();
    expect(bench.ids[3]).toEqual(['6']);
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      bytes: 0,
      active: 0,
      totals: { started: 9, completed: 9, failed: 0 },
    });
  });

  it('takes 10,000 deliveries of one key in 100 batches', async () => {
    const store = memoryStore();
    const sizes: number[] = [];
    const seen = new Set<string>();
    const bench = new InboxBench({
      store,
      process: undefined,
      concurrency: 4,
      processBatch: (deliveries) => {
        sizes.push(deliveries.length);
        for (const { id } of deliveries) seen.add(id);
      },
    });
    await bench.inbox.pause();
    for (let at = 0; at < 10_000; at += 500) await Promise.all(range(500, at).map((id) => bench.send(id)));
    await bench.inbox.resume();
    while (bench.inbox.snapshot().depth > 0) await turns(1);
    expect(seen.size).toBe(10_000);
    expect(sizes).toHaveLength(100);
    expect(bench.inbox.snapshot().totals).toMatchObject({ started: 10_000, completed: 10_000 });
  });

  it('is bounded by bytes, and a larger delivery is a batch alone', async () => {
    const bench = new BatchBench({ concurrency: 1, batch: { maxBytes: 5000 } });
    await bench.inbox.pause();
    await bench.fill(['a', 'b', 'c', 'd', 'e'], 'a', 'x'.repeat(1000));
    await bench.fill(['large'], 'a', 'x'.repeat(6000));
    await bench.fill(['f'], 'a', 'x');
    await bench.inbox.resume();
    await turns(20);
    for (let at = 0; at < 4; at += 1) await bench.batches[at]?.finish();
    expect(bench.ids).toEqual([['a', 'b', 'c'], ['d', 'e'], ['large'], ['f']]);
  });

  it('waits for more deliveries of its key for maxWaitMs, or until it is full', async () => {
    const bench = new BatchBench({ concurrency: 2, batch: { maxDeliveries: 3, maxWaitMs: 800 } });
    await bench.fill(['a']);
    await bench.advance(300);
    await bench.fill(['b']);
    expect(bench.ids).toEqual([]);
    await bench.advance(499);
    expect(bench.ids).toEqual([]);
    await bench.advance(1);
    expect(bench.ids).toEqual([['a', 'b']]);
    await bench.fill(['c', 'd', 'e']);
    await bench.advance(100);
    expect(bench.ids[1]).toEqual(['c', 'd', 'e']);
    expect(bench.told('released')).toEqual([]);
  });

  it('does not start a batch that was paused while it waited', async () => {
    const bench = new BatchBench({ batch: { maxWaitMs: 800 } });
    await bench.fill(['a', 'b']);
    await bench.inbox.pause();
    await bench.advance(800);
    expect(bench.ids).toEqual([]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 2, active: 0 });
    await bench.inbox.resume();
    await turns(20);
    await bench.advance(800);
    await bench.batches[0]?.finish();
    expect(bench.ids).toEqual([['a', 'b']]);
    expect((await bench.inbox.close()).remaining).toBe(0);
  });
});

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
        const held = await settle(
          settlements.filter(({ id }) => id !== 'a'),
          nowMs,
        );
        return settlements.map(({ id }) => (id === 'a' ? false : (held.shift?.() ?? true)));
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

describe('the options of batches', () => {
  it('are checked', () => {
    const processBatch = (): void => undefined;
    const of = (options: object, code: string): void => {
      expect(() => new InboxBench({ process: undefined, ...options })).toThrow(
        expect.objectContaining({ code }),
      );
    };
    for (const batch of [
      null,
      7,
      { maxDeliveries: 0 },
      { maxDeliveries: 501 },
      { maxDeliveries: 1.5 },
      { maxBytes: 0 },
      { maxWaitMs: -1 },
      { maxWaitMs: 60_001 },
      null,
    ])
      of({ processBatch, batch }, 'ERR_WBP_BATCH');
    of({ process: processBatch, batch: {} }, 'ERR_WBP_BATCH');
    of({ processBatch: 7 }, 'ERR_WBP_PROCESS');
    of({ processBatch, process: processBatch }, 'ERR_WBP_PROCESS');
    of({ processBatch, on: {} }, 'ERR_WBP_PROCESS');
    of({ processBatch, ordered: true }, 'ERR_WBP_ORDERED');
    of({ process: processBatch, coalesce: () => null, ordered: true }, 'ERR_WBP_ORDERED');
    of({ process: processBatch, coalesce: 'id' }, 'ERR_WBP_CALLBACK');
    const bench = new InboxBench({ process: undefined, processBatch, batch: { maxWaitMs: undefined } });
    expect(() => {
      bench.inbox.on('stripe', processBatch);
    }).toThrow('no other handlers');
  });
});
