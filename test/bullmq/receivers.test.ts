import { bullmqDoor, deliveryOf } from '@webhook-backpressure/bullmq';
import type { StoreEvent } from '@webhook-backpressure/inbox';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BullmqStore } from '../../packages/bullmq/src/bullmq-store.ts';
import { settle } from '../../packages/bullmq/src/options.ts';
import { isRedisSkipped, redisUrl } from '../redis/bed.ts';
import { RedisServer } from '../redis/server.ts';
import { BullmqBed, LIMITS, put, VERSIONS } from './bed.ts';

const RECEIVERS = 3;
const BATCH = 64;

describe.skipIf(isRedisSkipped).each(VERSIONS)('receivers on one queue of BullMQ $version', (version) => {
  let bed: BullmqBed;

  beforeEach(() => {
    bed = new BullmqBed(version);
  });

  afterEach(() => bed.dispose());

  // The latest version gets more, because they take a while on a slow machine.
  const deliveries = 1000;

  it(`store each of ${String(deliveries)} deliveries once, whichever receiver gets its repetitions`, async () => {
    const worker = bed.worker((job) => Promise.resolve(handled.push(deliveryOf(job).id)), {
      concurrency: 50,
    });
    const handled: string[] = [];
    const options = { defaultJobOptions: { removeOnComplete: true } };
    const doors = Array.from({ length: RECEIVERS }, () => bullmqDoor(bed.queue(options)));
    await Promise.all(doors.map(async (door) => door.open(Date.now())));
    const totals = { stored: 0, duplicate: 0, conflict: 0, full: 0 };
    // Each receiver gets half of the deliveries, so that half of them arrive twice.
    const [each, apart] = [deliveries / 2, Math.floor(deliveries / RECEIVERS)];
    await Promise.all(
      doors.map(async (door, at) => {
        for (let from = 0; from < each; from += BATCH) {
          const batch = Array.from({ length: Math.min(BATCH, each - from) }, (_, of) =>
            put(`id:${String((from + of + at * apart) % deliveries)}`),
          );
          for (const result of await door.put(batch, { limits: LIMITS, nowMs: Date.now() }))
            totals[result] += 1;
        }
      }),
    );
    expect(totals).toEqual({
      stored: deliveries,
      duplicate: RECEIVERS * each - deliveries,
      conflict: 0,
      full: 0,
    });
    if (handled.length < deliveries)
      await new Promise<void>((resolve) =>
        worker.on('completed', () => {
          if (handled.length === deliveries) resolve();
        }),
      );
    await worker.close();
    expect(new Set(handled).size).toBe(deliveries);
    expect(handled.length).toBe(deliveries);
    const { depth, drained = 0 } = (await doors[0]?.stats()) ?? {};
    expect(depth).toBe(0);
    // The duplicates of batches in flight look like completed jobs for a moment, and what was drained never falls.
    expect(drained).toBeGreaterThanOrEqual(deliveries);
    expect(drained).toBeLessThanOrEqual(deliveries + RECEIVERS * BATCH);
  }, 60_000);

  it('exceed the capacity by at most what the others store within a second', async () => {
    let nowMs = 0;
    const limits = { ...LIMITS, capacity: 100 };
    const queue = bed.queue();
    const receivers = Array.from({ length: RECEIVERS }, () => {
      const settings = settle(queue, { limits: { capacity: 100 } });
      return new BullmqStore(queue, settings, { nowMs: () => nowMs, deadlineMs: 5000 });
    });
    await Promise.all(receivers.map((receiver) => receiver.open()));
    const flood = async (name: string): Promise<number[]> => {
      const stored: number[] = [];
      for (const [at, receiver] of receivers.entries()) {
        const batch = Array.from({ length: 150 }, (_, of) => put(`${name}${String(at)}-${String(of)}`));
        const results = await receiver.put(batch, { limits });
        stored.push(results.filter((result) => result === 'stored').length);
      }
      return stored;
    };
    expect(await flood('a')).toEqual([100, 100, 100]);
    nowMs = 1000;
    expect(await flood('b')).toEqual([0, 0, 0]);
    nowMs = 1001;
    expect(await flood('c')).toEqual([0, 0, 0]);
    expect((await queue.getJobCounts('wait'))['wait']).toBe(300);
    await queue.drain();
    // The counts are a second old again.
    expect(await flood('d')).toEqual([0, 0, 0]);
    nowMs = 2002;
    expect(await flood('e')).toEqual([100, 0, 0]);
  });

  it('refuse overflows, encrypted deliveries and what BullMQ cannot take, and store the others', async () => {
    const door = bullmqDoor(bed.queue({ defaultJobOptions: { sizeLimit: 2000 } }));
    await door.open(Date.now());
    const options = { limits: LIMITS, nowMs: Date.now() };
    expect(await door.put([{ ...put('1'), isOverflow: true }, put('2')], options)).toEqual([
      'full',
      'stored',
    ]);
    await expect(door.put([put('3', { sealedBy: 'a' })], options)).rejects.toMatchObject({
      code: 'ERR_WBP_BULLMQ_ENCRYPT',
    });
    await expect(door.put([put('4', { rawBody: new Uint8Array(3000) })], options)).rejects.toMatchObject({
      code: 'ERR_WBP_STORE_VALUE',
    });
    expect(await door.stats()).toMatchObject({ depth: 1 });
  });

  it('store every delivery without an id, even if the queue deduplicates by default', async () => {
    const queue = bed.queue({ defaultJobOptions: { deduplication: { id: 'all' } } });
    const door = bullmqDoor(queue);
    await door.open(Date.now());
    const batch = [put('1', { isIdGenerated: true }), put('2', { isIdGenerated: true })];
    expect(await door.put(batch, { limits: LIMITS, nowMs: Date.now() })).toEqual(['stored', 'stored']);
  });

  it('acknowledge nothing that BullMQ has not stored, such as jobs of a parent that does not exist', async () => {
    const queue = bed.queue({ defaultJobOptions: { parent: { id: '1', queue: 'bull:nowhere' } } });
    const door = bullmqDoor(queue);
    await door.open(Date.now());
    await expect(door.put([put('1')], { limits: LIMITS, nowMs: Date.now() })).rejects.toThrow();
    expect(await queue.getJobCounts('wait')).toMatchObject({ wait: 0 });
  });

  it('count what was drained from zero after the queue was obliterated', async () => {
    const queue = bed.queue();
    const options = { limits: LIMITS, nowMs: Date.now() };
    const before = bullmqDoor(queue);
    await before.open(Date.now());
    await before.put([put('1'), put('1'), put('1'), put('1')], options);
    await queue.obliterate({ force: true });
    const door = bullmqDoor(queue);
    await door.open(Date.now());
    expect(await door.put([put('2'), put('3')], options)).toEqual(['stored', 'stored']);
    expect(await door.stats()).toMatchObject({ depth: 2, drained: 0 });
    await queue.drain();
    expect(await door.stats()).toMatchObject({ depth: 0, drained: 2 });
  });

  it('warn once when Redis does not keep what it has acknowledged', async () => {
    const server = await RedisServer.start('--maxmemory-policy', 'allkeys-lru');
    const own = new BullmqBed(version, server.url);
    const events: StoreEvent[] = [];
    const door = bullmqDoor(own.queue());
    door.watch?.((event) => events.push(event));
    await door.open(Date.now());
    await door.stats();
    expect(events).toEqual([
      {
        type: 'warning',
        code: 'WBP_BULLMQ_DURABILITY',
        message: expect.stringMatching(/appendonly is off.*maxmemory-policy is allkeys-lru/) as string,
      },
    ]);
    await own.dispose();
    await server.stop();
  });

  // The lowest version needs INFO itself.
  it.skipIf(version.version === 5)(
    'warn once when the server does not say whether it keeps data',
    async () => {
      const admin = new Redis(redisUrl);
      await admin.acl('SETUSER', bed.prefix, 'on', '>secret', '~*', '&*', '+@all', '-info');
      const events: StoreEvent[] = [];
      const user = { username: bed.prefix, password: 'secret', enableReadyCheck: false };
      const queue = bed.queue({ skipVersionCheck: true }, user);
      const door = bullmqDoor(queue);
      door.watch?.((event) => events.push(event));
      await door.open(Date.now());
      await door.stats();
      expect(events).toMatchObject([{ message: expect.stringContaining('may not call INFO') as string }]);
      expect(await door.put([put('1')], { limits: LIMITS, nowMs: Date.now() })).toEqual(['stored']);
      await queue.close();
      await admin.acl('DELUSER', bed.prefix);
      admin.disconnect();
    },
  );
});
