import { describe, expect, it } from 'vitest';
import { RetryAfterSeconds, type Situation } from '@webhook-backpressure/core/extend';
import type { FleetRates, Refused } from '../../../../packages/core/src/refusals/situation.ts';
import { refused, SETTINGS, situation } from './situation.ts';

/** Without jitter. One delivery is completed each second, and shedding ends in ten seconds. */
const SLOW: Partial<Situation> = { depth: 10, low: 0, drainRate: 1, presentRate: 1 };

function withoutJitter(random = 0): RetryAfterSeconds {
  return new RetryAfterSeconds(() => random);
}

/** The Retry-After of a delivery, in seconds. */
function refuse(retryAfter: RetryAfterSeconds, one: Refused, changes: Partial<Situation> = {}): number {
  return retryAfter.of('full', one, situation(one.arrival.nowMs, { ...SLOW, ...changes }), SETTINGS);
}

function book(retryAfter: RetryAfterSeconds, keys: string, nowMs = 0): readonly number[] {
  return Array.from(keys, (key) => refuse(retryAfter, refused({ key }, nowMs)));
}

/** How far the bookings of each account extend, in seconds. */
function ends(retryAfter: RetryAfterSeconds, nowMs = 0): Readonly<Record<string, number>> {
  return Object.fromEntries([...retryAfter.ends(nowMs)].map(([key, ms]) => [key ?? 'the line', ms / 1000]));
}

