import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RefusalReason } from '@webhook-backpressure/core';
import { countPerSecond, createRetryAfter, refused, SETTINGS, situation } from './situation.ts';

const RATE = 100;

/** Refuses so many deliveries, one each half millisecond, all of whose bookings are kept; when each is to come, in ms. */
function burst(count: number, changes: Parameters<typeof refused>[0] = {}, settings = SETTINGS): number[] {
  const retryAfter = createRetryAfter();
  return Array.from({ length: count }, (_, i) => {
    const nowMs = i / 2;
    retryAfter.arrive(nowMs);
    return nowMs + 1000 * retryAfter.seconds('shedding', refused(changes), situation(nowMs), settings);
  });
}

describe('the booked second', () => {
  it('comes no sooner than the door opens, and later for each that was refused before', () => {
    const retryAfter = createRetryAfter();
    const told = Array.from({ length: 5000 }, () =>
      retryAfter.seconds('shedding', refused(), situation(0), SETTINGS),
    );
    for (const [i, seconds] of told.entries()) {
      const delay = 3 + i / RATE;
      expect(seconds).toBeGreaterThanOrEqual(Math.floor(delay));
      // At most a tenth of it and two seconds more, and one for rounding.
      expect(seconds).toBeLessThanOrEqual(Math.floor(delay + Math.min(0.1 * delay, 2) + 1));
    }
  });

  it('is shared with about as many others as can be taken in a second', () => {
    const counts = countPerSecond(burst(10_000));
    expect(Math.max(...counts)).toBeLessThanOrEqual(1.35 * RATE);
    // In single seconds it varies by rounding, in five not.
    for (let second = 2; second + 5 <= counts.length - 4; second += 1) {
      const inFive = counts.slice(second, second + 5).reduce((sum, count) => sum + count, 0);
      expect(inFive / 5).toBeGreaterThanOrEqual(0.78 * RATE);
      expect(inFive / 5).toBeLessThanOrEqual(1.12 * RATE);
    }
  });

  it('is shared no further when there are thousands of keys', () => {
    const retryAfter = createRetryAfter();
    // In the first seconds of a burst, new keys are booked a few seconds ahead only.
    retryAfter.shed(0);
    const times = Array.from({ length: 10_000 }, (_, i) => {
      const nowMs = 60_000 + i / 2;
      retryAfter.arrive(nowMs);
      const seconds = retryAfter.seconds(
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

  it('is rounded at random, so that below one a second no second is left out', () => {
    const retryAfter = createRetryAfter();
    const slow = { depth: 5, low: 4, drainRate: 0.5, steadyRate: 0.5 };
    const told = Array.from({ length: 200 }, () =>
      retryAfter.seconds('shedding', refused(), situation(0, slow), SETTINGS),
    );
    const parities = told.map((seconds) => seconds % 2);
    const odd = parities.filter((parity) => parity === 1).length;
    expect(odd).toBeGreaterThan(60);
    expect(odd).toBeLessThan(140);
  });

  it('is at the minimum or later, and not at the minimum for everybody', () => {
    const times = burst(6000, {}, { ...SETTINGS, minSeconds: 30 });
    const counts = countPerSecond(times);
    expect(Math.min(...times.map((ms, i) => ms - i / 2))).toBe(30_000);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1.6 * RATE);
  });

  it('is in whole seconds also for a sender that clamps at fractions', () => {
    const retryAfter = createRetryAfter();
    const habit = { unit: 's', minSeconds: 2.5, maxSeconds: 7.5 } as const;
    const told = Array.from({ length: 2000 }, () =>
      retryAfter.seconds('shedding', refused({ habit }), situation(0), SETTINGS),
    );
    expect(Math.min(...told)).toBe(3);
    expect(Math.max(...told)).toBe(7);
    expect(told.filter((seconds) => !Number.isInteger(seconds))).toEqual([]);
    // Beyond its maximum nothing is booked, since it would not be kept.
    expect(retryAfter.booked).toBeLessThanOrEqual(7 * RATE);
  });

  it('beyond the maximum is anything in the upper half of the range, and is not booked', () => {
    const retryAfter = createRetryAfter();
    const settings = { ...SETTINGS, maxSeconds: 40 };
    const told = Array.from({ length: 20_000 }, () =>
      retryAfter.seconds('shedding', refused(), situation(0), settings),
    );
    expect(retryAfter.booked).toBeLessThanOrEqual(38 * RATE);
    const beyond = told.slice(4000);
    expect(new Set(beyond)).toEqual(new Set(Array.from({ length: 20 }, (_, i) => 21 + i)));
    const mean = beyond.reduce((sum, seconds) => sum + seconds, 0) / beyond.length;
    expect(mean).toBeGreaterThan(30);
    expect(mean).toBeLessThan(31);
  });

  it('moves with a pace that has changed for good, and not with one that fluctuates', () => {
    const retryAfter = createRetryAfter();
    for (let i = 0; i < 5000; i += 1) retryAfter.seconds('shedding', refused(), situation(0), SETTINGS);
    const toldAt = (steadyRate: number): number =>
      retryAfter.seconds('shedding', refused(), situation(0, { steadyRate }), SETTINGS);
    for (const steadyRate of [90, 110, 80, 120]) {
      expect(toldAt(steadyRate)).toBeGreaterThanOrEqual(53);
      expect(toldAt(steadyRate)).toBeLessThanOrEqual(57);
    }
    expect(toldAt(50)).toBeGreaterThanOrEqual(100);
    expect(toldAt(200)).toBeLessThanOrEqual(35);
  });

  it('is none for a sender that ignores Retry-After', () => {
    const retryAfter = createRetryAfter();
    for (let i = 0; i < 1000; i += 1) {
      const seconds = retryAfter.seconds(
        'shedding',
        refused({ id: String(i), habit: 'ignored' }),
        situation(0),
        SETTINGS,
      );
      expect(seconds).toBeLessThanOrEqual(4);
    }
    expect([retryAfter.booked, retryAfter.promiseOf('shop', { id: '1' })]).toEqual([0, undefined]);
  });

  it('is sooner for a delivery that needs a shorter queue only as far as the queue allows', () => {
    const retryAfter = createRetryAfter();
    // Its sender waits for a second: a hundred may be ahead of it, and 700 have to be worked off.
    const told = retryAfter.seconds('wait', refused({ maxWaitMs: 1000 }), situation(0), SETTINGS);
    expect(told).toBeGreaterThanOrEqual(7);
    expect(told).toBeLessThanOrEqual(8);
  });
});

describe('a booking whose id is known', () => {
  it('is repeated as the time that is left, and no other is made', () => {
    const retryAfter = createRetryAfter();
    for (let i = 0; i < 2000; i += 1) {
      retryAfter.seconds('shedding', refused({ id: String(i) }), situation(0), SETTINGS);
    }
    const dueMs = retryAfter.promiseOf('shop', { id: '1999' })?.dueMs ?? 0;
    const { booked } = retryAfter;
    for (const nowMs of [0, 500, 999.5, 10_000, dueMs - 1]) {
      const again = retryAfter.seconds('full', refused({ id: '1999' }), situation(nowMs), SETTINGS);
      expect(again).toBe(Math.ceil((dueMs - nowMs) / 1000));
    }
    expect(retryAfter.booked).toBeLessThanOrEqual(booked);
    expect(retryAfter.promiseOf('shop', { id: '1999' })?.dueMs).toBe(dueMs);
    // A flood of it gains nothing and takes nothing from anybody.
    const before = retryAfter.booked;
    for (let i = 0; i < 10_000; i += 1) {
      retryAfter.seconds('full', refused({ id: '1999' }), situation(dueMs - 1), SETTINGS);
    }
    expect(retryAfter.booked).toBe(before);
  });

  it('is made anew when its time has come and there is still no place', () => {
    const retryAfter = createRetryAfter();
    retryAfter.seconds('shedding', refused({ id: 'a' }), situation(0), SETTINGS);
    const dueMs = retryAfter.promiseOf('shop', { id: 'a' })?.dueMs ?? 0;
    const again = retryAfter.seconds('full', refused({ id: 'a' }), situation(dueMs), SETTINGS);
    expect(again).toBeGreaterThanOrEqual(3);
    expect(retryAfter.promiseOf('shop', { id: 'a' })?.dueMs).toBe(dueMs + again * 1000);
    expect(retryAfter.booked).toBe(2);
  });

  it('is of one key', () => {
    const retryAfter = createRetryAfter();
    retryAfter.seconds('shedding', refused({ id: 'a' }), situation(0), SETTINGS);
    retryAfter.seconds('shedding', refused({ id: 'a', key: 'bank' }), situation(0), SETTINGS);
    expect(retryAfter.booked).toBe(2);
  });
});

describe('while nothing better is known', () => {
  it.each<[string, RefusalReason, object]>([
    ['before the first completion', 'shedding', { drainRate: null, steadyRate: null }],
    ['when the process is overloaded', 'pressure', {}],
    ['when it shuts down', 'closing', {}],
  ])('%s it is 3 to 7 s, and nothing is booked', (_, reason, changes) => {
    const retryAfter = createRetryAfter();
    const told = Array.from({ length: 400 }, (__, i) =>
      retryAfter.seconds(reason, refused({ id: String(i) }), situation(0, changes), SETTINGS),
    );
    expect(new Set(told)).toEqual(new Set([4, 5, 6, 7]));
    expect(retryAfter.booked).toBe(0);
  });

  it('in a stall it is as long as the stall and up to one and a half times as long again', () => {
    const retryAfter = createRetryAfter();
    for (const gapS of [11, 60, 300]) {
      const told = Array.from({ length: 400 }, () =>
        retryAfter.seconds(
          'shedding',
          refused(),
          situation(0, { isStalled: true, gapMs: gapS * 1000 }),
          SETTINGS,
        ),
      );
      expect(Math.min(...told)).toBeLessThanOrEqual(gapS * 1.05 + 1);
      expect(Math.min(...told)).toBeGreaterThanOrEqual(gapS);
      expect(Math.max(...told)).toBeLessThanOrEqual(gapS * 2.5 + 1);
      expect(new Set(told).size).toBeGreaterThan(gapS * 0.7);
    }
    expect(retryAfter.booked).toBe(0);
  });

  it('in a stall longer than the maximum it is not the same for everybody', () => {
    const retryAfter = createRetryAfter();
    const stalled = situation(0, { isStalled: true, gapMs: 7_200_000 });
    const told = Array.from({ length: 400 }, () =>
      retryAfter.seconds('shedding', refused(), stalled, SETTINGS),
    );
    expect(new Set(told).size).toBeGreaterThan(200);
    expect(Math.min(...told)).toBeGreaterThanOrEqual(450);
    expect(Math.max(...told)).toBeLessThanOrEqual(900);
  });
});

describe('in every situation', () => {
  const situations = fc.record({
    nowMs: fc.double({ min: 0, max: 1e7, noNaN: true }),
    depth: fc.nat(5000),
    low: fc.nat(2000),
    drainRate: fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
    steadyRate: fc.option(fc.double({ min: 1e-6, max: 1e6, noNaN: true })),
    paceAgeS: fc.double({ min: 0, max: 1e6, noNaN: true }),
    lateShare: fc.double({ min: 0, max: 1, noNaN: true }),
    isStalled: fc.boolean(),
    gapMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
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
    maxWaitMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: undefined }),
    habit: habits,
  });
  const reasons = fc.constantFrom<RefusalReason>('shedding', 'full', 'wait', 'shed', 'closing', 'pressure');

  it('it is a whole number of seconds within the bounds', () => {
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
            // Time only goes on, by steps of any size.
            nowMs += state.nowMs;
            retryAfter.arrive(nowMs);
            const seconds = retryAfter.seconds(reason, refusal, { ...state, nowMs }, given);
            const clamp = typeof refusal.habit === 'object' ? refusal.habit.maxSeconds : undefined;
            const least = Math.min(given.minSeconds, Math.max(1, Math.floor(clamp ?? Infinity)));
            if (!Number.isInteger(seconds) || seconds < least || seconds > given.maxSeconds) {
              throw new Error(`told ${String(seconds)}`);
            }
            if (retryAfter.booked < 0) throw new Error(`booked ${String(retryAfter.booked)}`);
          }
        },
      ),
      { seed: 6, numRuns: 400 },
    );
  });
});
