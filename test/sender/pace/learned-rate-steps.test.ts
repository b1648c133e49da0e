import { describe, expect, it } from 'vitest';
import { perSecondOf } from '../../../packages/sender/src/options/rates.ts';
import { LearnedRate } from '../../../packages/sender/src/pace/learned-rate.ts';

const SET = { amount: 100, periodMs: 1000, burst: 10 };
/** A rate begins at this share of its goal. */
const FROM = 0.93;

/** Requests that start every so many milliseconds, of which the first ones succeed. Returns when the next one would start. */
function send(rate: LearnedRate, count: number, everyMs: number, fromMs = 0, successes = count): number {
  for (let i = 0; i < count; i += 1) rate.started(fromMs + i * everyMs);
  for (let i = 0; i < successes; i += 1) rate.succeeded(fromMs + i * everyMs);
  return fromMs + count * everyMs;
}

/** Sends at the learned rate until that is so high. Returns how long that took, in milliseconds, and how many requests. */
function sendUntil(rate: LearnedRate, perSecond: number, fromMs: number): { tookMs: number; count: number } {
  let nowMs = fromMs;
  let count = 0;
  for (; perSecondOf(rate.limit) < perSecond; count += 1)
    nowMs = send(rate, 1, 1000 / perSecondOf(rate.limit), nowMs);
  return { tookMs: nowMs - fromMs, count };
}

/** A receiver that was refused at 100/s after a second in which it accepted 25, so that the goal is √(100 × 25) = 50. */
function refusedOnce(pauseMs = 0): LearnedRate {
  const rate = new LearnedRate(SET);
  rate.refused(pauseMs, send(rate, 100, 10, 0, (25 * (1000 + pauseMs)) / 1000));
  expect(perSecondOf(rate.limit)).toBeCloseTo(FROM * 50);
  return rate;
}

describe('the first refusal', () => {
  it('sets the goal between the present rate and what was accepted, its pause included', () => {
    const rate = new LearnedRate(SET);
    expect([rate.limit, rate.isWhole]).toEqual([SET, true]);
    // 25 in two seconds.
    rate.refused(1000, send(rate, 100, 10, 0, 25));
    const amount = Math.round(FROM * Math.sqrt(100 * 12.5) * 100);
    expect([rate.limit, rate.isWhole]).toEqual([{ amount, periodMs: 100_000, burst: 1 }, false]);
  });

  it.each([
    ['20 in the last second', 20, 50, 1000, 20],
    ['one in 20 ms at the least', 1, 5, 5, 100],
    ['more than half of the set rate', 51, 20, 1020, 100],
    ['of the last two windows', 40, 50, 2000, 20],
    ['of the last two windows, the last one just begun', 41, 25, 1025, 40],
  ])('is one of the rate that was used: %s', (_, count, everyMs, atMs, used) => {
    const rate = new LearnedRate(SET);
    send(rate, count, everyMs, 0, 4);
    rate.refused(0, atMs);
    const accepted = Math.min(used, 4000 / atMs);
    expect(perSecondOf(rate.limit)).toBeCloseTo(FROM * Math.sqrt(used * accepted), 1);
  });

  it('counts the starts of the window before with its time', () => {
    const rate = new LearnedRate(SET);
    send(rate, 2, 100, send(rate, 20, 25));
    rate.refused(0, 700);
    // 22 starts in 700 ms, all of which succeeded.
    expect(perSecondOf(rate.limit)).toBeCloseTo(FROM * (22 / 0.7), 1);
  });

  it('forgets starts before an idle window', () => {
    const rate = new LearnedRate(SET);
    send(rate, 30, 10);
    send(rate, 4, 50, 1000);
    rate.refused(0, 1200);
    // 4 starts in 200 ms, and 34 successes in 1.2 s.
    expect(perSecondOf(rate.limit)).toBeCloseTo(FROM * 20, 1);
  });

  it('of a documented limit is one at the present rate, of which half is accepted', () => {
    const rate = new LearnedRate(SET, () => 4);
    rate.refused(0, send(rate, 1, 1, 0, 0));
    expect(perSecondOf(rate.limit)).toBeCloseTo(FROM * Math.sqrt(100 * 50), 1);
  });

  it('lets a fast rate save 5 ms of it, and no more than the set burst', () => {
    const bursts = [1e5, 1e4, 400].map((perSecond) => {
      const rate = new LearnedRate({ amount: perSecond, periodMs: 1000, burst: 100 }, () => 1);
      rate.refused(0, 1);
      return rate.limit.burst;
    });
    // 5 ms of 65,761, 6576 and 263 per second.
    expect(bursts).toEqual([100, 32, 1]);
  });
});

