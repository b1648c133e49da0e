import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';
import { RedisServer } from './server.ts';

describe.skipIf(isRedisSkipped)('the Redis of the tests', () => {
  it('is started for the run, and each test has its own keys', async () => {
    const client = new Redis(redisUrl);
    const [one, other] = [redisPrefix(), redisPrefix()];
    expect(one).not.toBe(other);
    await client.set(`${one}:a`, '1');
    expect(await client.keys(`${one}:*`)).toEqual([`${one}:a`]);
    expect(await client.keys(`${other}:*`)).toEqual([]);
    await client.quit();
  });

  it('keeps its files between a kill and a restart', async () => {
    const server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    const client = new Redis(server.url, { retryStrategy: () => 10 });
    client.on('error', () => undefined);
    await client.set('kept', '1');
    await server.kill();
    await server.restart();
    expect(await client.get('kept')).toBe('1');
    client.disconnect();
    await server.stop();
  });
});
