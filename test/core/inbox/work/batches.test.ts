import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { BatchBench, range } from './batch-bench.ts';

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

  it('takes 2,000 deliveries of one key in 20 batches', async () => {
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
    for (let at = 0; at < 2000; at += 500) await Promise.all(range(500, at).map((id) => bench.send(id)));
    await bench.inbox.resume();
    while (bench.inbox.snapshot().depth > 0) await turns(1);
    expect(seen.size).toBe(2000);
    expect(sizes).toHaveLength(20);
    expect(bench.inbox.snapshot().totals).toMatchObject({ started: 2000, completed: 2000 });
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

  it('fails only the newest of a group when it takes too long: the handler got no other', async () => {
    const bench = new BatchBench({
      maxHandlingMs: 1000,
      retry: { attempts: 1 },
      concurrency: 1,
      coalesce: () => 'g',
    });
    await bench.inbox.pause();
    await bench.fill(['1', '2', '3']);
    await bench.inbox.resume();
    await turns(20);
    expect(bench.ids).toEqual([['3']]);
    await bench.advance(1000);
    expect(bench.told('overdue', 'dead', 'released').sort()).toEqual([
      'dead 3',
      'overdue 3',
      'released 1',
      'released 2',
    ]);
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
