import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { redisBuckets } from '@webhook-backpressure/redis';
import { limitedFetch, RetryAfter } from '@webhook-backpressure/sender/fetch';
import { excessOf } from '../sender/calls/bed.ts';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';

const API = 'https://api.example.com/';
const opened: (() => void)[] = [];

afterEach(() => {
  for (const close of opened.splice(0)) close();
});

/** The fetch of a process. */
async function member(prefix: string, api: () => Response, maxWaitMs: number): Promise<typeof fetch> {
  const client = new Redis(redisUrl, { enableOfflineQueue: false, lazyConnect: true });
  await client.connect();
  const buckets = redisBuckets(client, { prefix });
  opened.push(() => {
    buckets.close?.();
    client.disconnect();
  });
  const limits = { [API]: { perSecond: 100, burst: 20, documented: false } };
  return limitedFetch({ limits, buckets, maxWaitMs, fetch: () => Promise.resolve(api()) });
}

describe.skipIf(isRedisSkipped)('a limited fetch with buckets in Redis', () => {
  it('keeps one limit for all processes', async () => {
    const starts: { atMs: number }[] = [];
    const beganMs = performance.now();
    const api = (): Response => {
      starts.push({ atMs: performance.now() - beganMs });
      return new Response();
    };
    const prefix = redisPrefix();
    const members = await Promise.all([1, 2, 3].map(() => member(prefix, api, 60_000)));
    await Promise.all(members.flatMap((call) => Array.from({ length: 50 }, () => call(API))));
    expect(starts).toHaveLength(150);
    expect(excessOf(starts, { amount: 100, periodMs: 1000, burst: 20 })).toBe(0);
  }, 30_000);

  it('pauses all processes when one is refused', async () => {
    const prefix = redisPrefix();
    const refusing = (): Response => new Response(null, { status: 429, headers: { 'retry-after': '60' } });
    const [one, other] = await Promise.all([
      member(prefix, refusing, 5000),
      member(prefix, () => new Response(), 5000),
    ]);
    await other(API);
    await expect(one(API)).rejects.toThrow(RetryAfter);
    // Tokens that the other process holds may be used until they are too old.
    await expect
      .poll(
        () =>
          other(API).then(
            () => 0,
            (error: unknown) => (error as RetryAfter).seconds,
          ),
        { timeout: 10_000 },
      )
      .toBeGreaterThan(50);
  }, 30_000);
});
