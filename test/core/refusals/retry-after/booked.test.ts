import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RefusalReason } from '@webhook-backpressure/core';
import { countPerSecond, createRetryAfter, refused, SETTINGS, situation } from './situation.ts';

const RATE = 100;

/** Refuses `count` deliveries, one each half millisecond. Returns the assigned times, in ms. */
function burst(count: number, changes: Parameters<typeof refused>[0] = {}, settings = SETTINGS): number[] {
  const retryAfter = createRetryAfter();
  return Array.from({ length: count }, (_, i) => {
    const nowMs = i / 2;
    retryAfter.arrivals.note(nowMs);
    return nowMs + 1000 * retryAfter.of('shedding', refused(changes), situation(nowMs), settings);
  });
}

describe('the booked second', () => {
  it('is not before shedding ends, and later for each earlier refusal', () => {
    const retryAfter = createRetryAfter();
    const assigned = Array.from({ length: 5000 }, () =>
      retryAfter.of('shedding', refused(), situation(0), SETTINGS),
    );
    for (const [i, seconds] of assigned.entries()) {
      const delay = 3 + i / RATE;
      expect(seconds).toBeGreaterThanOrEqual(Math.floor(delay));
      // Jitter adds at most a tenth or two seconds, rounding one second.
      expect(seconds).toBeLessThanOrEqual(Math.floor(delay + Math.min(0.1 * delay, 2) + 1));
    }
  });

  it('is assigned to about as many deliveries as can be accepted in a second', () => {
    const counts = countPerSecond(burst(10_000));
    expect(Math.max(...counts)).toBeLessThanOrEqual(1.35 * RATE);
    // Rounding makes single seconds vary, but not five together.
    for (let second = 2; second + 5 <= counts.length - 4; second += 1) {
      const inFive = counts.slice(second, second + 5).reduce((sum, count) => sum + count, 0);
      expect(inFive / 5).toBeGreaterThanOrEqual(0.78 * RATE);
      expect(inFive / 5).toBeLessThanOrEqual(1.12 * RATE);
    }
  });

  it('is assigned to no more deliveries with thousands of keys', () => {
    const retryAfter = createRetryAfter();
    // In the first seconds of a burst, new keys are booked only a few seconds ahead.
    retryAfter.shed(0);
    const times = Array.from({ length: 10_000 }, (_, i) => {
      const nowMs = 60_000 + i / 2;
      retryAfter.arrivals.note(nowMs);
      const seconds = retryAfter.of(
        'shedding',
        refused({ key: String(i % 4000) }),
        situation(nowMs),
        SETTINGS,
      );
      return nowMs + 1000 * seconds;
    });
    const counts = countPerSecond(times);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2.3 * RATE);
    expect(counts.length).toBeLessThanOrEqual(1.15 * (10_000 / RATE));
  });

  it('is rounded at random, so that no second is left out below 1/s', () => {
    const retryAfter = createRetryAfter();
    const slow = { depth: 5, low: 4, drainRate: 0.5, presentRate: 0.5 };
    const assigned = Array.from({ length: 200 }, () =>
      retryAfter.of('shedding', refused(), situation(0, slow), SETTINGS),
    );
    const parities = assigned.map((seconds) => seconds % 2);
    const odd = parities.filter((parity) => parity === 1).length;
    expect(odd).toBeGreaterThan(60);
    expect(odd).toBeLessThan(140);
  });

  it('is at the minimum or later, and not at the minimum for all', () => {
    const times = burst(6000, {}, { ...SETTINGS, minSeconds: 30 });
    const counts = countPerSecond(times);
    expect(Math.min(...times.map((ms, i) => ms - i / 2))).toBe(30_000);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1.6 * RATE);
  });

  it('is a whole second even if the bounds of the sender are fractions', () => {
    const retryAfter = createRetryAfter();
    const habit = { unit: 's', minSeconds: 2.5, maxSeconds: 7.5 } as const;
    const assigned = Array.from({ length: 2000 }, () =>
      retryAfter.of('shedding', refused({ habit }), situation(0), SETTINGS),
    );
    expect(Math.min(...assigned)).toBe(3);
    expect(Math.max(...assigned)).toBe(7);
    expect(assigned.filter((seconds) => !Number.isInteger(seconds))).toEqual([]);
    // Beyond the sender's maximum nothing is booked, since the booking would not be kept.
    expect(retryAfter.seconds.total).toBeLessThanOrEqual(7 * RATE);
  });

  it('is random in the upper half of the range beyond the maximum, and is not booked', () => {
    const retryAfter = createRetryAfter();
    const settings = { ...SETTINGS, maxSeconds: 40 };
    const assigned = Array.from({ length: 20_000 }, () =>
      retryAfter.of('shedding', refused(), situation(0), settings),
    );
    expect(retryAfter.seconds.total).toBeLessThanOrEqual(38 * RATE);
    const beyond = assigned.slice(4000);
    expect(new Set(beyond)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => 21 + i)));
    const mean = beyond.reduce((sum, seconds) => sum + seconds, 0) / beyond.length;
    expect(mean).toBeGreaterThan(30);
    expect(mean).toBeLessThan(31);
  });

  it('follows a lasting change of pace, but not a fluctuation', () => {
    const retryAfter = createRetryAfter();
    for (let i = 0; i < 5000; i += 1) retryAfter.of('shedding', refused(), situation(0), SETTINGS);
    const secondsAt = (drainRate: number): number =>
      retryAfter.of('shedding', refused(), situation(0, { drainRate }), SETTINGS);
    for (const drainRate of [90, 110, 80, 120]) {
      expect(secondsAt(drainRate)).toBeGreaterThanOrEqual(53);
      expect(secondsAt(drainRate)).toBeLessThanOrEqual(57);
    }
    expect(secondsAt(50)).toBeGreaterThanOrEqual(100);
    expect(secondsAt(200)).toBeLessThanOrEqual(35);
  });

  it('is not booked for a sender that ignores Retry-After', () => {
    const retryAfter = createRetryAfter();
    for (let i = 0; i < 1000; i += 1) {
      const seconds = retryAfter.of(
        'shedding',
        refused({ id: String(i), habit: 'ignored' }),
        situation(0),
        SETTINGS,
      );
      expect(seconds).toBeLessThanOrEqual(4);
    }
    expect(retryAfter.seconds.total).toBe(0);
    expect(retryAfter.promises.dueMs({ delivery: { id: '1' }, key: 'shop', nowMs: 0 })).toBeUndefined();
  });

  it('waits for the queue to be short enough for a sender with a short timeout', () => {
    const retryAfter = createRetryAfter();
    // The sender waits 1 s, so at most 100 of the 800 deliveries may be ahead.
    const assigned = retryAfter.of('wait', refused({ excess: 700 }), situation(0), SETTINGS);
    expect(assigned).toBeGreaterThanOrEqual(7);
    expect(assigned).toBeLessThanOrEqual(8);
  });
});

