import { describe, expect, it } from 'vitest';
import { LearningPace } from '../../../packages/sender/src/pace/learning-pace.ts';
import { drive, seeded } from './driven.ts';

const FAST = { amount: 100_000, periodMs: 1000, burst: 100_000 };
const MINUTE = 60_000;

function exponential(meanMs: number, seed: number): () => number {
  const random = seeded(seed);
  return () => -meanMs * Math.log(1 - random());
}

describe('the in-flight cap', () => {
  it('begins at 8 in flight, and at the set cap if that is lower', () => {
    expect(new LearningPace(FAST, 1000).maxInFlight).toBe(8);
    expect(new LearningPace(FAST, 3).maxInFlight).toBe(3);
  });

  it('grows by one for each success, up to the set cap', () => {
    const pace = new LearningPace(FAST, 40);
    const driven = drive(pace, { workers: 1000, serviceMs: () => 100 }, 0, 100);
    expect(driven.successes).toBe(8);
    expect(pace.maxInFlight).toBe(16);
    drive(pace, { workers: 1000, serviceMs: () => 100 }, 200, 2000);
    expect(pace.maxInFlight).toBe(40);
  });

  it('does not grow beyond twice what is used', () => {
    const pace = new LearningPace(FAST, 1000);
    for (let now = 0; now < 100_000; now += 100) pace.succeeded(now, 50, 3, undefined, now + 50);
    expect(pace.maxInFlight).toBe(8);
  });

  it('fills no queue of an endpoint that holds requests, although the set cap is 1,000', () => {
    const pace = new LearningPace(FAST, 1000);
    const driven = drive(pace, { workers: 10, serviceMs: () => 100 }, 0, 10 * MINUTE);
    expect(driven.mostInFlight).toBeLessThan(80);
    expect(Math.max(...driven.inFlight.slice(5))).toBeLessThanOrEqual(40);
    // 100 per second is all that 10 workers can do.
    expect(driven.successes).toBeGreaterThan(0.995 * 60_000);
  });

  it.each([1, 2, 3])('does the same when handling times vary, with seed %i', { timeout: 20_000 }, (seed) => {
    const pace = new LearningPace(FAST, 1000);
    const driven = drive(pace, { workers: 10, serviceMs: exponential(100, seed) }, 0, 10 * MINUTE);
    expect(driven.mostInFlight).toBeLessThan(200);
    expect(driven.successes).toBeGreaterThan(0.98 * 60_000);
  });

  it.each([1, 2, 3])('reaches the set cap when times vary and nothing queues, with seed %i', (seed) => {
    const pace = new LearningPace(FAST, 100);
    const driven = drive(pace, { workers: 1000, serviceMs: exponential(100, seed) }, 0, 2 * MINUTE);
    expect(driven.successes).toBeGreaterThan(0.8 * 120_000);
  });

  it('returns to the set cap when answers become slow for another reason than its requests', () => {
    const pace = new LearningPace(FAST, 50);
    drive(pace, { workers: 1000, serviceMs: () => 100 }, 0, MINUTE);
    expect(pace.maxInFlight).toBe(50);
    const slow = drive(pace, { workers: 1000, serviceMs: () => 600 }, MINUTE, 4 * MINUTE);
    expect(pace.maxInFlight).toBe(50);
    expect(slow.successes).toBeGreaterThan(0.9 * 180 * (50 / 0.6));
  });

  it('takes slower answers for usual at most once in two minutes, because others may fill the endpoint', () => {
    const pace = new LearningPace(FAST, 50);
    const driveUntil = (serviceMs: number, fromMs: number, toMs: number): number => {
      drive(pace, { workers: 1000, serviceMs: () => serviceMs }, fromMs, toMs);
      return pace.maxInFlight;
    };
    expect(driveUntil(100, 0, 20_000)).toBe(50);
    expect(driveUntil(600, 20_000, 60_000)).toBe(50);
    expect(driveUntil(3000, 60_000, 120_000)).toBeLessThan(20);
    expect(driveUntil(3000, 120_000, 180_000)).toBe(50);
  });

  it('grows again when an old least no longer holds', () => {
    const pace = new LearningPace(FAST, 400);
    drive(pace, { workers: 8, serviceMs: () => 50 }, 0, MINUTE);
    const before = pace.maxInFlight;
    expect(before).toBeLessThan(40);
    // The work became three times as long, and the endpoint was enlarged.
    drive(pace, { workers: 500, serviceMs: () => 150 }, MINUTE, 6 * MINUTE);
    expect(pace.maxInFlight).toBe(400);
  });

  it('ignores differences below 25 ms', () => {
    const pace = new LearningPace(FAST, 100);
    const random = seeded(1);
    let isQuick = true;
    drive(pace, { workers: 1000, serviceMs: () => (isQuick ? 1 : 5 + 30 * random()) }, 0, 10);
    isQuick = false;
    drive(pace, { workers: 1000, serviceMs: () => 5 + 30 * random() }, 20, 2000);
    expect(pace.maxInFlight).toBe(100);
  });
});

describe('the in-flight cap at a receiver that says how full its queue is', () => {
  const hints = (fill: number): { remaining: number; resetMs: number; fill: number } => {
    return { remaining: Math.round(800 * (1 - fill)), resetMs: 1000, fill };
  };

  /** Answers to requests that fill the cap, one round trip after another. Returns the time after them. */
  function answer(pace: LearningPace, tookMs: number, fill: number, rounds: number, fromMs: number): number {
    let now = fromMs;
    for (let round = 0; round < rounds; round += 1) {
      const startedAtMs = now;
      now += tookMs;
      for (let i = pace.maxInFlight; i > 0; i -= 1)
        pace.succeeded(startedAtMs, tookMs, pace.maxInFlight, hints(fill), now);
    }
    return now;
  }

  it('grows while the queue is nearly empty, however slow answers are', () => {
    const pace = new LearningPace(FAST, 100);
    const now = answer(pace, 100, 0, 1, 0);
    answer(pace, 1000, 0.05, 10, now);
    expect(pace.maxInFlight).toBe(100);
  });

  it('falls to 0.7 once per round trip while the queue is fuller, then grows by one per round trip', () => {
    const pace = new LearningPace(FAST, 100);
    let now = answer(pace, 100, 0, 4, 0);
    expect(pace.maxInFlight).toBe(100);
    now = answer(pace, 800, 0.3, 1, now);
    expect(pace.maxInFlight).toBe(70);
    now = answer(pace, 800, 0.3, 3, now);
    expect(pace.maxInFlight).toBeGreaterThanOrEqual(34);
    expect(pace.maxInFlight).toBeLessThan(70);
    const before = pace.maxInFlight;
    answer(pace, 100, 0, 40, now);
    expect(pace.maxInFlight).toBeGreaterThan(before + 30);
    expect(pace.maxInFlight).toBeLessThanOrEqual(before + 41);
  });

  it('does not fall because of the deliveries of another key, which takes turns with ours', () => {
    const pace = new LearningPace(FAST, 50);
    const now = answer(pace, 100, 0, 4, 0);
    for (let i = 0; i < 200; i += 1) {
      pace.succeeded(now, 110, 50, { remaining: 400, resetMs: 4000, fill: 0.5 }, now + 110 + i);
    }
    expect(pace.maxInFlight).toBe(50);
  });
});
