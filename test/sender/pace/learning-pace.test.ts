import { describe, expect, it } from 'vitest';
import { LearningPace } from '../../../packages/sender/src/pace/learning-pace.ts';
import { drive } from './driven.ts';

const TEN = { amount: 10, periodMs: 1000, burst: 50 };

function perSecond({ limit: { amount, periodMs } }: LearningPace): number {
  return (amount * 1000) / periodMs;
}

/** Successes one after another, each started after the last one ended. Returns the time after them. */
function succeed(pace: LearningPace, count: number, fromMs: number): number {
  let now = fromMs;
  for (let i = 0; i < count; i += 1) {
    const startedAtMs = now;
    now += 100;
    pace.succeeded(startedAtMs, 100, pace.maxInFlight, undefined, now);
  }
  return now;
}

describe('refusals', () => {
  it('pause the endpoint until the named time and halve the rate', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(0, 5000, undefined, 100);
    expect(pace.waitUntilMs).toBe(5100);
    expect(pace.waitsBecause).toBe('retry-after');
    expect(perSecond(pace)).toBe(5);
    expect(pace.limit.burst).toBe(25);
    expect(pace.maxInFlight).toBe(8);
    expect(pace.isSlowed).toBe(true);
    pace.pass(5100);
    expect(pace.waitUntilMs).toBe(0);
    expect(pace.waitsBecause).toBeUndefined();
  });

  it('of requests that were in flight count once, and only shorten the pause', () => {
    const pace = new LearningPace(TEN, 20);
    for (let i = 0; i < 8; i += 1) pace.limited(0, 5000 - 100 * i, undefined, 100 + i);
    expect(perSecond(pace)).toBe(5);
    expect(pace.maxInFlight).toBe(8);
    expect(pace.waitUntilMs).toBe(4407);
    pace.limited(0, 9000, undefined, 200);
    expect(pace.waitUntilMs).toBe(4407);
  });

  it('of requests that were started in the millisecond of the last cut count once', () => {
    const pace = new LearningPace(TEN, 20);
    for (let i = 0; i < 3; i += 1) pace.limited(100, 0, undefined, 100);
    expect(perSecond(pace)).toBe(5);
    expect(pace.maxInFlight).toBe(8);
  });

  it('of a request that was in flight pause again when the pause is over', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(0, 1000, undefined, 100);
    pace.pass(1100);
    pace.limited(0, 3000, undefined, 2000);
    expect(pace.waitUntilMs).toBe(5000);
    expect(perSecond(pace)).toBe(5);
  });

  it('after a refusal halve the cap as well, never below 1, and the rate never below 1/s', () => {
    const pace = new LearningPace(TEN, 20);
    const seen: [number, number][] = [];
    for (let now = 0; now < 10_000; now += 2000) {
      pace.limited(now + 1, 1000, undefined, now + 100);
      seen.push([perSecond(pace), pace.maxInFlight]);
    }
    expect(seen).toEqual([
      [5, 8],
      [2.5, 4],
      [1.25, 2],
      [1, 1],
      [1, 1],
    ]);
  });

  it('never lower a set rate below 1/s', () => {
    const slow = { amount: 1, periodMs: 60_000, burst: 1 };
    const pace = new LearningPace(slow, 1);
    pace.limited(0, 1000, undefined, 100);
    expect(pace.limit).toEqual(slow);
  });

  it('without a time pause for 1 s, then longer each time up to 60 s', () => {
    const pace = new LearningPace(TEN, 20);
    const pauses: number[] = [];
    for (let i = 0, now = 0; i < 8; i += 1) {
      pace.limited(now + 1, undefined, undefined, now + 2);
      pauses.push(pace.waitUntilMs - now - 2);
      now = pace.waitUntilMs;
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('end the slow start', () => {
    const pace = new LearningPace(TEN, 1000);
    pace.limited(0, 1000, undefined, 100);
    succeed(pace, 10, 2000);
    expect(pace.maxInFlight).toBe(8);
  });
});

describe('a clean streak', () => {
  it('adds a tenth of the set rate and one to the cap, until both are back', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(0, 1000, undefined, 100);
    pace.limited(1200, 1000, undefined, 1300);
    expect([perSecond(pace), pace.maxInFlight]).toEqual([2.5, 4]);
    let now = succeed(pace, 19, 3000);
    expect(perSecond(pace)).toBe(2.5);
    now = succeed(pace, 1, now);
    expect([perSecond(pace), pace.maxInFlight]).toEqual([3.5, 5]);
    for (let i = 0; i < 6; i += 1) now = succeed(pace, 20, now);
    expect([perSecond(pace), pace.maxInFlight]).toEqual([9.5, 11]);
    expect(pace.isSlowed).toBe(true);
    succeed(pace, 20, now);
    expect(pace.limit).toEqual(TEN);
    expect(pace.isSlowed).toBe(false);
  });

  it('counts only requests that were started under the present limits', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(50, 1000, undefined, 100);
    for (let i = 0; i < 30; i += 1) pace.succeeded(50, 60, 8, undefined, 110 + i);
    expect(perSecond(pace)).toBe(5);
  });

  it('begins anew when settings change', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(0, 1000, undefined, 100);
    const now = succeed(pace, 19, 2000);
    pace.set(TEN, 20, now);
    succeed(pace, 1, now);
    expect(perSecond(pace)).toBe(5);
  });

  it('does not raise the cap of an endpoint whose answers have become slow', () => {
    const pace = new LearningPace(TEN, 100);
    drive(pace, { workers: 1000, serviceMs: () => 100 }, 0, 5000);
    pace.limited(6000, 0, undefined, 6100);
    pace.limited(6200, 0, undefined, 6300);
    expect(pace.maxInFlight).toBe(50);
    for (let now = 7000; now < 7000 + 300 * 20; now += 300)
      pace.succeeded(now, 300, 50, undefined, now + 300);
    expect(perSecond(pace)).toBe(3.5);
    // A trial has lowered it, to see whether that makes answers faster.
    expect(pace.maxInFlight).toBe(17);
  });

  it('ends the window: the next refusal halves the rate alone', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(0, 1000, undefined, 100);
    const now = succeed(pace, 20, 2000);
    const { maxInFlight } = pace;
    pace.limited(now, 1000, undefined, now + 100);
    expect(perSecond(pace)).toBe(3);
    expect(pace.maxInFlight).toBe(maxInFlight);
  });

  it('holds an endpoint that refuses above 20 in flight close to that', () => {
    const pace = new LearningPace({ amount: 1000, periodMs: 1000, burst: 1000 }, 500);
    const driven = drive(
      pace,
      { workers: 1000, serviceMs: () => 100, most: 20, retryAfterMs: 1000 },
      0,
      300_000,
    );
    expect(driven.refusals).toBeLessThan(0.02 * driven.successes);
    expect(driven.successes).toBeGreaterThan(0.4 * 300 * 200);
  });
});