describe('a booking whose id is known', () => {
  const a = { delivery: { id: 'a' }, key: 'shop', nowMs: 0 };

  it('is repeated as the remaining time, and not booked again', () => {
    const retryAfter = createRetryAfter();
    for (let i = 0; i < 2000; i += 1) retryAfter.of('shedding', refused(), situation(0), SETTINGS);
    retryAfter.of('shedding', refused({ id: 'a' }), situation(0), SETTINGS);
    const dueMs = retryAfter.promises.dueMs(a) ?? 0;
    expect(dueMs).toBeGreaterThan(20_000);
    const { total } = retryAfter.seconds;
    for (const nowMs of [0, 500, 999.5, 10_000, dueMs - 1]) {
      const again = retryAfter.of('full', refused({ id: 'a' }, nowMs), situation(nowMs), SETTINGS);
      expect(again).toBe(Math.ceil((dueMs - nowMs) / 1000));
    }
    expect(retryAfter.seconds.total).toBe(total);
    expect(retryAfter.promises.dueMs(a)).toBe(dueMs);
  });

  it('is renewed if there is no place when it is due', () => {
    const retryAfter = createRetryAfter();
    retryAfter.of('shedding', refused({ id: 'a' }), situation(0), SETTINGS);
    const dueMs = retryAfter.promises.dueMs(a) ?? 0;
    const again = retryAfter.of('full', refused({ id: 'a' }, dueMs), situation(dueMs), SETTINGS);
    expect(again).toBeGreaterThanOrEqual(3);
    expect(retryAfter.promises.dueMs(a)).toBe(dueMs + again * 1000);
    expect(retryAfter.promises.counts).toEqual({ kept: 0, missed: 1 });
    expect(retryAfter.seconds.total).toBe(2);
  });

  it('belongs to one key', () => {
    const retryAfter = createRetryAfter();
    retryAfter.of('shedding', refused({ id: 'a' }), situation(0), SETTINGS);
    retryAfter.of('shedding', refused({ id: 'a', key: 'bank' }), situation(0), SETTINGS);
    expect(retryAfter.seconds.total).toBe(2);
  });
});

