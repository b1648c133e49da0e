import { type KeyLimits, RetryAfter } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';
import { limiting, sendAll, spied, startedOf } from './limited-bench.ts';

describe('an inbox with limits', () => {
  it('asks for no more deliveries of a key after the last one', async () => {
    const { store, claimKeys } = spied();
    const bench = limiting({}, { store });
    await sendAll(bench, 'a', 1);
    const before = claimKeys.mock.calls.length;
    await bench.last.finish();
    expect(claimKeys).toHaveBeenCalledTimes(before);
  });

  it('repeats an attempt when it is due, and does not ask for it before', async () => {
    const { store, claimKeys } = spied();
    const bench = limiting({}, { store, retry: { firstDelayMs: 1000 } });
    await sendAll(bench, 'a', 1);
    await bench.last.fail();
    claimKeys.mockClear();
    for (let at = 0; at < 7; at += 1) await bench.advance(107);
    expect(bench.calls).toHaveLength(1);
    expect(claimKeys).not.toHaveBeenCalled();
    await bench.advance(1);
    expect(bench.calls).toHaveLength(2);
  });

  it('applies an update to the keys that it knows, before it lists them', async () => {
    const { store } = spied();
    const bench = limiting({ a: { maxConcurrent: 1 } }, { store });
    await sendAll(bench, 'a', 3);
    store.dueKeys = () => ({ keys: [], next: undefined });
    bench.inbox.update({ limits: () => ({ maxConcurrent: 3 }) });
    await turns();
    expect(bench.calls).toHaveLength(3);
  });

  it('starts a critical key first of those that another process has stored', async () => {
    const state = new MemoryState();
    const before = limiting({}, { store: new MemoryStore(state) });
    await before.inbox.pause();
    for (const key of ['a', 'b', 'c']) await sendAll(before, key, 1);
    await before.inbox.close();
    const limits = { c: { priority: 'critical' } } as const;
    const bench = limiting(limits, { store: new MemoryStore(state), concurrency: 1 });
    await bench.inbox.resume();
    await turns(20);
    expect(bench.calls.map(({ delivery }) => delivery.key)).toEqual(['c']);
  });

  it('starts a key next that has become critical within 10 s, when it gets a delivery', async () => {
    const limits: Record<string, KeyLimits> = {};
    const bench = limiting(limits, { concurrency: 1 });
    for (const key of ['a', 'b', 'c', 'd']) await sendAll(bench, key, 3);
    limits['d'] = { priority: 'critical' };
    await bench.advance(4000);
    await bench.advance(6000);
    await sendAll(bench, 'd', 1, 3);
    await bench.last.finish();
    expect(bench.last.delivery.key).toBe('d');
  });

  it('leaves a tenth of the starts to normal keys while critical ones wait', async () => {
    const bench = limiting({ a: { priority: 'critical' } }, { concurrency: 1 });
    await sendAll(bench, 'a', 60);
    await sendAll(bench, 'b', 20);
    for (let at = 0; at < 40; at += 1) await bench.calls[at]?.finish();
    expect(startedOf(bench, 'b')).toBe(4);
  });

  it('starts a key next that an update makes critical', async () => {
    const bench = limiting({}, { concurrency: 1 });
    for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 3);
    bench.inbox.update({ limits: (key) => (key === 'c' ? { priority: 'critical' } : {}) });
    await bench.last.finish();
    await bench.last.finish();
    expect(bench.calls.map(({ delivery }) => delivery.key)).toEqual(['a', 'c', 'c']);
  });

  it('claims for several keys in one call, whatever each may have', async () => {
    const { store, claimKeys } = spied();
    const bench = limiting({}, { store, maxConcurrencyPerKey: 2 });
    await bench.inbox.pause();
    for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 2);
    claimKeys.mockClear();
    await bench.inbox.resume();
    await bench.advance(25);
    expect(bench.calls).toHaveLength(6);
    expect(claimKeys.mock.calls[0]?.[0].map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });

  it('reads on when a page of keys has none to start', async () => {
    const state = new MemoryState();
    const before = limiting({}, { store: new MemoryStore(state) });
    await before.inbox.pause();
    await sendAll(before, 'a', 1);
    await before.inbox.close();
    const { store } = spied(new MemoryStore(state));
    const dueKeys = store.dueKeys.bind(store);
    store.dueKeys = (options) =>
      options.after === undefined
        ? { keys: [], next: 'first' }
        : dueKeys({ ...options, after: options.after === 'first' ? undefined : options.after });
    const bench = limiting({}, { store });
    await bench.inbox.resume();
    await turns(20);
    expect(bench.calls).toHaveLength(1);
  });

  it('tells the store the concurrency of a key, except in an order', async () => {
    const limits = { a: { maxConcurrent: 2 }, b: {} };
    for (const ordered of [false, true]) {
      const { store, claimKeys } = spied();
      const bench = limiting(limits, { store, ordered });
      for (const key of ['a', 'b']) await sendAll(bench, key, 1);
      const wants = claimKeys.mock.calls.flatMap(([some]) => some);
      expect(wants.find(({ key }) => key === 'a')?.maxHeld).toBe(ordered ? undefined : 2);
      expect(wants.find(({ key }) => key === 'b')?.maxHeld).toBe(undefined);
    }
  });

  it('asks less and less often for a key of which other processes hold all that may be held', async () => {
    const state = new MemoryState();
    const limits = { a: { maxConcurrent: 1 } };
    const one = limiting(limits, { store: new MemoryStore(state) });
    const { store, claimKeys } = spied(new MemoryStore(state));
    const other = limiting(limits, { store });
    await sendAll(one, 'a', 2);
    const times: number[] = [];
    for (let at = 0; at < 400; at += 1) {
      const before = claimKeys.mock.calls.length;
      await other.advance(25);
      if (claimKeys.mock.calls.length > before) times.push(other.clock.now());
    }
    const gaps = times.slice(1).map((ms, at) => ms - (times[at] ?? 0));
    expect(gaps.slice(0, 6)).toEqual([50, 100, 200, 400, 800, 1600]);
  });
});

