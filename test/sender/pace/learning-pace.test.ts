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
  it('pause the endpoint until the named time and lower the rate, not the in-flight limit', () => {
    const pace = new LearningPace(TEN, 20);
    for (let now = 0; now < 1000; now += 100) pace.started(now);
    succeed(pace, 10, 0);
    pace.limited(900, 5000, undefined, 1000);
    expect(pace.waitUntilMs).toBe(6000);
    expect(pace.waitsBecause).toBe('retry-after');
    expect(perSecond(pace)).toBeGreaterThan(3);
    expect(perSecond(pace)).toBeLessThan(10);
    expect(pace.limit.burst).toBe(1);
    expect(pace.maxInFlight).toBe(18);
    expect(pace.isSlowed).toBe(true);
    pace.pass(6000);
    expect(pace.waitUntilMs).toBe(0);
    expect(pace.waitsBecause).toBeUndefined();
  });

  it('of requests that were in flight lower the rate once, and the longest wait holds', () => {
    const pace = new LearningPace(TEN, 20);
    pace.started(0);
    pace.limited(0, 1000, undefined, 100);
    const { limit } = pace;
    pace.limited(0, 8000, undefined, 101);
    pace.limited(100, 2000, undefined, 102);
    expect(pace.waitUntilMs).toBe(8101);
    pace.limited(0, undefined, undefined, 8100);
    expect(pace.waitUntilMs).toBe(8101);
    expect(pace.limit).toBe(limit);
  });

  it('of a request that was in flight pause again when the pause is over', () => {
    const pace = new LearningPace(TEN, 20);
    pace.started(0);
    pace.limited(0, 1000, undefined, 100);
    pace.pass(1100);
    pace.limited(0, 3000, undefined, 2000);
    expect(pace.waitUntilMs).toBe(5000);
  });

  it('without a time pause for 1 s, then longer each time up to 60 s, until a success', () => {
    const pace = new LearningPace(TEN, 20);
    const pauses: number[] = [];
    let now = 0;
    const refuse = (): void => {
      pace.started(now + 1);
      pace.limited(now + 1, undefined, undefined, now + 2);
      pauses.push(pace.waitUntilMs - now - 2);
      now = pace.waitUntilMs;
      pace.pass(now);
    };
    for (let i = 0; i < 8; i += 1) refuse();
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    pace.succeeded(now, 100, 1, undefined, now + 100);
    now += 200;
    refuse();
    expect(pauses.at(-1)).toBe(1000);
    // Of a request that was started before the refusal.
    pace.succeeded(now - 1100, 100, 1, undefined, now);
    refuse();
    expect(pauses.at(-1)).toBe(2000);
  });
});

describe('the in-flight limit', () => {
  it('grows only while at least half of it is used', () => {
    for (const [inFlight, end] of [
      [3, 8],
      [4, 9],
    ] as const) {
      const pace = new LearningPace(TEN, 20);
      // So many answers have a useful median.
      for (let now = 0; now < 900; now += 100) pace.succeeded(now, 100, 1, undefined, now + 100);
      expect(pace.maxInFlight).toBe(8);
      pace.succeeded(1000, 100, inFlight, undefined, 1100);
      expect(pace.maxInFlight).toBe(end);
    }
  });
});

describe('announced limits', () => {
  it('with a reset that is over do not bind', () => {
    const pace = new LearningPace(TEN, 20);
    pace.succeeded(0, 100, 1, { remaining: 0, resetMs: 0 }, 100);
    expect(pace.waitUntilMs).toBe(0);
  });

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
  it('keep the learned rate, and let it rise soon', () => {
    const pace = new LearningPace(TEN, 20);
    pace.started(0);
    pace.limited(0, 1000, undefined, 100);
    const before = perSecond(pace);
    pace.set({ amount: 100, periodMs: 1000, burst: 500 }, 4);
    expect(perSecond(pace)).toBeLessThan(1.1 * before);
    expect(pace.maxInFlight).toBe(4);
    succeed(pace, 20, 2000);
    expect(perSecond(pace)).toBeGreaterThan(2 * before);
  });

  it('hold immediately if nothing was refused', () => {
    const pace = new LearningPace(TEN, 20);
    const faster = { amount: 100, periodMs: 1000, burst: 500 };
    pace.set(faster, 20);
    expect(pace.limit).toEqual(faster);
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
