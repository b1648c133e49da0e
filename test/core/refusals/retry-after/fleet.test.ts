import { describe, expect, it } from 'vitest';
import {
  type RefusalExchange,
  type RefusalNews,
  type RetryAfterSeconds,
  SharedRefusals,
} from '@webhook-backpressure/core/extend';
import { countPerSecond, createRetryAfter, refused, SETTINGS, situation } from './situation.ts';

/** Two receivers of 50/s each: together they handle 100 retries per second. */
const RATE = 50;
const BEAT_MS = 2000;

/** A receiver with 400 queued deliveries, of which 250 may stay queued: shedding ends in 3 s. */
class Receiver {
  readonly retryAfter: RetryAfterSeconds;
  readonly exchange: RefusalExchange;
  /** When the retries return that it has refused. */
  readonly returns: number[] = [];

  constructor(seed: number) {
    this.retryAfter = createRetryAfter(seed);
    this.exchange = new SharedRefusals(this.retryAfter, (nowMs) => this.#at(nowMs));
  }

  refuse(nowMs: number): number {
    const seconds = this.retryAfter.of('shedding', refused(), this.#at(nowMs), SETTINGS);
    this.returns.push(nowMs + seconds * 1000);
    return seconds;
  }

  #at(nowMs: number): ReturnType<typeof situation> {
    return situation(nowMs, { depth: 400, low: 250, drainRate: RATE, presentRate: RATE, paceAgeS: 3600 });
  }
}

/** Beats without delay: first all write, then all read. */
function beat(receivers: readonly Receiver[], nowMs: number): RefusalNews[] {
  const states = receivers.map(({ exchange }) => exchange.state(nowMs));
  const news = receivers.map(({ exchange }) => exchange.news(nowMs));
  for (const [index, { exchange }] of receivers.entries()) {
    const isOther = (_: unknown, other: number): boolean => other !== index;
    exchange.delivered();
    // As a registry passes them on.
    const view = { others: states.filter(isOther), news: news.filter(isOther) };
    exchange.learn(JSON.parse(JSON.stringify(view)) as typeof view, nowMs);
  }
  return news;
}

function pair(): [Receiver, Receiver] {
  const both: [Receiver, Receiver] = [new Receiver(1), new Receiver(2)];
  beat(both, 0);
  return both;
}

describe('two receivers of a fleet', () => {
  it.each([
    ['both refuse', [200, 200]],
    ['one refuses everything', [400, 0]],
  ])('book the rate of both while %s', (_, counts) => {
    const receivers = pair();
    for (let nowMs = 0; nowMs < 30_000; nowMs += BEAT_MS) {
      for (let i = 0; i < 400; i += 1) {
        for (const [index, receiver] of receivers.entries()) {
          if (i < (counts[index] ?? 0)) receiver.refuse(nowMs + (i * BEAT_MS) / 400);
        }
      }
      beat(receivers, nowMs + BEAT_MS);
    }
    const perSecond = countPerSecond(receivers.flatMap(({ returns }) => returns));
    // 6,000 retries in a minute, after the 3 s until shedding ends.
    expect(perSecond.length).toBeGreaterThan(57);
    expect(perSecond.length).toBeLessThan(68);
    const middle = perSecond.slice(10, 50);
    expect(middle.reduce((sum, count) => sum + count, 0) / middle.length).toBeCloseTo(2 * RATE, -1.2);
  });

  it('book behind each other when the refusals move to the other one', () => {
    const [first, second] = pair();
    for (let nowMs = 0; nowMs < 20_000; nowMs += BEAT_MS) {
      for (let i = 0; i < 400; i += 1) first.refuse(nowMs + i * 5);
      beat([first, second], nowMs + BEAT_MS);
    }
    // 4,000 retries take 40 s, of which 20 are over.
    expect(second.refuse(20_000)).toBeGreaterThan(15);
    expect(second.refuse(20_000)).toBeLessThan(30);
  });

  it('book as alone after one has left', () => {
    const [first] = pair();
    first.exchange.leave();
    for (let i = 0; i < 1000; i += 1) first.refuse(100_000);
    const alone = createRetryAfter(9);
    let last = 0;
    for (let i = 0; i < 1000; i += 1) {
      last = alone.of('shedding', refused(), at(100_000), SETTINGS);
    }
    expect(Math.abs((first.returns.at(-1) ?? 0) / 1000 - 100 - last)).toBeLessThanOrEqual(3);
  });

  it('book equal shares while the registry does not answer, and correct nothing of it afterwards', () => {
    const receivers = pair();
    for (let nowMs = 10_000; nowMs < 40_000; nowMs += 10) for (const one of receivers) one.refuse(nowMs);
    const before = receivers.map((one) => one.refuse(40_000));
    beat(receivers, 40_000);
    const after = receivers.map((one) => one.refuse(40_000));
    for (const [index, seconds] of after.entries()) {
      expect(Math.abs(seconds - (before[index] ?? 0))).toBeLessThanOrEqual(3);
    }
  });
});

describe('a receiver of a fleet', () => {
  const rates = { returnRate: RATE, drainRate: RATE, paceAgeS: 3600 };
  const idle = { ...rates, ahead: [['', 0]], gapFactor: 1, isShedding: false };

  it('knows the first attempts of before the burst although another one sheds first', () => {
    const { retryAfter, exchange } = new Receiver(1);
    const arrive = (fromMs: number, toMs: number, everyMs: number): void => {
      for (let nowMs = fromMs; nowMs < toMs; nowMs += everyMs) retryAfter.arrivals.note(nowMs);
    };
    arrive(0, 60_000, 100);
    exchange.learn({ others: [{ ...idle, isShedding: true }], news: [] }, 60_000);
    arrive(60_000, 90_000, 10);
    retryAfter.shed(90_000);
    expect(retryAfter.arrivals.perSecond).toBeGreaterThan(9);
    expect(retryAfter.arrivals.perSecond).toBeLessThan(12);
    expect(exchange.state(90_000).isShedding).toBe(true);
  });

  it('books like the others before it knows its own drain rate', () => {
    const retryAfter = createRetryAfter(1);
    const unknown = { ...at(100_000), drainRate: null, presentRate: null, paceAgeS: 0 };
    const exchange = new SharedRefusals(retryAfter, () => unknown);
    const ahead = [
      ['shop', 200],
      ['', 100],
    ];
    exchange.learn({ others: [{ ...idle, ahead }], news: [] }, 100_000);
    const delay = (key: string): number => {
      return retryAfter.of('shedding', refused({ key }), unknown, SETTINGS);
    };
    expect(Math.abs(delay('shop') - 201)).toBeLessThanOrEqual(2);
  });

  it('does not report the shedding of others as its own', () => {
    const { exchange } = new Receiver(1);
    exchange.learn({ others: [{ ...idle, isShedding: true }], news: [] }, 1000);
    expect(exchange.state(1000).isShedding).toBe(false);
  });

  it('stretches no delay by a gap in its completions while another one completes deliveries', () => {
    const delay = (join: boolean): number => {
      const retryAfter = createRetryAfter(1);
      const exchange = new SharedRefusals(retryAfter, at);
      if (join) exchange.learn({ others: [idle], news: [] }, 0);
      for (let i = 0; i < 1000; i += 1) retryAfter.of('shedding', refused(), at(0), SETTINGS);
      return retryAfter.of('shedding', refused(), { ...at(0), gapFactor: 2 }, SETTINGS);
    };
    expect(delay(false)).toBeGreaterThan(40);
    expect(delay(true)).toBeLessThan(27);
  });
});

describe('the news of a beat', () => {
  it('has a bounded length, and counts every booking once', () => {
    const [first, second] = pair();
    const refuse = (key: string): void => {
      first.retryAfter.of('shedding', refused({ key }), at(0), SETTINGS);
    };
    for (let i = 0; i < 3000; i += 1) refuse('shop');
    for (let i = 0; i < 500; i += 1) refuse(`key ${String(i)}`);
    const { total } = first.retryAfter.seconds;
    expect(total).toBeGreaterThan(3100);
    let counted = 0;
    for (let nowMs = 0; nowMs < 20_000; nowMs += BEAT_MS) {
      const [news] = beat([first, second], nowMs);
      expect(JSON.stringify(news).length).toBeLessThan(8000);
      expect(news?.booked.length).toBeLessThanOrEqual(33);
      for (const [, count] of news?.booked ?? []) counted += count;
    }
    expect(counted).toBe(total);
  });

  it('fits into 16 KB, and the state into 4 KB, whatever is in the keys', () => {
    const [first] = pair();
    for (let i = 0; i < 100; i += 1) {
      const key = `${'\u0001'.repeat(i % 2 === 0 ? 60 : 250)}${String(i)}`;
      for (let j = 0; j < 30; j += 1) first.retryAfter.of('shedding', refused({ key }), at(0), SETTINGS);
    }
    const news = first.exchange.news(1000);
    expect(news.booked.reduce((sum, [, count]) => sum + count, 0)).toBe(first.retryAfter.seconds.total);
    expect(JSON.stringify(news).length).toBeLessThan(16_000);
    expect(JSON.stringify(first.exchange.state(1000)).length).toBeLessThan(4000);
  });

  it.each([
    [null],
    [{}],
    [{ spanS: 1, booked: [['shop', -1]] }],
    [{ spanS: 1, booked: {} }],
    [{ booked: [] }],
    [{ spanS: 1, booked: [['', 1e308]] }],
  ])('is ignored if no release writes it: %j', (news) => {
    const [first, second] = pair();
    const state = { ...second.exchange.state(2000), returnRate: 1e308, drainRate: 1e308, paceAgeS: 1e308 };
    const others = [{ returnRate: 'x' }, state, state];
    first.exchange.learn({ others, news: [news, news] }, 2000);
    expect(first.refuse(2000)).toBeLessThan(8);
  });
});

function at(nowMs: number): ReturnType<typeof situation> {
  return situation(nowMs, { depth: 400, low: 250, drainRate: RATE, presentRate: RATE, paceAgeS: 3600 });
}
