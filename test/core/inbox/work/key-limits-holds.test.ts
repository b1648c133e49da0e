import { type Buckets, LocalBuckets } from '@webhook-backpressure/fleet';
import { type InboxStore, RetryAfter } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';
import { limiting, sendAll, startedOf } from './limited-bench.ts';

describe('limits with shared buckets', () => {
  it('give back deliveries whose tokens became too old, without an attempt, and pause the key for all', async () => {
    const local = new LocalBuckets();
    const use = vi.fn((_: string, count: number) => Promise.resolve(Math.min(1, count)));
    const pause = vi.fn();
    const buckets: Buckets = {
      processes: 1,
      open: (options) => {
        local.open(options);
      },
      take: (...args) => Promise.resolve(local.take(...args)),
      use,
      giveBack: (...args) => {
        local.giveBack(...args);
      },
      pause,
      peek: () => null,
      forget: () => undefined,
    };
    const bench = limiting({ a: { perSecond: 1, burst: 3 } }, { buckets });
    await bench.inbox.pause();
    await sendAll(bench, 'a', 3);
    use.mockClear();
    await bench.inbox.resume();
    for (let at = 0; at < 10; at += 1) await bench.advance(50);
    expect(bench.told('released').length).toBeGreaterThan(0);
    expect(use.mock.calls[0]?.[0]).toBe('inbox:a');
    for (let at = 0; at < 10; at += 1) await bench.advance(1000);
    expect(bench.calls.map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    await bench.last.fail(new RetryAfter(3));
    expect(pause.mock.calls.map(([name, ms]) => [name, ms] as unknown)).toEqual([['inbox:a', 3000]]);
  });
});

describe('limits after the death of a process', () => {
  it('run deliveries that were in flight alone, then in groups that double, and lose no attempt of them', async () => {
    const state = new MemoryState();
    const dead = new MemoryStore(state);
    const bench = limiting({ a: { maxConcurrent: 10 } }, { store: new MemoryStore(state) });
    await bench.inbox.pause();
    await sendAll(bench, 'a', 7);
    await sendAll(bench, 'b', 1);
    await bench.inbox.resume();
    const wallMs = START + bench.clock.now();
    await dead.claimKeys([{ key: 'a', count: 7, isHeadOnly: false }], { leaseMs: 1000, nowMs: wallMs });
    for (let at = 0; at < 8; at += 1) await bench.advance(1000);
    expect(bench.calls.map(({ delivery }) => delivery.key).sort()).toEqual(['a', 'b']);
    const groups: number[] = [];
    for (let group = 0; group < 3; group += 1) {
      const running = bench.calls.slice(groups.reduce((sum, count) => sum + count, 0));
      groups.push(running.length);
      for (const { finish } of running) await finish();
      for (let at = 0; at < 4; at += 1) await bench.advance(250);
    }
    expect(groups).toEqual([2, 2, 4]);
    expect(bench.calls.filter(({ delivery }) => delivery.key === 'a').map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: 7 }, () => 2),
    );
  });

  it.each([0, 1000])(
    'run the first of them alone again after the death of another process, beside %d deliveries',
    async (backlog) => {
      const state = new MemoryState();
      const bench = limiting({ a: { maxConcurrent: 10 } }, { store: new MemoryStore(state) });
      const groups: number[] = [];
      let seen = 0;
      const finishAll = async (): Promise<void> => {
        const running = bench.calls.slice(seen);
        seen += running.length;
        const count = running.filter(({ delivery }) => delivery.key === 'a').length;
        if (count > 0) groups.push(count);
        for (const { finish } of running) await finish();
      };
      for (let at = 0; at < backlog; at += 1) void bench.send(`b${String(at)}`, '{}', { 'x-key': 'b' });
      for (const count of [7, 8]) {
        await bench.inbox.pause();
        await finishAll();
        await sendAll(bench, 'a', count, 10 * count);
        await bench.inbox.resume();
        const lease = { leaseMs: 1000, nowMs: START + bench.clock.now() };
        await new MemoryStore(state).claimKeys([{ key: 'a', count, isHeadOnly: false }], lease);
        for (let at = 0; at < 6; at += 1) await bench.advance(1000);
        for (let at = 0; at < 10; at += 1) await finishAll();
      }
      expect(groups).toEqual([1, 2, 4, 1, 2, 4, 1]);
    },
  );

  it('run in groups of all keys, and are not claimed before', async () => {
    const state = new MemoryState();
    const keys = Array.from({ length: 15 }, (_, at) => `k${String(at)}`);
    const bench = limiting({}, { store: new MemoryStore(state) });
    await bench.inbox.pause();
    for (const key of keys) await sendAll(bench, key, 1);
    await bench.inbox.resume();
    const lease = { leaseMs: 1000, nowMs: START + bench.clock.now() };
    await new MemoryStore(state).claimKeys(
      keys.map((key) => ({ key, count: 1, isHeadOnly: false })),
      lease,
    );
    while (bench.calls.length === 0) await bench.advance(1000);
    await bench.advance(5000);
    expect(state.stats().inFlight).toBe(1);
    const groups: number[] = [];
    for (let seen = 0; seen < 15;) {
      const group = bench.calls.slice(seen);
      groups.push(group.length);
      seen += group.length;
      for (const { finish } of group) await finish();
    }
    expect(groups).toEqual([1, 2, 4, 8]);
    expect(bench.told('released')).toEqual([]);
  });

  it('do not hold up new deliveries of their keys', async () => {
    const state = new MemoryState();
    const bench = limiting({ a: { maxConcurrent: 5 } }, { store: new MemoryStore(state) });
    await bench.inbox.pause();
    for (const key of ['a', 'b']) await sendAll(bench, key, 2);
    const lease = { leaseMs: 1000, nowMs: START + bench.clock.now() };
    await bench.inbox.resume();
    await new MemoryStore(state).claimKeys(
      ['a', 'b'].map((key) => ({ key, count: 2, isHeadOnly: false })),
      lease,
    );
    while (bench.calls.length === 0) await bench.advance(1000);
    for (const key of ['a', 'b']) await sendAll(bench, key, 2, 2);
    const fresh = bench.calls.filter(({ attempt }) => attempt === 1).map(({ delivery }) => delivery.id);
    expect([fresh.sort(), bench.calls.length]).toEqual([['a2', 'a3', 'b2', 'b3'], 5]);
  });

  it('are claimed one at a time after another crash, while new ones run', async () => {
    const state = new MemoryState();
    const bench = limiting({}, { store: new MemoryStore(state) });
    await bench.inbox.pause();
    for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 1);
    await bench.inbox.resume();
    for (let death = 0; death < 2; death += 1) {
      const lease = { leaseMs: 1000, nowMs: START + bench.clock.now() + 1000 * death };
      const wants = ['a', 'b', 'c'].map((key) => ({ key, count: 1, isHeadOnly: false }));
      await new MemoryStore(state).claimKeys(wants, lease);
    }
    const groups: number[] = [];
    for (let seen = 0; seen < 3;) {
      await bench.advance(1000);
      const group = bench.calls.slice(seen);
      if (group.length > 0) groups.push(group.length);
      seen += group.length;
      for (const { finish } of group) await finish();
    }
    expect(groups).toEqual([1, 1, 1]);
    expect(bench.told('released')).toEqual([]);
  });

  it('are not claimed while the first one runs, which may end the process', async () => {
    const state = new MemoryState();
    const dead = new MemoryStore(state);
    const inFlight: number[] = [];
    const process = (): Promise<never> => {
      inFlight.push(state.stats().inFlight);
      return new Promise<never>(() => undefined);
    };
    const bench = limiting({}, { store: new MemoryStore(state), process });
    const keys = ['a', 'b', 'c', 'd'];
    await bench.inbox.pause();
    for (const key of keys) await sendAll(bench, key, 2);
    await bench.inbox.resume();
    const lease = { leaseMs: 1000, nowMs: START + bench.clock.now() };
    await dead.claimKeys(
      keys.map((key) => ({ key, count: 2, isHeadOnly: false })),
      lease,
    );
    for (let at = 0; at < 8; at += 1) await bench.advance(1000);
    expect(inFlight).toEqual([1]);
  });
});

