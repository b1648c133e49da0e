import { createInbox, memoryStore, type MoveProgress } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryStore } from '../shared-memory.ts';
import { buried, MANY, mixed, over } from './mixed-dead-letters.ts';

describe('a dry run', () => {
  it('counts what would be moved, names the first ones, and moves nothing', async () => {
    const { bench } = await over(mixed(100));
    const { deadLetters } = bench.inbox;
    for (const move of ['redrive', 'purge'] as const) {
      const stripe = await deadLetters[move]({ sender: 'stripe' }, { dryRun: true });
      expect(stripe.count).toBe(25);
      expect(stripe.first.map(({ id }) => id).slice(0, 3)).toEqual(['s0', 's4', 's8']);
      expect(stripe.first).toHaveLength(10);
      expect(await deadLetters[move]('all', { dryRun: true })).toMatchObject({ count: 100 });
      const one = await deadLetters[move]('g1', { dryRun: true });
      expect([one.count, one.first]).toEqual([1, (await deadLetters.list({ limit: 2 })).slice(1)]);
      expect(await deadLetters[move]('none', { dryRun: true })).toEqual({ count: 0, first: [] });
    }
    expect(await deadLetters.list({ limit: 1000 })).toHaveLength(100);
  });
});

describe('perSecond', () => {
  it.each(['redrive', 'purge'] as const)('bounds a %s in each second', async (move) => {
    const { bench, memory } = await over(mixed(100));
    const progress: MoveProgress[] = [];
    const onProgress = (now: MoveProgress): unknown => progress.push(now);
    const state = { isDone: false };
    const moving = bench.inbox.deadLetters[move]('all', { perSecond: 20, onProgress }).finally(() => {
      state.isDone = true;
    });
    await turns();
    const left = [memory.stats().deadLetters];
    while (!state.isDone) {
      await bench.advance(100);
      left.push(memory.stats().deadLetters);
    }
    expect(await moving).toBe(100);
    const moved = left.slice(10).map((now, at) => (left[at] ?? 0) - now);
    expect(Math.max(...moved)).toBeLessThanOrEqual(20);
    // 4 at the start, then 4 each 200 ms.
    expect(left.length).toBeGreaterThanOrEqual(48);
    expect(left.length).toBeLessThanOrEqual(52);
    expect(progress.at(-1)).toMatchObject({ moved: 100, looked: 100, total: 100 });
  });

  it('ends within a quarter of a second when the signal is aborted', async () => {
    const { bench } = await over(mixed(100));
    const stop = new AbortController();
    const moving = bench.inbox.deadLetters.purge(
      { sender: 'stripe' },
      { perSecond: 0.01, signal: stop.signal },
    );
    await turns();
    stop.abort();
    await bench.advance(250);
    expect(await moving).toBe(1);
  });
});

describe('moving by a filter', () => {
  it('moves no delivery twice that dies again meanwhile, nor one that another call has moved', async () => {
    const { bench, memory } = await over(mixed(40), { retry: { attempts: 1 } });
    const other = new InboxBench({ store: new MemoryStore(memory), concurrency: 1, retry: { attempts: 1 } });
    await turns();
    const calls = [bench, other].map(({ inbox }) =>
      inbox.deadLetters.redrive({ sender: 'stripe' }, { perSecond: 5 }),
    );
    const state = { isDone: false };
    const both = Promise.all(calls).finally(() => (state.isDone = true));
    while (!state.isDone) {
      for (const one of [bench, other]) {
        for (const call of one.calls) await call.fail();
        await one.advance(100);
      }
    }
    expect((await both).reduce((sum, count) => sum + count, 0)).toBe(10);
    // Each was tried once more, and is a dead letter again.
    for (const one of [bench, other]) for (const call of one.calls) await call.fail();
    const tried = [...bench.calls, ...other.calls].map((call) => call.delivery.id);
    expect(new Set(tried).size).toBe(tried.length);
    expect(tried.length).toBe(10);
    expect(memory.stats()).toMatchObject({ depth: 0, deadLetters: 40 });
  });

  it('waits at the low-water mark, and continues', async () => {
    const { bench } = await over(mixed(100), { capacity: 20, highWaterMark: 0.75, lowWaterMark: 0.5 });
    const progress: MoveProgress[] = [];
    const state = { isDone: false };
    const moving = bench.inbox.deadLetters
      .redrive({ sender: 'stripe' }, { onProgress: (now) => progress.push(now) })
      .finally(() => (state.isDone = true));
    await bench.advance(500);
    expect(bench.inbox.snapshot().depth).toBe(10);
    expect(progress.at(-1)).toMatchObject({ moved: 10, isWaiting: true, total: 100 });
    while (!state.isDone) {
      for (const call of bench.calls) await call.finish();
      await bench.advance(300);
    }
    expect(await moving).toBe(25);
    expect(bench.inbox.snapshot()).toMatchObject({ deadLetters: 75, totals: { refused: { full: 0 } } });
  });

  it('counts what it has moved when the store fails in the middle', async () => {
    const memory = await buried(mixed(40));
    const failing = new MemoryStore(memory);
    let left = 5;
    const redrive = failing.redrive;
    Object.defineProperty(failing, 'redrive', {
      value: (...args: Parameters<typeof redrive>) => {
        left -= 1;
        if (left < 0) throw new Error('the disk is full');
        return redrive(...args);
      },
    });
    const bench = new InboxBench({ store: failing, concurrency: 1 });
    await turns();
    await expect(bench.inbox.deadLetters.redrive({ sender: 'stripe' })).rejects.toThrow('the disk is full');
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 5, deadLetters: 35 });
    left = 99;
    expect(await bench.inbox.deadLetters.redrive({ sender: 'stripe' })).toBe(5);
  });

  it('ends when the inbox closes', async () => {
    const { bench, memory } = await over(mixed(100));
    const moving = bench.inbox.deadLetters.redrive({ sender: 'stripe' }, { perSecond: 1 });
    await turns();
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(3000);
    await closing;
    expect(await moving).toBe(1);
    expect(memory.stats()).toMatchObject({ depth: 1, deadLetters: 99 });
  });

  it('reads each of 20,000 dead letters once, in pages, and keeps none of them', async () => {
    const { bench, store } = await over(mixed(20_000), MANY);
    store.counts.clear();
    const tried = await bench.inbox.deadLetters.purge({ sender: 'stripe' }, { dryRun: true });
    expect(tried.count).toBe(5000);
    expect(Object.fromEntries(store.counts)).toMatchObject({ scanDeadLetters: 20 });
    expect(store.counts.has('listDeadLetters')).toBe(false);
  }, 60_000);
});

it('works without an inbox that is open for long', async () => {
  const inbox = createInbox({ store: memoryStore(), verify: false, process: () => undefined });
  await inbox.opened;
  expect(await inbox.deadLetters.redrive({ sender: 'stripe' })).toBe(0);
  await inbox.close();
});
