import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { redisRegistry, type RedisClient } from '@webhook-backpressure/redis';
import { afterAll, beforeAll, describe } from 'vitest';
import { describeRegistry } from '../core/fleet/registry-suite.ts';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';

/** Makes the rows of a hash older. */
const AGE = `
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  local value = redis.call('HGET', KEYS[1], field)
  redis.call('HDEL', KEYS[1], field)
  local older = function(at) return string.format('%d', tonumber(at) - ARGV[1]) end
  if string.sub(field, 1, 1) == 's' then value = string.gsub(value, '^%d+', older)
  else field = string.gsub(field, '%d+$', older) end
  redis.call('HSET', KEYS[1], field, value)
end`;

describe.skipIf(isRedisSkipped)('on Redis', () => {
  const ioredis = new Redis(redisUrl, { lazyConnect: true });
  const redis = createClient({ url: redisUrl });
  beforeAll(async () => {
    if (isRedisSkipped) return;
    await Promise.all([ioredis.connect(), redis.connect()]);
  });
  afterAll(async () => {
    if (isRedisSkipped) return;
    await Promise.all([ioredis.quit(), redis.close()]);
  });

  function of(client: RedisClient) {
    return () => {
      const prefix = redisPrefix();
      return {
        registry: () => redisRegistry(client, { prefix }),
        age: async (ms: number) => {
          for (const key of await ioredis.keys(`${prefix}:*`)) await ioredis.eval(AGE, 1, key, String(ms));
        },
        dispose: () => undefined,
      };
    };
  }

  describeRegistry('redisRegistry with ioredis', of(ioredis));
  describeRegistry('redisRegistry with redis', of(redis));
});
