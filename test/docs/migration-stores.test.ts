import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as bullmqPackage from '@webhook-backpressure/bullmq';
import { until } from '@webhook-backpressure/core/testing';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { Queue, type Job } from 'bullmq';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { isRedisSkipped, redisPrefix, redisUrl } from '../redis/bed.ts';
import { MigrationBench, SECRET } from './migration-bench.ts';

const BURST = 60;

const benches: MigrationBench[] = [];

async function start(
  heading: string,
  side: 'before' | 'after',
  modules: Record<string, unknown> = {},
): Promise<MigrationBench> {
  const bench = new MigrationBench(heading, side, modules);
  benches.push(bench);
  await bench.listen();
  return bench;
}

/** A delivery as GitHub sends it. */
function delivery(id: string, body = `{"id":"${id}"}`): { body: string; headers: Record<string, string> } {
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const headers = {
    'x-github-event': 'push',
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${signature}`,
  };
  return { body, headers };
}

const sendAll = (bench: MigrationBench, count: number): Promise<{ status: number }[]> =>
  Promise.all(Array.from({ length: count }, (_, id) => bench.send(delivery(String(id)))));

afterEach(async () => {
  await Promise.all(benches.splice(0).map((bench) => bench.close()));
});

describe('200 first, work later', () => {
  const heading = '200 first, work later';
  const folder = mkdtempSync(join(tmpdir(), 'migration-'));
  const modules = {
    '@webhook-backpressure/sqlite': {
      sqliteStore: ({ path }: { path: string }) => sqliteStore({ path: join(folder, path) }),
    },
  };

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('before: works on all deliveries concurrently, also on repeated ones', async () => {
    const bench = await start(heading, 'before');
    const answers = await sendAll(bench, BURST);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await bench.send(delivery('0'))).status).toBe(200);
    expect(bench.running).toBe(BURST + 1);
  });

  it('after: stores, works on ten at a time, and does at the next start what it has not done', async () => {
    const bench = await start(heading, 'after', modules);
    const answers = await sendAll(bench, BURST);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect((await bench.send(delivery('0'))).body).toContain('duplicate');
    await until(bench.inbox, ({ active }) => active === 10);
    expect(bench.running).toBe(10);
    await bench.inbox.close({ timeoutMs: 0 });

    const again = await start(heading, 'after', modules);
    await until(again.inbox, ({ totals }) => totals.started > 0);
    again.finish();
    await until(again.inbox, ({ totals }) => totals.completed === BURST);
    expect(again.mostRunning).toBeLessThanOrEqual(10);
  });
});

describe.skipIf(isRedisSkipped)('a BullMQ endpoint', () => {
  const heading = 'A BullMQ endpoint';
  const { hostname, port } = new URL(redisUrl);
  const open: Queue[] = [];
  let isOver = false;

  /** The block's queue, on the Redis of the tests or on a port on which no server listens. */
  function modules(at: { host: string; port: number } = { host: hostname, port: Number(port) }): object {
    isOver = false;
    class OtherQueue extends Queue {
      constructor(name: string, { connection }: { connection: object }) {
        // As BullMQ's own strategy begins, but it ends with the test.
        const retryStrategy = (): number | null => (isOver ? null : 1000);
        super(name, { prefix: redisPrefix(), connection: { ...connection, ...at, retryStrategy } });
        this.on('error', () => undefined);
        open.push(this);
      }
    }
    return { bullmq: { Queue: OtherQueue }, '@webhook-backpressure/bullmq': bullmqPackage };
  }

  const jobs = async (): Promise<Job[]> => (await open.at(-1)?.getWaiting()) ?? [];

  afterEach(() => {
    isOver = true;
    // A queue that never had a connection closes at its next try.
    for (const queue of open.splice(0)) queue.close().catch(() => undefined);
  });

  it('before: adds a job for each repetition, without a signature and a bound', async () => {
    const bench = await start(heading, 'before', { ...modules() });
    for (let times = 0; times < 2; times += 1) expect((await bench.send(delivery('a'))).status).toBe(200);
    expect((await bench.send({ body: '{"forged":true}' })).status).toBe(200);
    expect(await jobs()).toHaveLength(3);
  });

  it('after: adds one job with the signed bytes, rejects a forged delivery, and refuses at the capacity', async () => {
    const bench = await start(heading, 'after', { ...modules() });
    expect((await bench.send(delivery('a', '{"a": 1}'))).status).toBe(202);
    expect((await bench.send(delivery('a', '{"a": 1}'))).body).toContain('duplicate');
    expect((await bench.send({ body: '{"forged":true}' })).status).toBe(401);
    const [job] = await jobs();
    expect(bullmqPackage.deliveryOf(job as Job).text()).toBe('{"a": 1}');
    bench.inbox.update({ capacity: 1, highWaterMark: 1 });
    const refused = await bench.send(delivery('b'));
    expect([refused.status, Number(refused.retryAfter) >= 1]).toEqual([429, true]);
    expect(await jobs()).toHaveLength(1);
  });

  it('while Redis is away: refuses immediately after, and answers nothing before', async () => {
    const nowhere = { host: '127.0.0.1', port: 1 };
    const before = await start(heading, 'before', { ...modules(nowhere) });
    const after = new MigrationBench(heading, 'after', { ...modules(nowhere) });
    benches.push(after);
    const hanging = new AbortController();
    let isAnswered = false;
    const waiting = before.send({ ...delivery('a'), signal: hanging.signal }).then(() => (isAnswered = true));
    await after.listenWithoutStore();
    expect(await after.send(delivery('a'))).toMatchObject({ status: 503 });
    expect(isAnswered).toBe(false);
    hanging.abort();
    await expect(waiting).rejects.toThrow();
  });
});