describe('after a refusal', () => {
  it.each([
    [0, 2],
    [2000, 2],
    [10_000, 10],
  ])(
    'with a pause of %i ms the rate reaches the goal in %i s, and twice the goal in as long again',
    (pauseMs, searchS) => {
      const rate = refusedOnce(pauseMs);
      const toGoal = sendUntil(rate, 49.99, 20_000);
      expect(toGoal.tookMs / 1000 / searchS).toBeGreaterThan(0.85);
      expect(toGoal.tookMs / 1000 / searchS).toBeLessThan(1.15);
      const toSet = sendUntil(rate, 99.9, 40_000);
      expect(toSet.tookMs / 1000 / searchS).toBeGreaterThan(0.85);
      expect(toSet.tookMs / 1000 / searchS).toBeLessThan(1.15);
      expect(rate.isWhole).toBe(rate.limit.amount === SET.amount);
    },
  );

  it('approaches the goal fast at first, and slowly near it', () => {
    const rate = refusedOnce(10_000);
    // Half of the way: an eighth of the first distance is left. Limits are changed from 2 % on.
    send(rate, 250, 20, 20_000);
    expect(perSecondOf(rate.limit)).toBeGreaterThan(50 * (1 - 0.07 / 8) * 0.98);
    expect(perSecondOf(rate.limit)).toBeLessThan(50);
  });

  it('does not count successes of requests that started before it', () => {
    const rate = refusedOnce();
    const { limit } = rate;
    for (let i = 0; i < 1000; i += 1) rate.succeeded(999);
    expect(rate.limit).toBe(limit);
    for (let i = 0; i < 1000; i += 1) rate.succeeded(1000);
    expect(rate.isWhole).toBe(true);
  });

  it('counts each success as one of each process that shares a documented limit', () => {
    const counts = [1, 4].map((sharers) => {
      const rate = new LearnedRate(SET, () => sharers);
      rate.refused(0, send(rate, 1, 1));
      return sendUntil(rate, 100, 1000).count;
    });
    expect((counts[0] as number) / (counts[1] as number)).toBeCloseTo(4, 0);
  });

  it('searches from the goal on when the set rate changes', () => {
    const rate = refusedOnce();
    rate.set({ ...SET, amount: 200 });
    expect(perSecondOf(rate.limit)).toBeCloseTo(50);
    const low = { ...SET, amount: 40 };
    rate.set(low);
    expect([rate.limit, rate.isWhole]).toEqual([low, true]);
  });

  it('keeps a limit that would change by less than 2 %', () => {
    const rate = refusedOnce(10_000);
    const limits = new Set([rate.limit]);
    for (let i = 0; i < 400; i += 1) {
      send(rate, 1, 20, 20_000 + i * 20);
      limits.add(rate.limit);
    }
    const rates = [...limits].map(perSecondOf);
    expect(rates).toHaveLength(4);
    for (let i = 1; i < 4; i += 1) expect((rates[i] as number) / (rates[i - 1] as number)).toBeCloseTo(1.02);
  });
});

