import { describe, expect, it } from 'vitest';
import { isLong } from '../../long.ts';
import { seeded } from './driven.ts';
import {
  bucket,
  concurrencyLimit,
  fixedWindow,
  type LimitedReceiver,
  sendTo,
  slidingWindow,
} from './receivers.ts';

const TIMES_SET = isLong ? [1, 1.5, 2, 5, 10] : [1, 10];
const ANY = isLong ? 200 : 20;
const FIVE_MINUTES = 300_000;

type Receiver = readonly [string, () => LimitedReceiver, number];

const MORE: readonly Receiver[] = [
  ['a bucket of 20', () => bucket(100, 20), 50],
  ['a bucket of 100', () => bucket(100, 100), 50],
  ['a fast bucket', () => bucket(1000, 100), 50],
  ['a sliding second', () => slidingWindow(100, 1000), 50],
];
const RECEIVERS: readonly Receiver[] = [
  ['a bucket of 1', () => bucket(100, 1), 50],
  ['a bucket of 20 without Retry-After', () => bucket(100, 20, null), 50],
  ['a bucket of 20 and slow answers', () => bucket(100, 20), 500],
  ['a slow bucket', () => bucket(5, 5), 50],
  ['windows of a minute', () => fixedWindow(1000, 60_000), 50],
  ['a sliding minute', () => slidingWindow(600, 60_000), 50],
  ['20 requests concurrently', () => concurrencyLimit(20, 100), 100],
  ...(isLong ? MORE : []),
];

describe('the learned rate', () => {
  it.each(
    RECEIVERS.flatMap(([name, make, serviceMs]) =>
      TIMES_SET.map((times) => ({ name, times, make, serviceMs })),
    ),
  )(
    'is at least 90 % of the capacity, 5 minutes of learning included: $name, set to $times times as much',
    ({ make, serviceMs, times }) => {
      const receiver = make();
      const setPerSecond = times * receiver.capacity;
      const run = sendTo(receiver, { setPerSecond, serviceMs, forMs: FIVE_MINUTES });
      expect(run.goodput / receiver.capacity).toBeGreaterThan(0.895);
      expect(run.attemptsPerEvent).toBeLessThan(1.05);
    },
  );

  it('uses a receiver of one request per second, also when that is the set rate', () => {
    for (const times of TIMES_SET) {
      const run = sendTo(bucket(1, 1), { setPerSecond: times, forMs: 2 * FIVE_MINUTES });
      expect(run.goodput).toBeGreaterThan(0.9);
      expect(run.attemptsPerEvent).toBeLessThan(1.1);
    }
  });

  it('uses a bucket that five senders share', () => {
    for (const times of TIMES_SET) {
      const run = sendTo(bucket(100, 20), { setPerSecond: 100 * times, senders: 5, forMs: FIVE_MINUTES });
      expect(run.goodput).toBeGreaterThan(90);
      expect(run.attemptsPerEvent).toBeLessThan(1.05);
    }
  });

  it(`uses any of ${String(ANY)} receivers`, { timeout: 60_000 }, () => {
    const random = seeded(25);
    const any = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const uses: number[] = [];
    const attempts: number[] = [];
    for (let i = 0; i < ANY; i += 1) {
      const perSecond = 2 * 100 ** random();
      const serviceMs = 5 * 100 ** random();
      const receiver = any([
        () => bucket(perSecond, Math.ceil(perSecond * random() + 1), any([0, 1000, 2000, null])),
        () => fixedWindow(Math.ceil(perSecond * 10), any([10_000, 60_000])),
        () => slidingWindow(Math.ceil(perSecond * 10), any([10_000, 60_000])),
        () => concurrencyLimit(Math.ceil((perSecond * serviceMs) / 1000) + 1, serviceMs),
      ])();
      const setPerSecond = receiver.capacity * (1 + 9 * random());
      const run = sendTo(receiver, { setPerSecond, serviceMs, forMs: FIVE_MINUTES }, i);
      uses.push(run.goodput / receiver.capacity);
      attempts.push(run.attemptsPerEvent);
    }
    attempts.sort((a, b) => a - b);
    expect(attempts.at(-1)).toBeLessThan(1.2);
    expect(attempts.at(-ANY / 10)).toBeLessThan(1.05);
    uses.sort((a, b) => a - b);
    expect(uses[0]).toBeGreaterThan(0.8);
    expect(uses[ANY / 10]).toBeGreaterThan(0.9);
    expect(uses[ANY / 2]).toBeGreaterThan(0.94);
  });

  it.each([
    { to: 10, forS: 15, burst: 100, most: 1.35 },
    { to: 0, forS: 30, burst: 20, most: 1.5 },
    { to: 10, forS: 15, burst: 20, most: 1.8 },
    { to: 10, forS: 60, burst: 20, most: 1.9 },
  ])('recovers from a drop to $to/s for $forS s with a bucket of $burst', ({ to, forS, burst, most }) => {
    const [fromS, usual, offered] = [30, 100, 60];
    const idealS = forS + (forS * (offered - to)) / (usual - offered);
    for (const times of TIMES_SET) {
      const rateAt = (ms: number): number => (ms >= fromS * 1000 && ms < (fromS + forS) * 1000 ? to : usual);
      const receiver = bucket(usual, burst, 1000, rateAt);
      const { backlog } = sendTo(receiver, { setPerSecond: usual * times, offered, forMs: FIVE_MINUTES });
      const clearAtS = backlog.findIndex((waiting, second) => second >= fromS + forS && waiting <= 5);
      expect(clearAtS).toBeGreaterThan(0);
      expect((clearAtS + 1 - fromS) / idealS).toBeLessThan(most);
    }
  });
});
