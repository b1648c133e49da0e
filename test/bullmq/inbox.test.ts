import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bullmqDoor, deliveryOf } from '@webhook-backpressure/bullmq';
import { webhookInbox } from '@webhook-backpressure/node/inbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRedisSkipped } from '../redis/bed.ts';
import { RedisServer } from '../redis/server.ts';
import { BullmqBed } from './bed.ts';

const POLL = { timeout: 20_000 };

describe.skipIf(isRedisSkipped)('an inbox on a queue of BullMQ', () => {
  let server: RedisServer;
  let bed: BullmqBed;

  beforeEach(async () => {
    server = await RedisServer.start('--appendonly', 'yes');
    bed = new BullmqBed(undefined, server.url);
  });

  afterEach(async () => {
    await bed.dispose();
    await server.stop();
  });

  it('refuses with 503 and Retry-After while Redis is away, and accepts when it works again', async () => {
    const queue = bed.queue();
    await queue.waitUntilReady();
    const receiver = webhookInbox({ store: bullmqDoor(queue), verify: false });
    const http = createServer(receiver).listen(0, '127.0.0.1');
    await once(http, 'listening');
    const url = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/webhooks`;
    const send = async (id: string): Promise<{ status: number; retryAfter: number; answer: unknown }> => {
      const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-id': id } });
      const retryAfter = Number(response.headers.get('retry-after'));
      return { status: response.status, retryAfter, answer: await response.json() };
    };
    await expect.poll(() => send('1'), POLL).toMatchObject({ status: 200, answer: { id: '1' } });

    await server.kill();
    await expect.poll(() => send('2'), POLL).toMatchObject({ status: 503, answer: { reason: 'pressure' } });
    expect((await send('2')).retryAfter).toBeGreaterThanOrEqual(1);
    await server.restart();
    await expect.poll(() => send('2'), POLL).toMatchObject({ status: 200 });
    expect(await send('1')).toMatchObject({ status: 200, answer: { status: 'duplicate' } });
    // The queue is counted once a second. Deliveries added since the last count may be counted twice until the next.
    await expect.poll(() => receiver.inbox.snapshot().depth, POLL).toBe(2);

    const handled: string[] = [];
    const worker = bed.worker((job) => Promise.resolve(handled.push(deliveryOf(job).id)));
    await expect.poll(() => receiver.inbox.snapshot().depth, POLL).toBe(0);
    await worker.close();
    expect(handled.sort()).toEqual(['1', '2']);
    await receiver.inbox.close();
    http.close();
  });
});