describe('announced limits', () => {
  it('pause until the reset when nothing is left', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(0, 100, 1, { remaining: 0, resetMs: 2500 }, 100);
    expect(pace.waitUntilMs).toBe(2600);
    expect(pace.waitsBecause).toBe('rate-limit');
    pace.pass(2600);
    expect(pace.waitUntilMs).toBe(0);
  });

  it('spread a small remainder over the time until the reset', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(0, 100, 1, { remaining: 6, resetMs: 3000 }, 100);
    expect(pace.limit).toEqual({ amount: 6, periodMs: 3000, burst: 1 });
    pace.pass(3099);
    expect(pace.limit.amount).toBe(6);
    pace.pass(3100);
    expect(pace.limit).toEqual(TEN);
  });

  it('allow the last request before the reset', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(0, 100, 1, { remaining: 1, resetMs: 3000 }, 100);
    expect(pace.waitUntilMs).toBe(0);
    expect(pace.limit).toEqual({ amount: 1, periodMs: 3000, burst: 1 });
  });

  it('do not bind while more is left than is used until the reset', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(0, 100, 1, { remaining: 30, resetMs: 3000 }, 100);
    expect(pace.limit).toEqual(TEN);
    pace.failed(110, { remaining: 29, resetMs: 3000 }, 200);
    expect(pace.limit.amount).toBe(29);
    pace.succeeded(120, 100, 1, { remaining: 100, resetMs: 3000 }, 220);
    expect(pace.limit).toEqual(TEN);
  });

  it('of a queue are not spread, because places become free all the time', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(0, 100, 1, { remaining: 2, resetMs: 3000, fill: 0.05 }, 100);
    expect(pace.limit).toEqual(TEN);
    pace.succeeded(1, 100, 1, { remaining: 0, resetMs: 3000, fill: 1 }, 101);
    expect(pace.waitUntilMs).toBe(3101);
  });

  it('of an older request are ignored', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(50, 50, 2, { remaining: 0, resetMs: 2000 }, 100);
    pace.succeeded(40, 65, 2, { remaining: 1, resetMs: 2000 }, 105);
    expect(pace.waitUntilMs).toBe(2100);
  });
});

describe('changed settings', () => {
  it('keep the share of the rate that refusals have left', () => {
    const pace = new LearningPace(TEN, 20);
    pace.limited(0, 1000, undefined, 100);
    pace.set({ amount: 100, periodMs: 1000, burst: 500 }, 4, 200);
    expect(perSecond(pace)).toBe(50);
    expect(pace.maxInFlight).toBe(4);
  });
});

describe('failures in a row', () => {
  it('begin the slow start again', () => {
    const pace = new LearningPace(TEN, 100);
    drive(pace, { workers: 1000, serviceMs: () => 100 }, 0, 5000);
    expect(pace.maxInFlight).toBe(100);
    for (let i = 0; i < 5; i += 1) pace.failed(5000, undefined, 6000);
    expect(pace.maxInFlight).toBe(8);
    drive(pace, { workers: 1000, serviceMs: () => 100 }, 7000, 9000);
    expect(pace.maxInFlight).toBe(100);
  });

  it.each<[string, (pace: LearningPace) => void]>([
    [
      'a success',
      (pace) => {
        pace.succeeded(6000, 100, 1, undefined, 6100);
      },
    ],
    [
      'a refusal',
      (pace) => {
        pace.limited(6000, 0, undefined, 6100);
      },
    ],
  ])('are counted anew after %s', (_, answer) => {
    const pace = new LearningPace(TEN, 100);
    drive(pace, { workers: 1000, serviceMs: () => 100 }, 0, 5000);
    for (let i = 0; i < 4; i += 1) pace.failed(5000, undefined, 6000);
    answer(pace);
    pace.failed(5000, undefined, 6200);
    expect(pace.maxInFlight).toBe(100);
  });
});
