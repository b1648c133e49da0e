import { setImmediate } from 'node:timers/promises';
import { BackpressureError } from '@webhook-backpressure/base';
import type { PutResult } from '@webhook-backpressure/inbox';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BullmqStore } from '../../packages/bullmq/src/bullmq-store.ts';
import { type BullmqDoorOptions } from '@webhook-backpressure/bullmq';
import { settle } from '../../packages/bullmq/src/options.ts';
import { isRedisSkipped } from '../redis/bed.ts';
import { RedisServer } from '../redis/server.ts';
import { BullmqBed, LIMITS, put, VERSIONS } from './bed.ts';

const SHORT_MS = 300;
const LONG_MS = 10_000;
const SENDERS = 20;
const POLL = { timeout: 20_000, interval: 50 };
/** The default of ioredis: commands wait until it is connected again. */
const OFFLINE_QUEUE = { enableOfflineQueue: true, maxRetriesPerRequest: 20 };

describe.skipIf(isRedisSkipped).each(VERSIONS)('trouble of Redis below BullMQ $version', (version) => {
  let server: RedisServer;
  let bed: BullmqBed;
  let admin: Redis;

  beforeEach(async () => {
    server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
    bed = new BullmqBed(version, server.url);
    admin = new Redis(server.url, { retryStrategy: () => 10 });
    admin.on('error', () => undefined);
  });

  afterEach(async () => {
    server.resume();
    admin.disconnect();
    await bed.dispose();
    await server.stop();
  });

  function storeOn(
    queue = bed.queue(),
    { deadlineMs = LONG_MS, ...options }: BullmqDoorOptions & { deadlineMs?: number } = {},
  ): BullmqStore {
    const machine = { nowMs: () => performance.now(), deadlineMs };
    return new BullmqStore(queue, settle(queue, options), machine);
  }

  /** Puts deliveries with these ids, and returns the results or the code of the error. */
  async function putAll(store: BullmqStore, ...ids: string[]): Promise<readonly PutResult[] | string> {
    try {
      return await store.put(
        ids.map((id) => put(id)),
        { limits: LIMITS },
      );
    } catch (error) {
      return error instanceof BackpressureError ? error.code : String(error);
    }
  }

  /** Resolves when the connections of the bed work again. */
  async function untilStored(store: BullmqStore, id: string): Promise<void> {
    await expect.poll(() => putAll(store, id), POLL).toEqual(['stored']);
  }

  it('loses no acknowledged delivery when Redis is killed during puts, and stores each once', async () => {
    const store = storeOn(bed.queue({}, OFFLINE_QUEUE));
    await store.open();
    const acknowledged: string[] = [];
    let refusals = 0;
    let isOver = false;
    const senders = Array.from({ length: SENDERS }, async (_, sender) => {
      for (let at = 0; !isOver;) {
        const id = `${String(sender)}-${String(at)}`;
        const answer = await putAll(store, id);
        // A refusal takes no time, and would let nothing else run.
        await setImmediate();
        if (typeof answer === 'string') {
          // The sender retries: Redis may or may not have stored the delivery.
          refusals += 1;
        } else {
          expect(answer).toEqual([expect.stringMatching(/^(stored|duplicate)$/)]);
          acknowledged.push(id);
          at += 1;
        }
      }
    });
    await expect.poll(() => acknowledged.length, POLL).toBeGreaterThan(100);
    await server.kill();
    await expect.poll(() => refusals, POLL).toBeGreaterThan(SENDERS);
    await server.restart();
    const before = acknowledged.length;
    // Each sender has at most one delivery of unknown outcome, which is acknowledged first.
    await expect.poll(() => acknowledged.length, POLL).toBeGreaterThan(before + 5 * SENDERS);
    isOver = true;
    await Promise.all(senders);
    const jobs = await bed.queue({}, OFFLINE_QUEUE).getWaiting();
    const ids = jobs.map(({ data }) => (data as { id: string }).id);
    expect(ids.sort()).toEqual(acknowledged.sort());
  });

  it('refuses immediately while Redis is away, although the connection queues commands, and queues none', async () => {
    const queue = bed.queue({}, OFFLINE_QUEUE);
    const store = storeOn(queue);
    await store.open();
    const closed = new Promise<void>((resolve) => queue.once('ioredis:close', resolve));
    await server.kill();
    await closed;
    const startedMs = performance.now();
    for (let tries = 0; tries < 50; tries += 1)
      expect(await putAll(store, String(tries))).toBe('ERR_WBP_BULLMQ_UNAVAILABLE');
    expect(performance.now() - startedMs).toBeLessThan(LONG_MS);
    await server.restart();
    await untilStored(store, 'after');
    expect((await store.stats()).depth).toBe(1);
  });

  it('refuses in time what Redis does not answer, and calls it a duplicate if it was stored late', async () => {
    const store = storeOn(bed.queue(), { deadlineMs: SHORT_MS });
    await store.open();
    server.pause();
    expect(await putAll(store, 'late')).toBe('ERR_WBP_BULLMQ_UNAVAILABLE');
    const startedMs = performance.now();
    expect(await putAll(store, 'never sent')).toBe('ERR_WBP_BULLMQ_UNAVAILABLE');
    expect(performance.now() - startedMs).toBeLessThan(SHORT_MS);
    server.resume();
    await untilStored(store, 'after');
    expect(await putAll(store, 'late', 'never sent')).toEqual(['duplicate', 'stored']);
  });

  it('opens when Redis starts after it', async () => {
    await server.kill();
    const store = storeOn(bed.queue({}, OFFLINE_QUEUE), { deadlineMs: SHORT_MS });
    await expect(store.open()).rejects.toMatchObject({ code: 'ERR_WBP_BULLMQ_UNAVAILABLE' });
    await server.restart();
    await expect.poll(() => store.open().catch(() => null), POLL).toMatchObject({ depth: 0 });
    expect(await putAll(store, '1')).toEqual(['stored']);
  });

  it('stores again after Redis was flushed, and what was drained never falls', async () => {
    const store = storeOn();
    await store.open();
    await putAll(store, '1', '2');
    await admin.del((await admin.keys('*:wait')) as [string]);
    expect(await store.stats()).toMatchObject({ depth: 0, drained: 2 });
    await admin.flushall();
    expect(await putAll(store, '1')).toEqual(['stored']);
    expect(await store.stats()).toMatchObject({ depth: 1, drained: 2 });
    expect(await putAll(store, '2', '3')).toEqual(['stored', 'stored']);
    await admin.del((await admin.keys('*:wait')) as [string]);
    expect(await store.stats()).toMatchObject({ depth: 0, drained: 5 });
  });

  it('refuses before the memory of Redis is full, and reports when it is', async () => {
    const used = Number(/used_memory:(\d+)/.exec(await admin.info())?.[1]);
    await admin.config('SET', 'maxmemory', used + 60_000);
    const patient = storeOn();
    await patient.open();
    expect(await putAll(patient, '1')).toEqual(['full']);
    const greedy = storeOn(bed.queue(), { limits: { memory: 1 } });
    await admin.config('SET', 'maxmemory', 1);
    // Counting works, so that the inbox can open and sees how full it is.
    await greedy.open();
    expect(await putAll(greedy, '1')).toEqual(['full']);
    await admin.config('SET', 'maxmemory', used * 10);
    await greedy.stats();
    await admin.config('SET', 'maxmemory', 1);
    expect(await putAll(greedy, '1')).toBe('ERR_WBP_BULLMQ_UNAVAILABLE');
    await admin.config('SET', 'maxmemory', 0);
    expect(await putAll(greedy, '1')).toEqual(['stored']);
  });

  it('acknowledges nothing while Redis is a read-only replica', async () => {
    const store = storeOn();
    await store.open();
    await admin.replicaof('127.0.0.1', '1');
    await expect.poll(() => putAll(store, '1'), POLL).toBe('ERR_WBP_BULLMQ_UNAVAILABLE');
    await admin.replicaof('NO', 'ONE');
    await untilStored(store, '1');
  });

  it('reports a wrong password, and a queue that was closed', async () => {
    await admin.config('SET', 'requirepass', 'right');
    // A connection that is closed during the handshake of its next attempt rejects a promise that ioredis does not handle.
    const refused = bed.queue({}, { password: 'wrong', retryStrategy: () => null });
    await expect(storeOn(refused, { deadlineMs: SHORT_MS }).open()).rejects.toMatchObject({
      code: 'ERR_WBP_BULLMQ_UNAVAILABLE',
    });
    const queue = bed.queue({}, { password: 'right' });
    const store = storeOn(queue);
    await store.open();
    expect(await putAll(store, '1')).toEqual(['stored']);
    await queue.close();
    expect(await putAll(store, '2')).toBe('ERR_WBP_BULLMQ_UNAVAILABLE');
  });
});
