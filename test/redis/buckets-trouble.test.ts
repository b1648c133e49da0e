import { Redis } from 'ioredis';
import type { Buckets, TokenGrant } from '@webhook-backpressure/fleet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRedisSkipped } from './bed.ts';
import { redisBucketsBed, type RedisBucketsBed } from './buckets-bed.ts';
import { RedisServer } from './server.ts';

const MINUTE_MS = 60_000;
const LIMIT = { amount: 1, periodMs: MINUTE_MS, burst: 3 };
const FAST = { amount: 1000, periodMs: 1000, burst: 5000 };
const HOUR_US = 3_600_000_000;

/** Moves the times that a bucket has, as a clock of the server that was set back by an hour does. */
const SET_BACK = `
local head, at, middle, till, paused = string.match(redis.call('GET', KEYS[1]), '^(1) (%d+) (.*) (%d+) (%d+)$')
redis.call('SET', KEYS[1], string.format('1 %.0f %s %.0f %.0f', at + ARGV[1], middle, till + ARGV[1], paused + ARGV[1]))`;

describe.skipIf(isRedisSkipped)('redisBuckets', () => {
  let server: RedisServer;
  let client: Redis;
  let admin: Redis;
  let bed: RedisBucketsBed;
  let buckets: Buckets;

  beforeEach(async () => {
    server = await RedisServer.start();
    [client, admin] = [connection(), connection()];
    await Promise.all([client.connect(), admin.connect()]);
    bed = redisBucketsBed(client, admin);
    buckets = await bed.open();
  });
  afterEach(async () => {
    server.resume();
    await bed.dispose();
    client.disconnect();
    admin.disconnect();
    await server.stop();
  });

  function connection(url = server.url): Redis {
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      enableReadyCheck: false,
      lazyConnect: true,
      retryStrategy: () => 10,
    });
    redis.on('error', () => undefined);
    return redis;
  }

  /** Resolves when both clients are connected again. */
  async function ready(): Promise<void> {
    await Promise.all(
      [client, admin].map((one) => new Promise((resolve) => void one.once('ready', resolve))),
    );
  }

  const key = (): string => `${bed.prefix}:bucket:a`;

  async function take(count: number, limit = LIMIT): Promise<number> {
    return (await buckets.take('a', count, limit)).taken;
  }

  it('waits for a client that is still connecting, and then has the whole rate', async () => {
    const late = connection();
    const isReady = new Promise((resolve) => void late.once('ready', resolve));
    const started = redisBucketsBed(late, admin);
    // Not connected: `open` and two calls fail immediately, as in the example of the README.
    const starting = await started.open();
    expect((await starting.take('a', 1000, FAST)).taken).toBe(0);
    const { taken, waitMs } = await starting.take('a', 1000, FAST);
    expect([taken, waitMs]).toEqual([0, 50]);
    await started.pass(50);
    await isReady;
    await started.pass(50);
    // The burst, of which Redis gives 100 ms later.
    expect((await starting.take('a', 5000, FAST)).taken).toBe(4900);
    await started.pass(3000);
    expect(started.events).toEqual([]);
    await started.dispose();
    late.disconnect();
  });

  it('begins with a quarter of the rate if the server is away for two seconds from the start', async () => {
    // Nothing listens there.
    const late = connection('redis://127.0.0.1:1');
    const started = redisBucketsBed(late, admin);
    const starting = await started.open();
    let taken = 0;
    for (let step = 0; step < 200; step += 1) {
      taken += (await starting.take('a', 1000, FAST)).taken;
      await started.pass(20);
      if (step < 90) expect([taken, started.events]).toEqual([0, []]);
    }
    expect(taken).toBeGreaterThan(250);
    expect(taken).toBeLessThanOrEqual(500);
    expect(started.events).toEqual([expect.objectContaining({ type: 'lost', processes: 4 })]);
    await started.dispose();
    late.disconnect();
  });

  it('goes on with its part of the rate while the server is away, and says so once', async () => {
    const others = [await bed.open(), await bed.open()];
    await bed.advance(2100);
    expect(buckets.processes).toBe(3);
    await take(2, FAST);
    const isReady = ready();
    await server.kill();
    let taken = 0;
    for (let step = 0; step < 300; step += 1) {
      taken += await take(1000, FAST);
      await bed.pass(20);
    }
    // A third of 1,000 a second for six seconds, less the first half a second.
    expect(taken).toBeGreaterThan(1700);
    expect(taken).toBeLessThanOrEqual(2000);
    expect(bed.events).toEqual([
      expect.objectContaining({ type: 'lost', processes: 3 }),
      ...others.map(() => expect.objectContaining({ type: 'lost' }) as unknown),
    ]);
    await server.restart();
    await isReady;
    for (let step = 0; step < 10; step += 1) await bed.pass(500);
    expect(bed.events.slice(3).map(({ type }) => type)).toEqual(['restored', 'restored', 'restored']);
  });

  it('does not start in all processes at the same time while the server is away', async () => {
    const processes = [buckets, await bed.open(), await bed.open(), await bed.open()];
    await bed.advance(2100);
    const limit = { amount: 1, periodMs: MINUTE_MS, burst: 1 };
    await take(1, limit);
    await server.kill();
    const starts: number[] = [];
    for (let second = 0; second < 490; second += 1) {
      for (const one of processes) {
        const { taken } = await one.take('a', 1, limit);
        if (taken > 0) starts.push(second);
      }
      await bed.pass(1000);
    }
    // One a minute, by the clock of the server, and the first one at least a minute after the last token of the server.
    expect(starts[0]).toBeGreaterThanOrEqual(59);
    expect(starts.length).toBeGreaterThanOrEqual(6);
    const gaps = starts.slice(1).map((second, at) => second - (starts[at] as number));
    expect(Math.min(...gaps)).toBeGreaterThan(55);
  });

  it('starts with an empty bucket when the server is back without its data', async () => {
    const slow = { amount: 1, periodMs: 10 * MINUTE_MS, burst: 50 };
    await take(3, slow);
    const isReady = ready();
    await server.kill();
    expect(await take(50, slow)).toBe(0);
    await server.restart();
    await isReady;
    for (let step = 0; step < 10; step += 1) await bed.pass(500);
    expect(await take(50, slow)).toBe(0);
    await bed.advance(11 * MINUTE_MS);
    expect(await take(50, slow)).toBe(1);
  });

  /** A call that the server does not answer in time. */
  async function late(count: number): Promise<TokenGrant> {
    const grant = buckets.take('a', count, FAST);
    await new Promise((resolve) => setImmediate(resolve));
    bed.passNow(100);
    return await grant;
  }

  it('returns tokens that come late', async () => {
    const slow = { amount: 1, periodMs: MINUTE_MS, burst: 100 };
    expect(await take(1, slow)).toBe(1);
    server.pause();
    const grant = buckets.take('a', 90, slow);
    await new Promise((resolve) => setImmediate(resolve));
    bed.passNow(100);
    expect(await grant).toEqual({ taken: 0, waitMs: 20 });
    server.resume();
    await bed.settle();
    await bed.pass(50);
    expect(bed.events).toEqual([]);
    expect(await take(200, slow)).toBe(98);
  });

  it('waits for no server that does not answer', async () => {
    await take(1, FAST);
    await bed.pass(300);
    server.pause();
    for (let step = 0; step < 54; step += 1) {
      expect(bed.events).toHaveLength(step <= 50 ? 0 : 1);
      await late(1);
    }
    expect(bed.events).toEqual([expect.objectContaining({ type: 'lost', processes: 1 })]);
    bed.passNow(100);
    expect(buckets.take('a', 1000, FAST)).toEqual({ taken: 100, waitMs: 1 });
    server.resume();
    await bed.settle();
    for (let step = 0; step < 12; step += 1) await bed.pass(500);
    expect(bed.events).toEqual([
      expect.objectContaining({ type: 'lost' }),
      expect.objectContaining({ type: 'restored' }),
    ]);
    // Other processes may have used all tokens in the meantime.
    expect(await take(10_000, FAST)).toBe(0);
    await bed.advance(5000);
    expect(await take(10_000, FAST)).toBe(4900);
  });

  it('gives no second burst after its keys and scripts were deleted', async () => {
    expect(await take(3)).toBe(2);
    await admin.flushall();
    await admin.script('FLUSH');
    await bed.pass(MINUTE_MS);
    expect(await take(3)).toBe(0);
    await bed.advance(MINUTE_MS + 100);
    expect(await take(3)).toBe(1);
  });

  it('counts no fewer processes while they are noted again after a loss of data', async () => {
    await bed.open();
    await bed.open();
    await bed.advance(2100);
    expect(buckets.processes).toBe(3);
    await admin.flushall();
    for (let step = 0; step < 10; step += 1) {
      await bed.pass(200);
      expect(buckets.processes).toBe(3);
    }
  });

  it('replaces a value of another program by an empty bucket', async () => {
    for (const write of [
      () => admin.set(key(), 'garbage'),
      () => admin.set(key(), '1 2 3'),
      () => admin.lpush(key(), 'garbage'),
    ]) {
      await admin.del(key());
      await write();
      await bed.pass(2 * MINUTE_MS);
      expect(await take(3)).toBe(0);
      await bed.advance(MINUTE_MS + 100);
      expect(await take(3)).toBe(1);
    }
    await admin.set(`${bed.prefix}:processes`, 'garbage');
    await bed.pass(2100);
    expect(buckets.processes).toBe(1);
  });

  it('lets no time pass when the clock of the server is set back', async () => {
    await take(2);
    buckets.pause('a', 10_000, LIMIT);
    await bed.settle();
    await admin.eval(SET_BACK, 1, key(), String(HOUR_US));
    await bed.pass(10_000);
    const { taken, waitMs } = await buckets.take('a', 1, LIMIT);
    expect(taken).toBe(0);
    expect(waitMs).toBeGreaterThan(5_000);
    expect(waitMs).toBeLessThanOrEqual(10_000);
    await bed.advance(waitMs);
    expect(await take(3)).toBe(1);
  });

  it('asks for many tokens in one call while single ones are wanted in fast succession', async () => {
    await admin.config('RESETSTAT');
    let taken = 0;
    for (let step = 0; step < 1000; step += 1) {
      taken += await take(1, FAST);
      bed.passNow(1);
    }
    expect(taken).toBe(1000);
    const stats = await admin.info('commandstats');
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
    expect(calls).toBeLessThan(60);
  });

  it('returns tokens that nothing has used', async () => {
    for (let step = 0; step < 100; step += 1) await take(1, FAST);
    await bed.advance(5_000);
    expect(await take(10_000, FAST)).toBe(4900);
  });

  it('keeps no key of a full bucket', async () => {
    await take(1, { amount: 1000, periodMs: 1000, burst: 200 });
    expect(await admin.pttl(key())).toBeLessThanOrEqual(2);
  });
});