describe('the slots of retries', () => {
  it('follow one another in one line for the first of each key', () => {
    const retryAfter = withoutJitter();
    expect(book(retryAfter, 'abcd')).toEqual([10, 11, 12, 13]);
    expect(ends(retryAfter)).toEqual({ 'the line': 14 });
  });

  it('of a key follow the length of the line after its first, and then one another', () => {
    const retryAfter = withoutJitter();
    book(retryAfter, 'abcd');
    expect(book(retryAfter, 'ddd')).toEqual([17, 18, 19]);
    expect(ends(retryAfter)).toEqual({ d: 20, 'the line': 14 });
    // Two accounts have half of the rate each.
    expect(book(retryAfter, 'aadd')).toEqual([11, 13, 20, 22]);
    expect(ends(retryAfter, 4000)).toEqual({ a: 11, d: 20, 'the line': 10 });
    expect(ends(retryAfter, 60_000)).toEqual({ a: 0, d: 0, 'the line': 0 });
  });

  it('of a key with a limit are as far apart as its starts', () => {
    const retryAfter = withoutJitter();
    const slots = Array.from({ length: 4 }, () => refuse(retryAfter, refused({ spacingMs: 5000 })));
    expect(slots).toEqual([10, 15, 20, 25]);
  });

  it.each(['ab', 'ba'])(
    'are forgotten with the account when they have passed, opened in the order %s',
    (order) => {
      const retryAfter = withoutJitter();
      for (const key of order) retryAfter.moveEnd(key, 10_000, 0);
      retryAfter.moveEnd('a', 90_000, 0);
      retryAfter.moveEnd('b', 40_000, 0);
      book(retryAfter, 'c', 39_999);
      expect(Object.keys(ends(retryAfter))).toEqual([...Array.from(order), 'the line']);
      book(retryAfter, 'c', 40_000);
      expect(Object.keys(ends(retryAfter))).toEqual(['a', 'c', 'the line']);
    },
  );

  it('of a key whose account has ended begin in the line again', () => {
    const retryAfter = withoutJitter();
    book(retryAfter, 'aaa');
    expect(book(retryAfter, 'ab', 100_000)).toEqual([10, 11]);
    expect(ends(retryAfter, 100_000)).toEqual({ 'the line': 12 });
  });

  it('are kept in at most a thousand accounts', () => {
    const retryAfter = withoutJitter();
    for (let i = 0; i < 1001; i += 1) retryAfter.moveEnd(String(i), 5000, 1000);
    expect(Object.keys(ends(retryAfter))).toHaveLength(1001);
    expect(ends(retryAfter, 2000)).toMatchObject({ '999': 4, 'the line': 0 });
  });

  it('are moved behind those of other receivers', () => {
    const retryAfter = withoutJitter();
    retryAfter.moveEnd(null, 20_000, 1000);
    retryAfter.moveEnd('a', 30_000, 1000);
    expect(ends(retryAfter, 2000)).toEqual({ a: 29, 'the line': 19 });
    expect(book(retryAfter, 'ab', 1000)).toEqual([30, 20]);
  });

  it('are stretched and compressed by a new pace', () => {
    const retryAfter = withoutJitter();
    book(retryAfter, 'aaa', 1000);
    expect(ends(retryAfter, 1000)).toEqual({ a: 13, 'the line': 11 });
    refuse(retryAfter, refused({ key: 'b', habit: 'ignored' }, 1000), { drainRate: 2 });
    expect(ends(retryAfter, 1000)).toEqual({ a: 6.5, 'the line': 5.5 });
    refuse(retryAfter, refused({ key: 'b', habit: 'ignored' }, 1000), { drainRate: 1 });
    expect(ends(retryAfter, 1000)).toEqual({ a: 13, 'the line': 11 });
    refuse(retryAfter, refused({ key: 'b', habit: 'ignored' }, 1000), { drainRate: 1.25 });
    expect(ends(retryAfter, 1000)).toEqual({ a: 13, 'the line': 11 });
  });

  it('of a fleet are spread by its share, and stretched only while its size is settled', () => {
    const retryAfter = withoutJitter();
    let isSettled = false;
    const fleet: FleetRates = {
      othersRate: 3,
      share: () => 0.5,
      complete: (one) => one,
      isSettled: () => isSettled,
      booked: () => undefined,
    };
    retryAfter.fleet = fleet;
    book(retryAfter, 'a');
    expect(ends(retryAfter)).toEqual({ 'the line': 10.5 });
    retryAfter.moveEnd(null, 20_000, 0);
    const [double, half] = [{ drainRate: 5 }, { drainRate: 1 }];
    refuse(retryAfter, refused({ key: 'b', habit: 'ignored' }), double);
    expect(ends(retryAfter)).toEqual({ 'the line': 20 });
    isSettled = true;
    refuse(retryAfter, refused({ key: 'b', habit: 'ignored' }), half);
    expect(ends(retryAfter)).toEqual({ 'the line': 40 });
  });

  it('are shown, and make later shedding a part of the same burst', () => {
    const retryAfter = withoutJitter();
    for (let ms = 0; ms < 30_000; ms += 1000) retryAfter.arrivals.note(ms);
    retryAfter.shed(30_000);
    const before = retryAfter.arrivals.perSecond;
    expect(before).toBeGreaterThan(0);
    refuse(retryAfter, refused({}, 30_000), { depth: 100 });
    retryAfter.seconds.advance(30_000);
    expect([...retryAfter.seconds.ahead().entries()].filter(([, count]) => count > 0)).toEqual([[9, 1]]);
    retryAfter.shed(110_000);
    expect(retryAfter.arrivals.perSecond).toBe(before);
    retryAfter.seconds.advance(200_000);
    retryAfter.shed(200_000);
    expect(retryAfter.arrivals.perSecond).toBe(0);
  });
});

