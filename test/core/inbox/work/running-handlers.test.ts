import { memoryStore, Unrecoverable } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { type Call, InboxBench } from '../inbox-bench.ts';

describe('the handlers of an inbox', () => {
  it('are stalled when all workers are busy and none has ended for long, until one ends', async () => {
    const bench = new InboxBench({ concurrency: 2 });
    await bench.deliver('a');
    await bench.advance(11_000);
    expect(bench.told('stalled')).toEqual([]);
    await bench.deliver('b');
    await bench.advance(11_000);
    expect(bench.told('stalled', 'recovered')).toEqual(['stalled']);
    expect(bench.inbox.snapshot().state).toBe('stalled');
    await bench.last.finish();
    expect(bench.told('stalled', 'recovered')).toEqual(['stalled', 'recovered']);
    expect(bench.inbox.snapshot().state).toBe('accepting');
  });

  it('are stalled while the store does not return, however long, and not overdue', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, concurrency: 1 });
    const settle = store.settle.bind(store);
    let goOn: () => void = () => undefined;
    store.settle = async (settlements, nowMs) => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return await settle(settlements, nowMs);
    };
    await bench.deliver('a');
    await bench.last.finish();
    await bench.advance(200_000);
    expect(bench.told('stalled', 'recovered', 'overdue')).toEqual(['stalled']);
    goOn();
    await bench.advance(0);
    expect(bench.told('completed', 'recovered')).toEqual(['completed a', 'recovered']);
  });

  it('do not start for a delivery that is being given back', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, concurrency: 10, maxStartsPerSecond: 2 });
    const settle = store.settle.bind(store);
    let goOn: () => void = () => undefined;
    store.settle = async (settlements, nowMs) => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return await settle(settlements, nowMs);
    };
    for (const id of ['a', 'b']) await bench.deliver(id);
    await bench.inbox.pause();
    await bench.advance(600);
    expect(bench.calls).toHaveLength(1);
    goOn();
    await bench.advance(600);
    expect(bench.told('started', 'released')).toEqual(['started a', 'released b']);
    expect(bench.inbox.snapshot().depth).toBe(2);
  });

  it('are as many as the limit that is learned', async () => {
    const bench = new InboxBench({ concurrency: { initial: 4, min: 1, max: 8 } });
    for (const id of ['a', 'b', 'c', 'd', 'e']) await bench.deliver(id);
    expect(bench.inbox.snapshot()).toMatchObject({ concurrency: 4, active: 4 });
    const [first, second, third, fourth] = bench.calls;
    for (const call of [first, second, third]) await call?.fail();
    await bench.advance(1100);
    await fourth?.fail();
    expect(bench.inbox.snapshot().concurrency).toBe(3);
  });

  it('finish fewer deliveries per second if attempts must be repeated', async () => {
    const rateOf = async (end: (call: Call, at: number) => Promise<void>): Promise<number> => {
      const bench = new InboxBench({ concurrency: 1, retry: { firstDelayMs: 1_000_000 } });
      for (let at = 0; at < 20; at += 1) {
        await bench.deliver(String(at));
        await bench.advance(100);
        await end(bench.last, at);
      }
      return bench.inbox.snapshot().drainRate ?? 0;
    };
    const completed = await rateOf((call) => call.finish());
    expect(await rateOf((call) => call.fail(new Unrecoverable()))).toBe(completed);
    const repeated = await rateOf((call, at) => (at % 2 === 0 ? call.finish() : call.fail()));
    expect(repeated / completed).toBeGreaterThan(0.88);
    expect(repeated / completed).toBeLessThan(0.93);
  });

  it('start at a changed drain rate', async () => {
    const bench = new InboxBench({ concurrency: 10, maxStartsPerSecond: 0.1 });
    for (const id of ['a', 'b', 'c']) await bench.deliver(id);
    expect(bench.calls).toHaveLength(1);
    bench.inbox.update({ maxStartsPerSecond: 10 });
    await bench.advance(100);
    expect(bench.calls).toHaveLength(2);
    await bench.advance(100);
    expect(bench.calls).toHaveLength(3);
  });
});
