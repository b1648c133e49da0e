import { describe, expect, it } from 'vitest';
import type { Delivery, IntakeOptions, Refusal, RefusalReason } from '@webhook-backpressure/core';
import { createBench, letIn, occupy, turnedAway, type Bench } from '../harness.ts';

/** Causes each refusal reason of the hold mode. */
const REASONS: Record<
  Exclude<RefusalReason, 'pressure'>,
  (delivery: Delivery) => Refusal | Promise<Refusal>
> = {
  shedding: (delivery) => turnedAway(full().intake.admit(delivery)),
  full: (delivery) => turnedAway(full({ highWaterMark: 1 }).intake.admit(delivery)),
  wait: async (delivery) => {
    const { intake, clock } = createBench({ concurrency: 1, maxWaitMs: 1000 });
    occupy(intake);
    const { permit } = letIn(intake.admit(delivery));
    clock.advance(1100);
    return turnedAway(await permit);
  },
  displaced: async (delivery) => {
    const { intake } = createBench({ concurrency: 1, capacity: 1, overflow: 'drop-oldest' });
    occupy(intake);
    const { permit } = letIn(intake.admit(delivery));
    letIn(intake.admit({ key: 'others' }));
    return turnedAway(await permit);
  },
  shed: (delivery) =>
    turnedAway(createBench({ shed: { shop: true } }).intake.admit({ ...delivery, key: 'shop' })),
  closing: (delivery) => {
    const { intake } = createBench();
    void intake.close();
    return turnedAway(intake.admit(delivery));
  },
};

function full(options: IntakeOptions = {}): Bench {
  const bench = createBench({ capacity: 10, lowWaterMark: 0.1, concurrency: 1, ...options });
  occupy(bench.intake);
  while (bench.intake.admit({ key: 'burst' }).admitted);
  return bench;
}

const reasons = Object.keys(REASONS) as (keyof typeof REASONS)[];

describe('the answer to a refused delivery', () => {
  it.each(reasons)('contains all that the sender needs and nothing about others: %s', async (reason) => {
    const refusal = await REASONS[reason]({ key: 'secret-key', id: 'secret-id', priority: 'normal' });
    const { status, headers, body, retryAfterSeconds } = refusal;
    expect(refusal).toMatchObject({ admitted: false, reason });
    expect(headers).toEqual({
      'Retry-After': String(retryAfterSeconds),
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Cache-Control': 'no-store',
      ...(reason === 'closing' ? { Connection: 'close' } : {}),
    });
    expect(headers['Retry-After']).toMatch(/^[1-9][0-9]*$/);
    const problem = JSON.parse(body) as Record<string, unknown>;
    expect(problem).toEqual({
      type:
        status === 429
          ? 'https://iana.org/assignments/http-problem-types#quota-exceeded'
          : 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
      title: status === 429 ? 'Quota Exceeded' : 'Temporary Reduced Capacity',
      status,
      ...(status === 429 && { 'violated-policies': ['queue'] }),
      detail: expect.stringMatching(/^[A-Z].+\.$/) as string,
      reason,
      retryAfterSeconds,
    });
    // ASCII only, so that the length is known without encoding the body.
    expect(body).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.stringify([headers, body])).not.toMatch(/secret|burst|others/);
  });

  it('names the switched-off source by another problem type than a full queue', () => {
    const { intake } = createBench({ shed: { a: true } });
    const problemOf = (statusCode: 429 | 503): unknown =>
      JSON.parse(turnedAway(intake.admit({ key: 'a', statusCode })).body);
    expect(problemOf(429)).toMatchObject({
      type: 'https://iana.org/assignments/http-problem-types#abnormal-usage-detected',
      title: 'Abnormal Usage Detected',
      reason: 'shed',
    });
    expect(problemOf(503)).toMatchObject({ title: 'Temporary Reduced Capacity', reason: 'shed' });
  });

  it.each(reasons)('has the status set by the delivery or the options: %s', async (reason) => {
    for (const statusCode of [429, 503] as const) {
      expect((await REASONS[reason]({ statusCode })).status).toBe(statusCode);
    }
    const { intake } = full({ statusCode: 429 });
    expect(turnedAway(intake.admit()).status).toBe(429);
    expect(turnedAway(intake.admit({ statusCode: 503 })).status).toBe(503);
  });

  it('is a new object each time', () => {
    const { intake } = full();
    const first = turnedAway(intake.admit());
    first.headers['Retry-After'] = 'spoiled';
    expect(turnedAway(intake.admit()).headers['Retry-After']).toMatch(/^\d+$/);
  });
});

