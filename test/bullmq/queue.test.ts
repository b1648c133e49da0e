import { bullmqDoor, deliveryOf } from '@webhook-backpressure/bullmq';
import { memoryRegistry } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isRedisSkipped } from '../redis/bed.ts';
import { BullmqBed, LIMITS, put, VERSIONS } from './bed.ts';

const now = (): { limits: typeof LIMITS; nowMs: number } => ({ limits: LIMITS, nowMs: Date.now() });

describe.skipIf(isRedisSkipped).each(VERSIONS)('a receiver on a queue of BullMQ $version', (version) => {
  let bed: BullmqBed;

  beforeEach(() => {
    bed = new BullmqBed(version);
  });

  afterEach(() => bed.dispose());

  it('stores a delivery as a job, with its bytes, and recognizes its repetition and another body', async () => {
    const queue = bed.queue();
    const door = bullmqDoor(queue, { jobName: 'order' });
    await door.open(Date.now());
    const rawBody = Uint8Array.of(0xff, 0, 1);
    const first = put('ä:1', { rawBody, sender: 'stripe', context: { shop: 1 } });
    expect(await door.put([first, put('2'), put('2')], now())).toEqual(['stored', 'stored', 'duplicate']);
    expect(
      await door.put([put('ä:1', { rawBody }), put('ä:1'), put('ä:1', { key: 'other' })], now()),
    ).toEqual(['duplicate', 'conflict', 'stored']);
    const jobs = await queue.getWaiting();
    expect(jobs.map(({ name }) => name)).toEqual(['order', 'order', 'order']);
    const read = jobs.map(deliveryOf).find(({ key, id }) => key === 'shop' && id === 'ä:1');
    expect(read).toMatchObject({
      sender: 'stripe',
      context: { shop: 1 },
      rawBody,
      method: 'POST',
      url: '/webhooks',
    });
    expect(read?.receivedAt).toEqual(new Date(first.delivery.receivedAtMs));
    expect(
      jobs
        .map(deliveryOf)
        .find(({ id }) => id === '2')
        ?.json(),
    ).toEqual({ id: '2' });
    expect(await door.stats()).toMatchObject({ depth: 3, drained: 0 });
  });

  it('recognizes a repetition after the job was completed and removed', async () => {
    const queue = bed.queue({ defaultJobOptions: { removeOnComplete: true } });
    const door = bullmqDoor(queue);
    await door.open(Date.now());
    expect(await door.put([put('1'), put('1')], now())).toEqual(['stored', 'duplicate']);
    const handled: string[] = [];
    const worker = bed.worker((job) => Promise.resolve(handled.push(deliveryOf(job).id)));
    await new Promise((resolve) => worker.on('completed', resolve));
    expect(await queue.getJobCounts()).toMatchObject({ completed: 0, waiting: 0 });
    expect(await door.put([put('1')], now())).toEqual(['duplicate']);
    expect(await door.stats()).toMatchObject({ depth: 0, drained: 1, oldestReceivedAtMs: undefined });
    expect(handled).toEqual(['1']);
  });

  it('passes the registry of its receivers on, and takes nothing else for one', () => {
    const registry = memoryRegistry(manualClock());
    expect(bullmqDoor(bed.queue(), { registry }).registry).toBe(registry);
    expect(() => bullmqDoor(bed.queue(), { registry: {} as never })).toThrow('ERR_WBP_FLEET');
  });
});