describe('Retry-After without a usable drain rate', () => {
  it.each<[string, RefusalReason, object]>([
    ['before the first completion', 'shedding', { drainRate: null, presentRate: null }],
    ['while the process is overloaded', 'pressure', {}],
    ['during shutdown', 'closing', {}],
  ])('is 3 to 7 s, and nothing is booked: %s', (_, reason, changes) => {
    const retryAfter = createRetryAfter();
    const assigned = Array.from({ length: 400 }, () =>
      retryAfter.of(reason, refused(), situation(0, changes), SETTINGS),
    );
    expect(new Set(assigned)).toEqual(new Set([4, 5, 6, 7]));
    expect(retryAfter.seconds.total).toBe(0);
  });

  it('is 1 to 2.5 times the length of a stall', () => {
    const retryAfter = createRetryAfter();
    for (const gapS of [11, 60, 300]) {
      const assigned = Array.from({ length: 400 }, () =>
        retryAfter.of('shedding', refused(), situation(0, { isStalled: true, gapMs: gapS * 1000 }), SETTINGS),
      );
      expect(Math.min(...assigned)).toBeLessThanOrEqual(gapS * 1.05 + 1);
      expect(Math.min(...assigned)).toBeGreaterThanOrEqual(gapS);
      expect(Math.max(...assigned)).toBeLessThanOrEqual(gapS * 2.5 + 1);
      expect(new Set(assigned).size).toBeGreaterThan(gapS * 0.7);
    }
    expect(retryAfter.seconds.total).toBe(0);
  });

  it('is not the same for all in a stall longer than the maximum', () => {
    const retryAfter = createRetryAfter();
    const stalled = situation(0, { isStalled: true, gapMs: 7_200_000 });
    const assigned = Array.from({ length: 400 }, () =>
      retryAfter.of('shedding', refused(), stalled, SETTINGS),
    );
    expect(new Set(assigned).size).toBeGreaterThan(200);
    expect(Math.min(...assigned)).toBeGreaterThanOrEqual(450);
    expect(Math.max(...assigned)).toBeLessThanOrEqual(900);
  });
});

describe('Retry-After in any situation', () => {
  const situations = fc.record({
    nowMs: fc.double({ min: 0, max: 1e7, noNaN: true }),
    depth: fc.nat(5000),
    low: fc.nat(2000),
    drainRate: fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
    presentRate: fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
    paceAgeS: fc.double({ min: 0, max: 1e6, noNaN: true }),
    isStalled: fc.boolean(),
    gapMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
    lateShare: fc.double({ min: 0, max: 1, noNaN: true }),
    gapFactor: fc.double({ min: 1, max: 1e6, noNaN: true }),
  });
  const habits = fc.option(
    fc.oneof(
      fc.constant('ignored' as const),
      fc.record({
        unit: fc.constantFrom('s' as const, 'ms' as const),
        minSeconds: fc.option(fc.double({ min: 0, max: 50, noNaN: true }), { nil: undefined }),
        maxSeconds: fc.option(fc.double({ min: 50, max: 5000, noNaN: true }), { nil: undefined }),
      }),
    ),
    { nil: undefined },
  );
  const who = fc.record({
    key: fc.constantFrom('shop', 'bank', 'default'),
    id: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined }),
    excess: fc.nat(5000),
    excessMs: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    spacingMs: fc.double({ min: 0, max: 1e5, noNaN: true }),
    habit: habits,
  });
  const reasons = fc.constantFrom<RefusalReason>('shedding', 'full', 'wait', 'shed', 'closing', 'pressure');

  it('is a whole number of seconds within the bounds', () => {
    const settings = fc
      .tuple(
        fc.integer({ min: 1, max: 100 }),
        fc.nat(2000),
        fc.constantFrom('booked' as const, 'depth' as const),
      )
      .map(([minSeconds, more, strategy]) => ({ strategy, minSeconds, maxSeconds: minSeconds + more }));
    fc.assert(
      fc.property(
        settings,
        fc.array(fc.tuple(reasons, who, situations), { maxLength: 40 }),
        (given, script) => {
          const retryAfter = createRetryAfter();
          let nowMs = 0;
          for (const [reason, refusal, state] of script) {
            // Time only moves forward, by steps of any size.
            nowMs += state.nowMs;
            retryAfter.arrivals.note(nowMs);
            const seconds = retryAfter.of(reason, refused(refusal, nowMs), { ...state, nowMs }, given);
            const clamp = typeof refusal.habit === 'object' ? refusal.habit.maxSeconds : undefined;
            const least = Math.min(given.minSeconds, Math.max(1, Math.floor(clamp ?? Infinity)));
            if (!Number.isInteger(seconds) || seconds < least || seconds > given.maxSeconds) {
              throw new Error(`assigned ${String(seconds)}`);
            }
            if (retryAfter.seconds.total < 0) throw new Error(`booked ${String(retryAfter.seconds.total)}`);
          }
        },
      ),
      { seed: 6, numRuns: 400 },
    );
  });
});
