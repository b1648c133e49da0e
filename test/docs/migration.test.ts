import { until } from '@webhook-backpressure/core/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { MigrationBench } from './migration-bench.ts';

const BURST = 60;
/** A busy machine may take seconds for a burst. */
const SOON = { timeout: 20_000, interval: 10 };

const benches: MigrationBench[] = [];

async function start(heading: string, side: 'before' | 'after'): Promise<MigrationBench> {
  const bench = new MigrationBench(heading, side);
  benches.push(bench);
  await bench.listen();
  return bench;
}

afterEach(async () => {
  await Promise.all(benches.splice(0).map((bench) => bench.close()));
});

const statusesOf = (answers: readonly { status: number }[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** Lets the answers of requests that were sent arrive, without waiting for a time. */
const arrived = (bench: MigrationBench, arrivals: number): Promise<unknown> =>
  until(bench.intake, ({ totals }) => totals.arrivals === arrivals);

describe('p-queue', () => {
  const heading = 'p-queue and p-limit';

  it('before: queues all deliveries, and works for a sender that has hung up', async () => {
    const bench = await start(heading, 'before');
    const controller = new AbortController();
    const { answers, done } = bench.burst(BURST);
    await expect.poll(() => bench.works, SOON).toBe(10);
    const gone = bench.send({ signal: controller.signal });
    await expect.poll(() => bench.arrivals, SOON).toBe(BURST + 1);
    controller.abort();
    await expect(gone).rejects.toThrow();
    expect(done).toEqual([]);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(BURST);
    await expect.poll(() => bench.works, SOON).toBe(BURST + 1);
    expect(bench.mostRunning).toBe(10);
  });

  it('after: refuses what does not fit immediately, and does not work for a sender that has hung up', async () => {
    const bench = await start(heading, 'after');
    bench.intake.update({ capacity: 40, highWaterMark: 1 });
    const controller = new AbortController();
    const gone = Array.from({ length: 10 }, () => bench.send());
    await arrived(bench, 10);
    const abandoned = bench.send({ signal: controller.signal });
    await arrived(bench, 11);
    controller.abort();
    await expect(abandoned).rejects.toThrow();
    await until(bench.intake, ({ totals }) => totals.withdrawn.abandoned === 1);
    const { answers, done } = bench.burst(BURST);
    await expect.poll(() => done.length, SOON).toBe(20);
    expect(done.every(({ status, retryAfter }) => status === 503 && Number(retryAfter) >= 1)).toBe(true);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(40);
    await Promise.all(gone);
    expect([bench.works, bench.mostRunning]).toEqual([50, 10]);
  });
});

describe('express-queue', () => {
  const heading = 'express-queue';

  it('before: refuses without Retry-After, and keeps the place of a handler that does not end', async () => {
    const bench = await start(heading, 'before');
    const controller = new AbortController();
    const stuck = Array.from({ length: 10 }, () => bench.send({ signal: controller.signal }));
    await expect.poll(() => bench.works, SOON).toBe(10);
    controller.abort();
    await Promise.allSettled(stuck);
    const { answers, done } = bench.burst(BURST);
    await expect.poll(() => done.length, SOON).toBe(20);
    expect(done.every(({ status, retryAfter }) => status === 503 && retryAfter === undefined)).toBe(true);
    expect(bench.works).toBe(10);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(40);
  });

  it('after: refuses with Retry-After, and takes the worker back after maxHandlingMs', async () => {
    const bench = await start(heading, 'after');
    bench.intake.update({ capacity: 40, highWaterMark: 1, maxHandlingMs: 100 });
    const stuck = Array.from({ length: 10 }, () => bench.send());
    await until(bench.intake, ({ totals }) => totals.overdue === 10);
    bench.intake.update({ maxHandlingMs: 60_000 });
    const { answers, done } = bench.burst(BURST);
    await expect.poll(() => done.length, SOON).toBe(10);
    expect(done.every(({ status, retryAfter }) => status === 503 && Number(retryAfter) >= 1)).toBe(true);
    expect(bench.works).toBe(20);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(50);
    await Promise.all(stuck);
  });
});

describe('a handwritten 429', () => {
  const heading = 'A handwritten 429';

  it('before: refuses as soon as ten handlers run, with the same seconds for all', async () => {
    const bench = await start(heading, 'before');
    const { answers, done } = bench.burst(BURST);
    await expect.poll(() => done.length, SOON).toBe(50);
    expect(new Set(done.map(({ retryAfter }) => retryAfter))).toEqual(new Set(['10']));
    expect(statusesOf(done, 429)).toBe(50);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(10);
  });

  it('after: queues the burst', async () => {
    const bench = await start(heading, 'after');
    const { answers } = bench.burst(BURST);
    await arrived(bench, BURST);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(BURST);
    expect(bench.mostRunning).toBe(10);
  });

  it('after: refuses with the same body, and different seconds', async () => {
    const bench = await start(heading, 'after');
    bench.intake.update({ capacity: 10, maxStartsPerSecond: 5 });
    const { done } = bench.burst(BURST);
    await arrived(bench, BURST);
    await expect.poll(() => statusesOf(done, 503), SOON).toBeGreaterThanOrEqual(40);
    expect(new Set(done.map(({ body }) => body))).toEqual(new Set(['{"error":"busy"}']));
    expect(new Set(done.map(({ retryAfter }) => retryAfter)).size).toBeGreaterThan(2);
  });
});

describe('express-rate-limit', () => {
  const heading = 'express-rate-limit';

  it('before: runs all handlers within the limit concurrently, and refuses the others although none has ended', async () => {
    const bench = await start(heading, 'before');
    const { answers, done } = bench.burst(BURST);
    await expect.poll(() => [bench.running, done.length], SOON).toEqual([50, 10]);
    expect(
      new Set(done.map(({ status, retryAfter }) => `${String(status)} ${String(retryAfter)}`)).size,
    ).toBe(1);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(50);
    // Idle again, and still refused.
    expect(await bench.send()).toMatchObject({ status: 429 });
  });

  it('after: runs ten at a time, and accepts while it is idle', async () => {
    const bench = await start(heading, 'after');
    const { answers } = bench.burst(BURST);
    await arrived(bench, BURST);
    bench.finish();
    expect(statusesOf(await answers, 204)).toBe(BURST);
    expect(bench.mostRunning).toBe(10);
    expect(await bench.send()).toMatchObject({ status: 204 });
  });
});
