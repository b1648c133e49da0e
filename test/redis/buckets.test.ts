import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeBuckets } from '../sender/buckets/buckets-suite.ts';
import { isRedisSkipped, redisUrl } from './bed.ts';
import { redisBucketsBed } from './buckets-bed.ts';

describe.skipIf(isRedisSkipped)('on Redis', () => {
  const admin = new Redis(redisUrl, { lazyConnect: true });
  const ioredis = new Redis(redisUrl, { lazyConnect: true });
  const redis = createClient({ url: redisUrl });
  beforeAll(async () => {
    if (isRedisSkipped) return;
    await Promise.all([admin.connect(), ioredis.connect(), redis.connect()]);
  });
  afterAll(async () => {
    if (isRedisSkipped) return;
    await Promise.all([admin.quit(), ioredis.quit(), redis.close()]);
  });

  const kind = { isShared: true, lateMs: 130 };
  describeBuckets('redisBuckets with ioredis', kind, () => Promise.resolve(redisBucketsBed(ioredis, admin)));
  describeBuckets('redisBuckets with redis', kind, () => Promise.resolve(redisBucketsBed(redis, admin)));
});