describe('a store that fails while keys are claimed', () => {
  it.each([
    [
      'throws',
      'disk',
      () => {
        throw new Error('disk');
      },
    ],
    ['returns too few results', 'The store must return one result for each key.', () => []],
  ])('is reported when it %s, and when it works again', async (_, error, answer) => {
    const { store, claimKeys } = spied();
    const bench = limiting({}, { store });
    await bench.advance(25);
    await bench.advance(25);
    claimKeys.mockImplementationOnce(answer);
    await sendAll(bench, 'a', 1);
    expect(bench.events.find(({ type }) => type === 'store-failed')).toMatchObject({ error });
    await bench.advance(100);
    expect(bench.told('store-recovered', 'started')).toEqual(['store-recovered', 'started a0']);
  });
});

describe('RetryAfter', () => {
  it('holds a delivery that was being claimed meanwhile', async () => {
    const { store } = spied();
    const bench = limiting({ a: { maxConcurrent: 5 } }, { store });
    await sendAll(bench, 'a', 1);
    const claimKeys = store.claimKeys.bind(store);
    let answer: () => void = () => undefined;
    store.claimKeys = async (...given) => {
      const claims = await claimKeys(...given);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return claims;
    };
    await sendAll(bench, 'a', 1, 1);
    store.claimKeys = claimKeys;
    await bench.calls[0]?.fail(new RetryAfter(60));
    answer();
    await turns();
    expect([bench.calls.length, bench.told('released')]).toEqual([1, ['released a1']]);
    await bench.advance(60_000);
    expect(bench.calls).toHaveLength(3);
  });

  it('leaves the others where they wait with holdOnRetryAfter: false', async () => {
    const bench = limiting({ a: { maxConcurrent: 3, holdOnRetryAfter: false } }, { maxStartsPerSecond: 1 });
    await sendAll(bench, 'a', 3);
    await bench.last.fail(new RetryAfter(60));
    expect(bench.told('released')).toEqual([]);
  });
});

it('asks more and more rarely for deliveries that may not run beside others after a process died', async () => {
  const state = new MemoryState();
  const { store, claimKeys } = spied(new MemoryStore(state));
  const bench = limiting({ a: { maxConcurrent: 10 } }, { store });
  await bench.inbox.pause();
  await sendAll(bench, 'a', 3);
  await bench.inbox.resume();
  const lease = { leaseMs: 1000, nowMs: START + bench.clock.now() };
  await new MemoryStore(state).claimKeys([{ key: 'a', count: 3, isHeadOnly: false }], lease);
  for (let at = 0; at < 12; at += 1) await bench.advance(1000);
  expect(startedOf(bench, 'a')).toBe(1);
  claimKeys.mockClear();
  for (let at = 0; at < 100; at += 1) await bench.advance(100);
  expect(claimKeys).toHaveBeenCalledTimes(5);
});

describe('keys of which other processes hold all that may be held', () => {
  /** An inbox that may claim nothing of these keys, and how many of its claims ask for them in some seconds. */
  async function blocked(count: number) {
    const keys = Array.from({ length: count }, (_, at) => `k${String(at)}`);
    const state = new MemoryState();
    const limits = Object.fromEntries(keys.map((key) => [key, { maxConcurrent: 1 }]));
    const holder = limiting(limits, { store: new MemoryStore(state), concurrency: count });
    for (const key of keys) await sendAll(holder, key, 2);
    const { store, claimKeys } = spied(new MemoryStore(state));
    const bench = limiting(limits, { store, concurrency: 3, process: () => undefined });
    const askedFor = async (seconds: number): Promise<number> => {
      claimKeys.mockClear();
      for (let at = 0; at < 50 * seconds; at += 1) await bench.advance(20);
      await holder.advance(1000 * seconds);
      return claimKeys.mock.calls.flatMap(([some]) => some).filter(({ key }) => key !== 'other').length;
    };
    return { bench, askedFor };
  }

  it('are asked for as rarely while deliveries of other keys are added', async () => {
    const { bench, askedFor } = await blocked(1);
    await askedFor(20);
    let asked = 0;
    for (let at = 0; at < 10; at += 1) {
      await bench.inbox.add({ id: String(at), key: 'other', body: '{}' });
      asked += await askedFor(1);
    }
    expect(asked).toBeLessThanOrEqual(6);
    expect(bench.inbox.snapshot().totals.completed).toBe(10);
  });

  it('are tried in forty calls a second at most, however many there are', async () => {
    const { askedFor } = await blocked(400);
    await askedFor(20);
    // Three keys in each call: one for each free worker.
    const asked = await askedFor(20);
    expect(asked).toBeLessThanOrEqual(3 * 40 * 20);
    expect(asked).toBeGreaterThan(40 * 20);
  });
});