describe('a retry is booked', () => {
  it.each<[string, Partial<Situation>, farthest: number]>([
    ['10 s at a new pace', { paceAgeS: 0 }, 10],
    ['10 s, and 4 s for each second of it', { paceAgeS: 5 }, 30],
    ['a tenth of its square', { paceAgeS: 60 }, 360],
    ['ten times as long', { paceAgeS: 150 }, 1500],
    ['3 s for each second of the burst that was late', { paceAgeS: 0, lateShare: 0.5, nowMs: 100_000 }, 160],
  ])('up to %s ahead', (_, changes, farthest) => {
    const settings = { ...SETTINGS, maxSeconds: 5000 };
    for (const [depth, expected] of [
      [farthest, farthest],
      [farthest + 1, Math.ceil(farthest / 2)],
    ] as const) {
      const retryAfter = withoutJitter();
      retryAfter.shed(0);
      const { nowMs = 0 } = changes;
      const given = situation(nowMs, { ...SLOW, ...changes, depth });
      expect(retryAfter.of('full', refused({}, nowMs), given, settings)).toBe(expected);
    }
  });

  it.each([
    // Two completions at a tenth per second take longer than 10 s.
    [{ drainRate: 0.1, depth: 2 }, 20],
    [{ drainRate: 0.1, depth: 2.1 }, 10],
    // A long gap stretches both, the farthest up to three times.
    [{ gapFactor: 2, depth: 10 }, 20],
    [{ gapFactor: 2, depth: 11 }, 10],
    [{ gapFactor: 5, depth: 6 }, 30],
    [{ gapFactor: 5, depth: 7 }, 15],
  ])('before the next completions of a new pace with %o: %i', (changes, expected) => {
    expect(refuse(withoutJitter(), refused(), { paceAgeS: 0, ...changes })).toBe(expected);
  });
});

describe('while the drain rate is unknown', () => {
  const UNKNOWN: Partial<Situation> = { drainRate: null, presentRate: null };

  it.each<[string, Partial<Situation>, number]>([
    ['5 s', UNKNOWN, 5],
    ['5 s if only that of the last seconds is', { presentRate: null }, 5],
    ['5 s in a gap of 3 s', { ...UNKNOWN, gapMs: 3000 }, 5],
    ['longer in a longer one', { ...UNKNOWN, gapMs: 3001 }, 9],
    ['1.75 times the length of a stall', { isStalled: true, gapMs: 20_000 }, 35],
    ['the maximum if that is as long', { isStalled: true, gapMs: 514_000 }, 900],
    ['three quarters of the maximum in a longer stall', { isStalled: true, gapMs: 515_000 }, 675],
  ])('Retry-After is %s at a mean chance', (_, changes, expected) => {
    expect(refuse(withoutJitter(0.5), refused(), changes)).toBe(expected);
  });

  it('a retry is promised if it is booked, and its sender honors it', () => {
    const dueMs = (strategy: 'booked' | 'depth', habit?: 'ignored'): number | undefined => {
      const retryAfter = withoutJitter(0.5);
      const one = refused({ id: '1', habit });
      retryAfter.of('full', one, situation(0, UNKNOWN), { ...SETTINGS, strategy });
      return retryAfter.promises.dueMs(one.arrival);
    };
    expect([dueMs('booked'), dueMs('depth'), dueMs('booked', 'ignored')]).toEqual([
      5000,
      undefined,
      undefined,
    ]);
  });

  it('a promise has no effect with the strategy depth', () => {
    const retryAfter = withoutJitter();
    const one = refused({ id: '1' });
    retryAfter.promises.add(one.arrival, 60_000);
    expect(refuse(retryAfter, one)).toBe(60);
    expect(retryAfter.of('full', one, situation(0), { ...SETTINGS, strategy: 'depth' })).toBe(8);
  });
});

it.each([
  [0, 8],
  [1, 10],
])(
  'with the strategy depth, Retry-After is the time to drain the queue and up to 20 %% at a chance of %i',
  (chance, expected) => {
    const settings = { ...SETTINGS, strategy: 'depth' as const };
    expect(withoutJitter(chance).of('full', refused(), situation(0), settings)).toBe(expected);
  },
);

it('after the switch is used, Retry-After is above a minute', () => {
  expect(withoutJitter().of('shed', refused(), situation(0), SETTINGS)).toBe(60);
});

it('leaves the rest of the drain rate for retries', () => {
  const retryAfter = withoutJitter();
  retryAfter.arrivals.perSecond = 5;
  expect(retryAfter.retryRate(10)).toBe(5);
});
