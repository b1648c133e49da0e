import { describe, expect, it } from 'vitest';
import type { Delivery, IntakeOptions, Permit, Refusal } from '@webhook-backpressure/core';
import { FairQueue } from '../../../packages/core/src/queue/fair-queue.ts';
import type { Line, Queued } from '../../../packages/core/src/queue/line.ts';
import { TooLate } from '../../../packages/core/src/queue/too-late.ts';
import { createBench, expectBalance, exponential, seeded, type Bench } from '../harness.ts';
import { percentile, runUntil } from '../workshop.ts';

const WORKERS = 10;
const SERVICE_MS = 2000;
/** Ten workers of two seconds: 5/s, so in 13 s after the first ten there are sixty more. */
const IN_TIME = 70;

interface Outcome {
  readonly bench: Bench;
  /** When queued deliveries were refused, in milliseconds. */
  readonly toldMs: number[];
  /** And their Retry-After. */
  readonly toldS: number[];
  readonly started: Map<string, number>;
}

/** Admits many deliveries at the same time, and waits until all have ended. */
async function burst(
  count: number,
  delivery: (i: number) => Delivery,
  options: IntakeOptions = {},
  serviceMs: () => number = () => SERVICE_MS,
): Promise<Outcome> {
  const bench = createBench({
    concurrency: WORKERS,
    maxWaitMs: 13_000,
    highWaterMark: 1,
    random: seeded(1),
    ...options,
  });
  const { clock, intake } = bench;
  const toldMs: number[] = [];
  const toldS: number[] = [];
  const started = new Map<string, number>();
  for (let i = 0; i < count; i += 1) {
    const given = delivery(i);
    const work = (result: Permit | Refusal): void => {
      if (!result.admitted) {
        toldMs.push(clock.now());
        toldS.push(result.retryAfterSeconds);
        expect(result).toMatchObject({ reason: 'wait' });
        return;
      }
      const { key = 'default' } = given;
      started.set(key, (started.get(key) ?? 0) + 1);
      clock.setTimeout(() => {
        result.release();
      }, serviceMs());
    };
    const result = intake.admit(given);
    if (!result.admitted) throw new Error('refused at the door');
    if (result.permit instanceof Promise) void result.permit.then(work);
    else work(result.permit);
  }
  await runUntil(clock, 30_000);
  expectBalance(intake.snapshot());
  return { bench, toldMs, toldS, started };
}