describe("the status 'auto'", () => {
  /** A queue at its high-water mark in which each key holds the given number of places. */
  function holding(places: Record<string, number>): Bench {
    const total = Object.values(places).reduce((sum, count) => sum + count, 0);
    const bench = createBench({ capacity: total, highWaterMark: 1, lowWaterMark: 0.5, concurrency: 1 });
    occupy(bench.intake);
    for (const [key, count] of Object.entries(places)) {
      for (let i = 0; i < count; i += 1) letIn(bench.intake.admit({ key }));
    }
    return bench;
  }

  function statusFor(bench: Bench, key: string | undefined): number {
    return turnedAway(bench.intake.admit({ key })).status;
  }

  it('is 429 for a key that holds its equal share or more, and 503 otherwise', () => {
    const bench = holding({ noisy: 12, even: 5, quiet: 3, default: 0 });
    expect(statusFor(bench, 'noisy')).toBe(429);
    expect(statusFor(bench, 'even')).toBe(503);
    expect(statusFor(bench, 'quiet')).toBe(503);
    expect(statusFor(bench, 'unknown')).toBe(503);
  });

  it('is 429 at exactly the equal share', () => {
    const bench = holding({ one: 5, two: 5, three: 5 });
    for (const key of ['one', 'two', 'three']) expect(statusFor(bench, key)).toBe(429);
    const uneven = holding({ one: 6, two: 5, three: 4 });
    expect(['one', 'two', 'three'].map((key) => statusFor(uneven, key))).toEqual([429, 429, 503]);
  });

  it('is 503 for the key default, however much it holds', () => {
    const bench = holding({ default: 20 });
    expect(statusFor(bench, undefined)).toBe(503);
    expect(statusFor(bench, 'default')).toBe(503);
  });

  it('is 503 while closing, even for a key that holds the whole queue', () => {
    const bench = holding({ noisy: 10 });
    void bench.intake.close();
    expect(statusFor(bench, 'noisy')).toBe(503);
  });

  it('counts an expired delivery towards the share of its key', async () => {
    const { intake, clock } = createBench({ concurrency: 1, maxWaitMs: 500 });
    occupy(intake);
    const noisy = letIn(intake.admit({ key: 'noisy' }));
    clock.advance(600);
    expect(turnedAway(await noisy.permit).status).toBe(429);
  });
});

describe('an invalid delivery', () => {
  it.each<[string, unknown, string]>([
    ['null', null, 'null'],
    ['a string', 'shop', '"shop"'],
    ['a key that is a number', { key: 5 }, 'delivery.key'],
    ['a key that is null', { key: null }, 'delivery.key'],
    ['an id that is a number', { id: 5 }, 'delivery.id'],
    ['an unknown priority', { priority: 'urgent' }, 'delivery.priority'],
    ['a wait that is negative', { maxWaitMs: -1 }, 'delivery.maxWaitMs'],
    ['a wait that is NaN', { maxWaitMs: Number.NaN }, 'delivery.maxWaitMs'],
    ['a wait that is a string', { maxWaitMs: '5' }, 'delivery.maxWaitMs'],
    ['another status', { statusCode: 500 }, 'delivery.statusCode'],
    ['retries that is a string', { retries: 'none' }, 'delivery.retries'],
  ])('throws and is not counted: %s', (_, delivery, named) => {
    const { intake, clock } = createBench();
    const before = intake.snapshot();
    expect(() => intake.admit(delivery as Delivery)).toThrow(
      expect.objectContaining({
        code: 'ERR_WBP_DELIVERY',
        message: expect.stringContaining(named) as string,
      }),
    );
    expect(intake.snapshot()).toEqual(before);
    expect(clock.pending).toBe(0);
  });
});