describe('a further refusal', () => {
  /** The goal after it: the rate begins at a share of it. */
  const goalOf = (rate: LearnedRate): number => perSecondOf(rate.limit) / FROM;

  it('above the goal raises it, at most by half of the way', () => {
    const rate = refusedOnce();
    const { tookMs } = sendUntil(rate, 60, 2000);
    const refused = perSecondOf(rate.limit);
    rate.refused(0, 2000 + tookMs);
    expect(goalOf(rate)).toBeCloseTo(Math.sqrt(50 * refused), 0);
  });

  it('below the goal lowers it toward what was accepted', () => {
    const rate = refusedOnce();
    const nowMs = send(rate, 40, 22, 2000, 10);
    const refused = perSecondOf(rate.limit);
    rate.refused(0, nowMs);
    // 10 since the first refusal.
    expect(goalOf(rate)).toBeCloseTo(Math.sqrt(refused * (10_000 / (nowMs - 1000))), 0);
  });

  /** Searches until the rate is 3 % above the goal, and is refused then. Returns the time and the seconds to the goal. */
  const confirm = (rate: LearnedRate, fromMs: number): { nowMs: number; searchS: number } => {
    const goal = goalOf(rate);
    const { tookMs } = sendUntil(rate, goal * 1.03, fromMs);
    rate.refused(0, fromMs + tookMs);
    expect(goalOf(rate) / goal).toBeGreaterThan(1);
    expect(goalOf(rate) / goal).toBeLessThan(1.04);
    // 3 % above it is 0.21 of the least time beyond it.
    return { nowMs: fromMs + tookMs, searchS: tookMs / 1000 - 0.21 * 2 };
  };

  it('that confirms the goal lets the next search take 1.4 times as long, up to 20 times the first one', () => {
    const rate = refusedOnce();
    let nowMs = 1000;
    for (let searches = 0; searches < 14; searches += 1) {
      const one = confirm(rate, nowMs);
      nowMs = one.nowMs;
      expect(one.searchS / Math.min(40, 2 * 1.4 ** searches)).toBeGreaterThan(0.9);
      expect(one.searchS / Math.min(40, 2 * 1.4 ** searches)).toBeLessThan(1.1);
    }
  });

  /** Is refused at about this rate after so many successes in ten seconds. Returns the seconds of the next search. */
  const searchAfter = (rate: LearnedRate, perSecond: number, successes: number, fromMs: number): number => {
    rate.refused(0, send(rate, perSecond * 10, 1000 / perSecond, fromMs, successes));
    return sendUntil(rate, goalOf(rate) * 0.9999, fromMs + 20_000).tookMs / 1000;
  };

  it('that moves the goal far lets the next search take as long as the first one', () => {
    const rate = refusedOnce();
    // From 50 to √(10 × 5), and then on to √(2 × 1).
    expect(searchAfter(rate, 10, 50, 1000)).toBeLessThan(2.4);
    expect(goalOf(rate)).toBeLessThan(8);
    expect(searchAfter(rate, 2, 10, 60_000)).toBeLessThan(2.9);
  });

  it.each([
    [1300, 2.8],
    [1400, 15],
  ])('%i ms after the pause, of a search of 10.8 s, lets the next one take %d s', (sinceMs, searchS) => {
    const rate = refusedOnce();
    let nowMs = 1000;
    for (let searches = 0; searches < 5; searches += 1) nowMs = confirm(rate, nowMs).nowMs;
    send(rate, sinceMs / 20, 20, nowMs + 5000);
    nowMs += 5000 + sinceMs;
    rate.refused(0, nowMs);
    const { tookMs } = sendUntil(rate, goalOf(rate) * 0.9999, nowMs + 5000);
    expect(tookMs / 1000 / searchS).toBeGreaterThan(0.85);
    expect(tookMs / 1000 / searchS).toBeLessThan(1.15);
  });
});

describe('the learned rate', () => {
  it('does not rise while it is not used', () => {
    const rate = new LearnedRate({ amount: 100, periodMs: 1000, burst: 10 });
    rate.started(0);
    rate.succeeded(0);
    rate.refused(1000, 100);
    const { limit } = rate;
    for (let now = 2000; now < 100_000; now += 10_000) rate.started(now);
    expect(rate.limit).toBe(limit);
  });

  it('stays while the receiver accepts nothing', () => {
    const rate = new LearnedRate({ amount: 100, periodMs: 1000, burst: 10 });
    for (let now = 0; now < 1000; now += 10) rate.started(now);
    for (let now = 0; now < 1000; now += 10) rate.succeeded(now);
    rate.refused(1000, 1000);
    const { limit } = rate;
    expect(perSecondOf(limit)).toBeGreaterThan(40);
    for (let now = 2000; now < 100_000; now += 1000) {
      rate.started(now);
      rate.refused(1000, now + 5);
    }
    expect(rate.limit).toBe(limit);
  });

  it.each([2, 3.7, 10, 128, 9999, 1_000_000])(
    'of %d/s falls to one request per second at the least',
    (set) => {
      const rate = new LearnedRate({ amount: Math.round(set * 10), periodMs: 10_000, burst: 1 });
      for (let now = 0; now < 100_000; now += 2000) {
        rate.started(now);
        rate.succeeded(now);
        rate.refused(1000, now + 1);
        expect(perSecondOf(rate.limit)).toBeGreaterThanOrEqual(0.9);
        expect(Number.isSafeInteger(rate.limit.amount)).toBe(true);
      }
      expect(perSecondOf(rate.limit)).toBeLessThan(1.1);
    },
  );

  it('never falls below a set rate of less than one request per second', () => {
    const slow = { amount: 1, periodMs: 60_000, burst: 1 };
    const rate = new LearnedRate(slow);
    rate.started(0);
    rate.refused(1000, 100);
    expect(perSecondOf(rate.limit)).toBeGreaterThan(0.9 * perSecondOf(slow));
  });
});