function sum(counts: Map<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

describe('a thousand concurrent deliveries, of which seventy can start in time,', () => {
  // By their deadlines alone, 930 would be refused after 13 s.
  it.each([1, 3])('are refused soon after the first have completed, with %i keys', async (keys) => {
    const { bench, toldMs, started } = await burst(1000, (i) => ({
      key: `key ${String(i % keys)}`,
      id: String(i),
    }));
    expect(sum(started)).toBe(IN_TIME);
    expect(toldMs).toHaveLength(1000 - IN_TIME);
    // When the first deliveries that began after the first completion have completed.
    expect(percentile(toldMs, 0.5)).toBeLessThanOrEqual(4300);
    // The others when the rate is known better.
    expect(percentile(toldMs, 0.95)).toBeLessThanOrEqual(6100);
    expect(bench.intake.snapshot().totals.withdrawn.expired).toBe(toldMs.length);
  });

  it('get a Retry-After within the horizon of a rate measured for seconds, at different times', async () => {
    const { toldS } = await burst(1000, (i) => ({ id: String(i) }), { retryAfter: { strategy: 'booked' } });
    expect(Math.max(...toldS)).toBeLessThanOrEqual(60);
    expect(new Set(toldS).size).toBeGreaterThan(5);
  });

  it('start no fewer if handling times are random', async () => {
    const random = seeded(3);
    const draws = Array.from({ length: 1000 }, () => exponential(random, SERVICE_MS));
    // Senders that never retry are not refused early, so this is how many can start.
    const most = await burst(1000, () => ({ retries: false }), {}, drawn(draws));
    const { started, toldMs } = await burst(1000, () => ({}), {}, drawn(draws));
    expect(Math.max(...most.toldMs, 0)).toBe(13_000);
    expect(percentile(most.toldMs, 0.01)).toBe(13_000);
    expect(sum(started)).toBeGreaterThanOrEqual(0.97 * sum(most.started));
    expect(percentile(toldMs, 0.5)).toBeLessThanOrEqual(3000);
  });

  it('leave the deliveries of a short line in the queue', async () => {
    const { started } = await burst(1000, (i) => ({ key: i % 100 === 7 ? 'small' : 'big' }));
    expect(started.get('small')).toBe(10);
    expect(sum(started)).toBe(IN_TIME);
  });

  it('take no start from deliveries that may wait longer', async () => {
    const { started } = await burst(1000, (i) =>
      i % 2 === 0 ? { key: 'short', maxWaitMs: 3000 } : { key: 'long' },
    );
    expect(started.get('short')).toBeGreaterThanOrEqual(10);
    expect(sum(started)).toBe(IN_TIME);
  });
});

function drawn(draws: readonly number[]): () => number {
  let at = 0;
  return () => draws[at++] ?? SERVICE_MS;
}

describe('no delivery is refused early', () => {
  it('by a capacity below the depth', async () => {
    const bench = createBench({ concurrency: 1, maxWaitMs: 60_000 });
    const { clock, intake } = bench;
    for (let i = 0; i < 50; i += 1) intake.admit();
    intake.update({ capacity: 1 });
    await runUntil(clock, 5000);
    expect(intake.snapshot()).toMatchObject({ depth: 49 });
  });

  it('after two completions, however slow, nor while the workers are stalled', async () => {
    const bench = createBench({ concurrency: 1, maxWaitMs: 60_000, maxHandlingMs: 600_000 });
    const { clock, intake } = bench;
    const permits: Permit[] = [];
    for (let i = 0; i < 50; i += 1)
      void Promise.resolve(letInPermit(bench)).then((permit) => permits.push(permit));
    for (let i = 0; i < 2; i += 1) {
      await runUntil(clock, clock.now() + 5000);
      permits.shift()?.release();
    }
    await runUntil(clock, 30_000);
    expect(intake.snapshot()).toMatchObject({ depth: 47 });
  });
});

function letInPermit({ intake }: Bench): Promise<Permit> {
  const result = intake.admit();
  if (!result.admitted) throw new Error('refused');
  return Promise.resolve(result.permit).then((permit) => {
    if (!permit.admitted) throw new Error('refused');
    return permit;
  });
}

describe('a drain rate that is lowered', () => {
  it('leads to immediate refusals of deliveries that can no longer start in time', async () => {
    const bench = createBench({ concurrency: WORKERS, maxWaitMs: 10_000, drainRate: 100 });
    const { clock, intake } = bench;
    for (let i = 0; i < 600; i += 1) {
      const result = intake.admit();
      if (!result.admitted) continue;
      void Promise.resolve(result.permit).then((permit) => {
        if (permit.admitted)
          clock.setTimeout(() => {
            permit.release();
          }, 10);
      });
    }
    await runUntil(clock, 1000);
    expect(intake.snapshot().depth).toBeGreaterThan(450);
    intake.update({ drainRate: 5 });
    await runUntil(clock, 1500);
    // Nine seconds are left, so 45 can start.
    expect(intake.snapshot().depth).toBeGreaterThanOrEqual(40);
    expect(intake.snapshot().depth).toBeLessThanOrEqual(50);
  });
});

describe('the work of a step', () => {
  interface Item extends Queued<Item> {
    readonly expiresAtMs: number;
    readonly isRepeated: boolean;
  }

  function filled(waiting: number, keys: number, isRepeated = true): FairQueue<Item> {
    const queue = new FairQueue<Item>();
    for (let i = 0; i < waiting; i += 1) {
      const links = { line: null, ahead: null, behind: null, older: null, younger: null };
      queue.push({ key: String(i % keys), expiresAtMs: 1000, isRepeated, ...links });
    }
    return queue;
  }

  it.each([
    [100_000, 1],
    [100_000, 100_000],
    [100_000, 300],
  ])('is bounded with %i waiting of %i keys', (waiting, keys) => {
    const queue = filled(waiting, keys);
    let looks = 0;
    const lines = queue.lines.bind(queue);
    queue.lines = (): IterableIterator<Line<Item>> => counting(lines(), () => (looks += 1));
    const late = new TooLate<Item>(queue);
    for (let i = 0; i < 1000; i += 1) {
      const { size } = queue;
      looks = 0;
      late.step(0, { perMs: 0.1, scale: 1, share: 1 }, (item) => {
        queue.remove(item);
      });
      expect(size - queue.size + looks).toBeLessThanOrEqual(257 * 2);
    }
    // A hundred start in the second that is left, and the first delivery of any line may be one of them.
    expect(queue.size).toBeLessThanOrEqual(keys > 1000 ? 100_000 : Math.max(101, keys));
    expect(queue.size).toBeGreaterThanOrEqual(100);
  });

  it('is bounded if no delivery may be refused', () => {
    const queue = filled(10_000, 1, false);
    let looks = 0;
    for (let item = queue.lineOf('0')?.last ?? null; item !== null; item = item.ahead) {
      Object.defineProperty(item, 'isRepeated', {
        get: () => {
          looks += 1;
          return false;
        },
      });
    }
    const late = new TooLate<Item>(queue);
    for (let i = 0; i < 5; i += 1) late.step(0, { perMs: 0.001, scale: 1, share: 1 }, () => undefined);
    expect(looks).toBeLessThanOrEqual(5 * 257);
    expect(queue.size).toBe(10_000);
  });
});

function* counting<T>(from: Iterable<T>, count: () => void): IterableIterator<T> {
  for (const one of from) {
    count();
    yield one;
  }
}
