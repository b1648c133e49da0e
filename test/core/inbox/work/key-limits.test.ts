import { type InboxOptions, type KeyLimits, memoryStore } from '@webhook-backpressure/inbox';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { KEYED, limiting, sendAll, startedOf } from './limited-bench.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

describe('limits', () => {
  it('starts no more of a key than its rate, exactly when a token is there, and other keys immediately', async () => {
    const bench = limiting({ a: { perSecond: 10, burst: 2 } }, { process: () => undefined });
    const times: number[] = [];
    bench.inbox.subscribe((event) => {
      if (event.type === 'started' && event.key === 'a') times.push(bench.clock.now());
    });
    await sendAll(bench, 'a', 7);
    await sendAll(bench, 'b', 7);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 5, limitedKeys: 1, totals: { completed: 9 } });
    for (let at = 0; at < 100; at += 1) await bench.advance(10);
    expect(times).toEqual([0, 0, 100, 200, 300, 400, 500]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, limitedKeys: 0 });
  });

  it('takes rates per minute, and by default lets a fifth of a second start together', async () => {
    const bench = limiting({ a: { perMinute: 60 }, b: { perSecond: 50 } }, { process: () => undefined });
    await sendAll(bench, 'a', 5);
    await sendAll(bench, 'b', 30);
    expect(bench.inbox.snapshot().totals.completed).toBe(1 + 10);
    await bench.advance(1000);
    expect(bench.inbox.snapshot().totals.completed).toBe(2 + 20);
  });

  it('runs no more handlers of a key than maxConcurrent, and the next when one ends', async () => {
    const bench = limiting({ a: { maxConcurrent: 2 } });
    await sendAll(bench, 'a', 5);
    await sendAll(bench, 'b', 5);
    expect([startedOf(bench, 'a'), startedOf(bench, 'b')]).toEqual([2, 5]);
    expect(bench.inbox.snapshot().limitedKeys).toBe(1);
    await bench.calls[0]?.finish();
    expect(startedOf(bench, 'a')).toBe(3);
    await bench.last.fail();
    expect(startedOf(bench, 'a')).toBe(4);
  });

  it('keeps maxConcurrent over all processes on the store, and takes over when others end', async () => {
    const state = new MemoryState();
    const limits = { a: { maxConcurrent: 2 } };
    const one = limiting(limits, { store: new MemoryStore(state) });
    const other = limiting(limits, { store: new MemoryStore(state), process: () => undefined });
    await sendAll(one, 'a', 3);
    await other.inbox.resume();
    await other.advance(1000);
    expect([startedOf(one, 'a'), other.inbox.snapshot().totals.started]).toEqual([2, 0]);
    const closing = one.inbox.close({ timeoutMs: 0 });
    await one.advance(1);
    await closing;
    for (let at = 0; at < 10; at += 1) await other.advance(1000);
    expect(other.inbox.snapshot().totals.completed).toBe(3);
  });

  it('shares busy workers among the keys by their weights', async () => {
    for (const concurrency of [1, 4]) {
      const bench = limiting({ a: { weight: 3 }, b: {} }, { concurrency });
      for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 60);
      for (let at = 0; at < 100; at += 1) await bench.calls[at]?.finish();
      const counts = ['a', 'b', 'c'].map((key) => startedOf(bench, key));
      expect(counts[0]).toBeGreaterThanOrEqual(58);
      expect(Math.abs((counts[1] ?? 0) - (counts[2] ?? 0))).toBeLessThanOrEqual(2);
    }
  });

  it('gives free workers to keys that have more, until no worker is free', async () => {
    const bench = limiting({ a: { weight: 2 } }, { concurrency: 12 });
    await bench.inbox.pause();
    await sendAll(bench, 'a', 50);
    await sendAll(bench, 'b', 50);
    await sendAll(bench, 'c', 1);
    await bench.inbox.resume();
    await bench.advance(25);
    await turns(50);
    expect(bench.calls.length).toBe(12);
    expect(startedOf(bench, 'a')).toBeGreaterThan(startedOf(bench, 'b'));
    expect(startedOf(bench, 'c')).toBe(1);
  });

  it('applies beside maxConcurrencyPerKey, ordered and maxStartsPerSecond', async () => {
    const limits = { a: { maxConcurrent: 5 }, b: { maxConcurrent: 2 } };
    const bench = limiting(limits, { maxConcurrencyPerKey: 3 });
    for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 9);
    expect(['a', 'b', 'c'].map((key) => startedOf(bench, key))).toEqual([3, 2, 3]);

    const ordered = limiting({ a: { perSecond: 1, burst: 3 } }, { ordered: true });
    await sendAll(ordered, 'a', 5);
    for (let at = 0; at < 3; at += 1) {
      expect(startedOf(ordered, 'a')).toBe(at + 1);
      await ordered.last.finish();
    }
    expect(startedOf(ordered, 'a')).toBe(3);
    await ordered.advance(1000);
    expect(startedOf(ordered, 'a')).toBe(4);

    const paced = limiting(
      { a: { perSecond: 10, burst: 5 } },
      { maxStartsPerSecond: 2, process: () => undefined },
    );
    await sendAll(paced, 'a', 10);
    for (let at = 0; at < 6; at += 1) await paced.advance(500);
    expect(paced.inbox.snapshot().totals.started).toBe(7);
  });

  it('applies changed limits within 10 s, and those of an update immediately', async () => {
    const limits: Record<string, KeyLimits> = { a: { perMinute: 1 }, b: { maxConcurrent: 1 } };
    const ask = vi.fn((key: string) => limits[key]);
    const bench = new InboxBench({ ...KEYED, limits: ask });
    await sendAll(bench, 'a', 9);
    await sendAll(bench, 'b', 9);
    expect([startedOf(bench, 'a'), startedOf(bench, 'b')]).toEqual([1, 1]);
    limits['a'] = { perSecond: 1, burst: 2 };
    limits['b'] = { maxConcurrent: 3 };
    for (let at = 0; at < 11; at += 1) await bench.advance(1000);
    expect(startedOf(bench, 'b')).toBe(3);
    expect(startedOf(bench, 'a')).toBeGreaterThan(1);
    expect(ask.mock.calls.length).toBeLessThan(8);
    bench.inbox.update({ limits: (key) => (key === 'b' ? { maxConcurrent: 5 } : {}) });
    await turns(30);
    expect([startedOf(bench, 'a'), startedOf(bench, 'b')]).toEqual([9, 5]);
  });

  it('begins with an update of an inbox that runs without them', async () => {
    const bench = new InboxBench({ ...KEYED, concurrency: 5 });
    await sendAll(bench, 'a', 9);
    bench.inbox.update({ limits: () => ({ maxConcurrent: 3 }) });
    await bench.calls[0]?.finish();
    await bench.calls[1]?.finish();
    expect(bench.calls.length).toBe(5);
    await bench.calls[2]?.finish();
    expect(bench.calls.length).toBe(6);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no table');
      },
      'no table',
    ],
    ['returns a promise', () => Promise.reject(new Error('late')), 'synchronously'],
    ['returns an unknown option', () => ({ perSeconds: 1 }), 'perSeconds'],
    ['returns an invalid rate', () => ({ perSecond: -1 }), 'perSecond'],
    ['returns an invalid concurrency', () => ({ maxConcurrent: 1.5 }), 'maxConcurrent'],
    ['returns a burst without a rate', () => ({ burst: 5 }), '{ perSecond } or { perMinute }'],
    ['returns an unknown priority', () => ({ priority: 'high' }), 'limits(key).priority'],
    ['returns an invalid share', () => ({ freshShare: 1 }), 'limits(key).freshShare'],
  ])(
    'starts one delivery of a key at a time and one per second, and warns once, when it %s',
    async (_, limits, part) => {
      const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
      const bench = new InboxBench({ ...KEYED, limits: limits as unknown as () => KeyLimits });
      await sendAll(bench, 'a', 3);
      await sendAll(bench, 'b', 3);
      expect([startedOf(bench, 'a'), startedOf(bench, 'b')]).toEqual([1, 1]);
      await bench.advance(5000);
      expect(startedOf(bench, 'a')).toBe(1);
      await bench.calls[0]?.finish();
      await bench.last.finish();
      expect(startedOf(bench, 'a')).toBe(2);
      const shown = warn.mock.calls.filter(([, options]) =>
        JSON.stringify(options).includes('WBP_LIMITS_FAILED'),
      );
      expect(shown.map(([message]) => String(message))).toEqual([expect.stringContaining(part)]);
    },
  );

  it('keeps the last limits of a key while the function fails', async () => {
    vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    let isBroken = false;
    const bench = new InboxBench({
      ...KEYED,
      limits: () => {
        if (isBroken) throw new Error('no table');
        return { maxConcurrent: 4 };
      },
    });
    await sendAll(bench, 'a', 9);
    isBroken = true;
    await bench.advance(11_000);
    for (let at = 0; at < 4; at += 1) await bench.calls[at]?.finish();
    expect(startedOf(bench, 'a')).toBe(8);
  });

  it('rejects a value that is not a function, and buckets that are none', () => {
    expect(() => limiting({}, { limits: 5 as unknown as () => KeyLimits })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_LIMITS' }) as Error,
    );
    expect(() => limiting({}, { buckets: {} as never })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_BUCKETS' }) as Error,
    );
  });

  it.each<Partial<InboxOptions>>([
    { process: undefined, processBatch: () => undefined },
    { coalesce: () => null },
  ])('excludes shared workers: %o', (shapes) => {
    const refused = expect.objectContaining({ code: 'ERR_WBP_LIMITS' }) as Error;
    expect(() => limiting({}, shapes)).toThrow(refused);
    const bench = new InboxBench(shapes);
    expect(() => {
      bench.inbox.update({ limits: () => undefined });
    }).toThrow(refused);
  });

  it('returns the tokens of deliveries that never started, also when the store fails', async () => {
    const store = memoryStore();
    const bench = limiting({ a: { perMinute: 2, burst: 2 } }, { store });
    const claimKeys = vi.spyOn(store, 'claimKeys').mockImplementationOnce(() => {
      throw new Error('disk');
    });
    await sendAll(bench, 'a', 3);
    for (let at = 0; at < 20; at += 1) await bench.advance(100);
    expect(claimKeys.mock.calls.length).toBeGreaterThan(1);
    expect(startedOf(bench, 'a')).toBe(2);
  });
});
