import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { LocalBuckets } from '@webhook-backpressure/fleet';
import { limitedFetch, RetryAfter } from '@webhook-backpressure/sender/fetch';
import * as main from '@webhook-backpressure/sender';
import { answer, API, bed, excessOf, Outcomes } from './bed.ts';

const TEN = { [API]: { perSecond: 10, burst: 2, documented: false } };
const LIMIT = { amount: 10, periodMs: 1000, burst: 2 };

describe('limitedFetch', () => {
  it('starts the burst immediately, and then one call per token, in the order of the calls', async () => {
    const api = bed({ limits: TEN });
    const calls = new Outcomes();
    for (let at = 0; at < 20; at += 1) calls.add(api.fetch(`${API}${String(at)}`));
    await api.pass(0);
    expect(api.starts).toHaveLength(2);
    await api.pass(1000);
    expect(api.starts).toHaveLength(12);
    await api.pass(1000);
    expect(api.starts.map(({ url }) => url)).toEqual(
      Array.from({ length: 20 }, (_, at) => `${API}${String(at)}`),
    );
    expect(excessOf(api.starts, LIMIT)).toBe(0);
    expect(calls).toMatchObject({ ok: 20, seconds: [], errors: [] });
    expect(api.clock.pending).toBe(0);
  });

  it('uses 80 % of a documented limit by default', async () => {
    const api = bed({ limits: { [API]: { perSecond: 100, burst: 20 } }, maxWaitMs: 60_000 });
    const calls = new Outcomes();
    for (let at = 0; at < 500; at += 1) calls.add(api.fetch(API));
    await api.pass(0);
    expect(api.starts).toHaveLength(16);
    await api.pass(1000);
    expect(api.starts).toHaveLength(96);
    expect(excessOf(api.starts, { amount: 80, periodMs: 1000, burst: 16 })).toBe(0);
  });

  it('rejects a call that would wait too long immediately, and names each another time', async () => {
    const api = bed({ limits: TEN });
    const calls = new Outcomes();
    for (let at = 0; at < 62; at += 1) calls.add(api.fetch(API));
    await api.pass(0);
    // Two start, 50 wait for up to 5 s.
    expect(calls.ok).toBe(2);
    expect(calls.seconds).toEqual([4.59, 4.68, 4.77, 4.86, 4.95, 5.04, 5.13, 5.22, 5.31, 5.4]);
    await api.pass(5000);
    expect(calls).toMatchObject({ ok: 52, errors: [] });
  });

  it('names by chance up to a fifth less, and not more than half of maxWaitMs less', async () => {
    for (const [random, seconds] of [
      [0, 5.1],
      [0.999_999, 4.081],
    ] as const) {
      const api = bed({ limits: TEN, random: () => random });
      const calls = new Outcomes();
      for (let at = 0; at < 53; at += 1) calls.add(api.fetch(API));
      await api.pass(0);
      expect(calls.seconds).toEqual([seconds]);
    }
  });

  it('rejects without a wait with maxWaitMs 0', async () => {
    const api = bed({ limits: { [API]: { ...TEN[API], maxInFlight: 1 } }, maxWaitMs: 0 });
    const calls = new Outcomes();
    api.reply = () => undefined;
    calls.add(api.fetch(API));
    calls.add(api.fetch(API));
    await api.pass(0);
    expect([api.starts.length, calls.seconds.length]).toEqual([1, 1]);
    expect(api.clock.pending).toBe(0);
  });

  it('holds no token and no other prefix for a call that hangs', async () => {
    const other = 'https://other.example/';
    const limit = { perSecond: 10, burst: 2, documented: false, maxInFlight: 1 };
    const api = bed({ limits: { [API]: limit, [other]: limit } });
    api.reply = (url) => (url === API ? undefined : answer(200));
    const calls = new Outcomes();
    calls.add(api.fetch(API));
    calls.add(api.fetch(API));
    for (let at = 0; at < 12; at += 1) calls.add(api.fetch(other));
    await api.pass(1000);
    expect([calls.ok, api.inFlight.length]).toEqual([12, 1]);
    // After 5 s in vain it frees its worker.
    await api.pass(4000);
    expect(calls.seconds).toHaveLength(1);
    calls.add(api.fetch(API));
    api.inFlight[0]?.(answer(200));
    await api.pass(0);
    // Its token was there, and it starts as soon as the place is free.
    expect(api.starts.filter(({ url }) => url === API)).toHaveLength(2);
  });

  it('removes an aborted call, whose turn goes to the next one', async () => {
    const api = bed({ limits: TEN });
    const calls = new Outcomes();
    const controller = new AbortController();
    const { signal } = controller;
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    calls.add(api.fetch(`${API}1`));
    calls.add(api.fetch(`${API}2`));
    for (let at = 0; at < 30; at += 1) calls.add(api.fetch(`${API}aborted`, { signal }));
    calls.add(api.fetch(`${API}3`, { signal: new AbortController().signal }));
    await api.pass(50);
    controller.abort(new Error('gone'));
    await api.pass(50);
    expect(calls.errors).toHaveLength(30);
    expect(calls.errors[0]).toEqual(new Error('gone'));
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    expect(api.starts.map(({ url }) => url)).toEqual([`${API}1`, `${API}2`, `${API}3`]);
    await expect(api.fetch(API, { signal })).rejects.toThrow('gone');
    await expect(api.fetch(new Request(API, { signal }))).rejects.toThrow('gone');
    expect(api.clock.pending).toBe(0);
  });

  it('gives the token of a call back that is aborted just before its request', async () => {
    const api = bed({ limits: { [API]: { perMinute: 1, burst: 1, documented: false } } });
    const controller = new AbortController();
    const call = api.fetch(API, { signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }) as Error);
    expect(api.starts).toHaveLength(0);
    expect((await api.fetch(API)).status).toBe(200);
  });

  it('waits and repeats a refused call, whatever its method, before all that came later', async () => {
    const api = bed({ limits: TEN });
    api.reply = (_, at) => (at === 1 ? answer(429, { 'retry-after': '2' }) : answer(201));
    const first = api.fetch(`${API}1`, { method: 'POST', body: 'a' });
    await api.pass(100);
    const calls = new Outcomes();
    calls.add(api.fetch(`${API}2`));
    await api.pass(2099);
    expect(api.starts).toHaveLength(1);
    await api.pass(1000);
    expect((await first).status).toBe(201);
    expect(api.starts.map(({ url }) => url)).toEqual([`${API}1`, `${API}1`, `${API}2`]);
    // At least the named time, up to a fifth later.
    expect(api.starts[1]?.atMs).toBe(2200);
  });

  it('rejects a refused call immediately if the API asks for more than its time, and all that wait', async () => {
    const api = bed({ limits: TEN });
    api.reply = () => undefined;
    const calls = new Outcomes();
    for (let at = 0; at < 12; at += 1) calls.add(api.fetch(API));
    await api.pass(0);
    api.inFlight[0]?.(answer(429, { 'retry-after': '60' }));
    await api.pass(0);
    expect(calls.seconds).toHaveLength(11);
    // Never before the named time, also by chance.
    for (const seconds of calls.seconds) expect(seconds).toBeGreaterThanOrEqual(60);
    expect(new Set(calls.seconds).size).toBe(11);
    expect(api.clock.pending).toBe(0);
    calls.add(api.fetch(API));
    await api.pass(0);
    expect(calls.seconds).toHaveLength(12);
  });

  it('releases the body of a refusal, and returns other answers untouched', async () => {
    const api = bed({ limits: TEN });
    const refused = answer(429, { 'retry-after': '1' });
    const unavailable = answer(503, { 'retry-after': '2' });
    api.reply = (_, at) => (at === 1 ? refused : unavailable);
    const call = api.fetch(API);
    await api.pass(3000);
    expect(await call).toBe(unavailable);
    expect([refused.bodyUsed, unavailable.bodyUsed]).toEqual([true, false]);
    // Its Retry-After pauses the bucket.
    const next = new Outcomes();
    next.add(api.fetch(API));
    await api.pass(290);
    expect(api.starts).toHaveLength(2);
    await api.pass(200);
    expect(api.starts).toHaveLength(3);
  });

  it('never repeats a network error', async () => {
    const api = bed({ limits: TEN });
    const broken = new TypeError('fetch failed');
    api.reply = () => broken;
    await expect(api.fetch(API)).rejects.toBe(broken);
    expect(api.starts).toHaveLength(1);
    api.reply = () => answer(200);
    expect((await api.fetch(API)).status).toBe(200);
  });

  it('fetches URLs without a limit as they are, and forgets names that are idle', async () => {
    const buckets = new LocalBuckets();
    let names = 0;
    const api = bed({
      buckets,
      limits: ({ pathname }) => {
        names += 1;
        return pathname === '/free' ? undefined : { name: pathname, perSecond: 10 };
      },
    });
    const calls = new Outcomes();
    for (let at = 0; at < 100; at += 1) calls.add(api.fetch(`${API}free`));
    for (let at = 0; at < 5000; at += 1) calls.add(api.fetch(`${API}${String(at)}`));
    await api.pass(60_000);
    for (let at = 0; at < 2; at += 1) calls.add(api.fetch(`${API}last${String(at)}`));
    await api.pass(0);
    expect([names, calls.ok]).toEqual([5102, 5102]);
    expect(buckets.size).toBeLessThan(1010);
  });

  it('follows a limit that the function changes', async () => {
    let perSecond = 1;
    const api = bed({ limits: () => ({ name: 'api', perSecond, burst: 1, documented: false }) });
    const calls = new Outcomes();
    calls.add(api.fetch(API));
    calls.add(api.fetch(API));
    await api.pass(100);
    expect(api.starts).toHaveLength(1);
    perSecond = 1000;
    calls.add(api.fetch(API));
    await api.pass(10);
    expect(api.starts).toHaveLength(3);
  });

  it('uses the fetch of the time of the call, which rejects what it cannot read', async () => {
    const fetch = limitedFetch({ limits: TEN });
    await expect(fetch('nonsense')).rejects.toThrow(TypeError);
    const stub = vi.spyOn(globalThis, 'fetch').mockResolvedValue(answer(204));
    expect((await fetch(API)).status).toBe(204);
    stub.mockRestore();
  });

  it('is exported by the main entry too, and throws what an inbox understands', () => {
    expect(main.limitedFetch({ limits: TEN })).toBeTypeOf('function');
    expect(Reflect.get(new RetryAfter(1), Symbol.for('webhook-backpressure.retry-after'))).toBe(true);
  });

  it('refuses invalid options with a code', async () => {
    const create = (options: object) => () => limitedFetch({ limits: TEN, ...options });
    const coded = (code: string): Error => expect.objectContaining({ code }) as Error;
    const one = (limit: unknown): object => ({ limits: { [API]: limit } });
    for (const limits of [undefined, null, 5, [], {}, { 'api.example.com': {} }])
      expect(create({ limits })).toThrow(coded('ERR_WBP_API_LIMITS'));
    for (const prefix of ['ftp://a.example', `${API}?a=1`, `${API}#a`, 'https://user@a.example'])
      expect(create({ limits: { [prefix]: { perSecond: 1 } } })).toThrow(coded('ERR_WBP_API_LIMITS'));
    const twice = { [API]: { perSecond: 1 }, 'https://API.example.com:443': { perSecond: 1 } };
    expect(create({ limits: twice })).toThrow(coded('ERR_WBP_API_LIMITS'));
    for (const limit of [{}, { perSecond: 0 }, { perSecond: 1, perMinute: 1 }, { perSecond: 1, burst: 0 }])
      expect(create(one(limit))).toThrow(coded('ERR_WBP_RATE'));
    expect(create(one(null))).toThrow(coded('ERR_WBP_API_LIMITS'));
    expect(create(one({ perSecond: 1, documented: 1 }))).toThrow(coded('ERR_WBP_API_LIMITS'));
    expect(create(one({ perSecond: 1, maxInFlight: 0 }))).toThrow(coded('ERR_WBP_IN_FLIGHT'));
    expect(create(one({ perSecond: 1, maxConcurrent: 5 }))).toThrow(/Did you mean "maxInFlight"/);
    for (const maxWaitMs of [-1, NaN, '5', 86_400_001])
      expect(create({ maxWaitMs })).toThrow(coded('ERR_WBP_MAX_WAIT'));
    expect(create({ buckets: {} })).toThrow(coded('ERR_WBP_BUCKETS'));
    expect(create({ fetch: 5 })).toThrow(coded('ERR_WBP_FETCH'));
    expect(create({ clock: 5 })).toThrow(coded('ERR_WBP_CLOCK'));
    expect(create({ random: 5 })).toThrow(coded('ERR_WBP_RANDOM'));
    expect(create({ wait: 5 })).toThrow(coded('ERR_WBP_UNKNOWN_OPTION'));
    for (const result of [null, 5, {}, { name: '' }, Promise.resolve(undefined), 'x'.repeat(3)])
      await expect(bed({ limits: (() => result) as never }).fetch(API)).rejects.toThrow(
        coded('ERR_WBP_API_LIMITS'),
      );
    const bad = bed({ limits: () => ({ name: 'a', perSecond: -1 }) });
    await expect(bad.fetch(API)).rejects.toThrow(coded('ERR_WBP_RATE'));
    const thrown = new Error('from limits');
    const throwing = bed({
      limits: () => {
        throw thrown;
      },
    });
    await expect(throwing.fetch(API)).rejects.toBe(thrown);
  });
});
