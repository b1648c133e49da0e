import { bullmqDoor } from '@webhook-backpressure/bullmq';
import { Queue } from 'bullmq';
import { createClient } from 'redis';
import { describe, expect, it } from 'vitest';
import { isRedisSkipped, redisPrefix, redisUrl } from '../redis/bed.ts';
import { LIMITS, put } from './bed.ts';

describe.skipIf(isRedisSkipped)('a receiver on a queue of BullMQ 6 with a client of node-redis', () => {
  it('stores, recognizes repetitions and counts', async () => {
    const client = createClient({ url: redisUrl });
    await client.connect();
    const queue = new Queue('orders', { prefix: redisPrefix(), connection: client });
    const door = bullmqDoor(queue);
    await door.open(Date.now());
    const results = await door.put([put('1'), put('1')], { limits: LIMITS, nowMs: Date.now() });
    expect(results).toEqual(['stored', 'duplicate']);
    expect(await door.stats()).toMatchObject({ depth: 1, drained: 0 });
    await queue.close();
    client.destroy();
  });
});