describe('an idle inbox with limits', () => {
  it('finds out within 10 s that its store works again, however long a list of keys has taken before', async () => {
    const store: InboxStore = new MemoryStore(new MemoryState());
    const dueKeys = store.dueKeys.bind(store);
    const stats = store.stats.bind(store);
    store.dueKeys = (options) => later(() => dueKeys(options));
    const bench = limiting({ a: { maxConcurrent: 1 } }, { store });
    const later = async <T>(result: () => T | Promise<T>): Promise<T> => {
      await new Promise((resolve) =>
        bench.clock.setTimeout(() => {
          resolve(undefined);
        }, 45_000),
      );
      return result();
    };
    for (let at = 0; at < 10; at += 1) await bench.advance(5000);
    store.dueKeys = dueKeys;
    store.stats = () => Promise.reject(new Error('disk on fire'));
    await bench.advance(5000);
    expect(bench.inbox.snapshot().isStoreFailing).toBe(true);
    store.stats = stats;
    await bench.advance(5000);
    await bench.advance(5000);
    expect(bench.inbox.snapshot().isStoreFailing).toBe(false);
  });
});

describe('RetryAfter with limits', () => {
  it('holds all deliveries of the key until then, and costs only its own an attempt', async () => {
    const bench = limiting({ a: { maxConcurrent: 2 } });
    await sendAll(bench, 'a', 4);
    await sendAll(bench, 'b', 1);
    await bench.calls[0]?.fail(new RetryAfter(60));
    await bench.calls[1]?.fail(new RetryAfter(5));
    await sendAll(bench, 'a', 1, 4);
    for (let at = 0; at < 59; at += 1) await bench.advance(1000);
    expect(startedOf(bench, 'a')).toBe(2);
    expect(bench.inbox.snapshot().limitedKeys).toBe(1);
    await bench.advance(1000);
    expect(bench.calls.slice(-2).map(({ attempt, delivery }) => [delivery.id, attempt])).toEqual([
      ['a2', 1],
      ['a3', 1],
    ]);
  });

  it('holds the key with a rate too, and gives back claimed deliveries that have not started', async () => {
    const bench = limiting({ a: { perSecond: 100, burst: 10 } }, { maxStartsPerSecond: 1 });
    await sendAll(bench, 'a', 4);
    expect(bench.calls.length).toBe(1);
    await bench.last.fail(new RetryAfter(10));
    expect(bench.told('released').length).toBe(3);
    for (let at = 0; at < 9; at += 1) await bench.advance(1000);
    expect(bench.calls.length).toBe(1);
    await bench.advance(2000);
    expect(bench.last.attempt).toBe(1);
    expect(bench.calls.length).toBe(2);
  });

  it('delays only its own delivery for keys without limits, and with holdOnRetryAfter: false', async () => {
    const bench = limiting({ a: { maxConcurrent: 1, holdOnRetryAfter: false } });
    for (const key of ['a', 'b']) {
      await sendAll(bench, key, 2);
      const [first] = bench.calls.filter(({ delivery }) => delivery.key === key);
      await first?.fail(new RetryAfter(60));
      expect(startedOf(bench, key)).toBe(2);
    }
  });
});
