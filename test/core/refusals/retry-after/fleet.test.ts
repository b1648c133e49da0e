import { describe, expect, it } from 'vitest';
import type { RefusalExchange, RefusalNews } from '../../../../packages/core/src/refusals/fleet-exchange.ts';
import { promiseHash } from '../../../../packages/core/src/refusals/promise-hash.ts';
import type { RetryAfter } from '../../../../packages/core/src/refusals/retry-after.ts';
import { countPerSecond, createRetryAfter, refused, SETTINGS, situation } from './situation.ts';

/** Two receivers of 50/s each: together they handle 100 retries per second. */
const RATE = 50;
const BEAT_MS = 2000;

/** A receiver with 400 queued deliveries, of which 250 may stay queued: shedding ends in 3 s. */
class Receiver {
  readonly retryAfter: RetryAfter;
  readonly exchange: RefusalExchange;
  /** When the retries return that it has refused. */
  readonly returns: number[] = [];

  constructor(seed: number) {
    this.retryAfter = createRetryAfter(seed);
    this.exchange = this.retryAfter.join((nowMs) => this.#at(nowMs));
  }

  refuse(nowMs: number, id?: string): number {
    // Otherwise nothing would seem to return.
    this.retryAfter.arrive(nowMs);
    const seconds = this.retryAfter.seconds('shedding', refused({ id }), this.#at(nowMs), SETTINGS);
    this.returns.push(nowMs + seconds * 1000);
    return seconds;
  }

  #at(nowMs: number): ReturnType<typeof situation> {
    return situation(nowMs, { depth: 400, low: 250, drainRate: RATE, steadyRate: RATE, paceAgeS: 3600 });
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
      const at = situation(100_000, {
        depth: 400,
        low: 250,
        drainRate: RATE,
        steadyRate: RATE,
        paceAgeS: 3600,
      });
      last = alone.seconds('shedding', refused(), at, SETTINGS);
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
  const rates = { returnRate: RATE, freshRate: 0, drainRate: RATE, paceAgeS: 3600 };
  const idle = { ...rates, ahead: [['', 0]], gapFactor: 1, isShedding: false };

  it('knows the first attempts of before the burst although another one sheds first', () => {
    const { retryAfter, exchange } = new Receiver(1);
    const arrive = (fromMs: number, toMs: number, everyMs: number): void => {
      for (let nowMs = fromMs; nowMs < toMs; nowMs += everyMs) retryAfter.arrive(nowMs);
    };
    arrive(0, 60_000, 100);
    exchange.learn({ others: [{ ...idle, isShedding: true }], news: [] }, 60_000);
    arrive(60_000, 90_000, 10);
    retryAfter.shed(90_000);
    expect(exchange.state(90_000).freshRate).toBeGreaterThan(9);
    expect(exchange.state(90_000).freshRate).toBeLessThan(12);
    expect(exchange.state(90_000).isShedding).toBe(true);
  });

  it('books like the others before it knows its own drain rate', () => {
    const retryAfter = createRetryAfter(1);
    const unknown = { ...at(100_000), drainRate: null, steadyRate: null, paceAgeS: 0 };
    const exchange = retryAfter.join(() => unknown);
    const ahead = [
      ['shop', 200],
      ['', 100],
    ];
    exchange.learn({ others: [{ ...idle, ahead }], news: [] }, 100_000);
    const delay = (key: string): number => {
      return retryAfter.seconds('shedding', refused({ key }), unknown, SETTINGS);
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
      const exchange = retryAfter.join((nowMs) => at(nowMs));
      if (join) exchange.learn({ others: [idle], news: [] }, 0);
      for (let i = 0; i < 1000; i += 1) retryAfter.seconds('shedding', refused(), at(0), SETTINGS);
      return retryAfter.seconds('shedding', refused(), { ...at(0), gapFactor: 2 }, SETTINGS);
    };
    expect(delay(false)).toBeGreaterThan(40);
    expect(delay(true)).toBeLessThan(27);
  });
});

describe('a promise', () => {
  const key = 'shop';

  it('is due at the other receiver too, used once, and unknown without a beat', () => {
    const [first, second] = pair();
    const dueMs = first.refuse(0, 'a') * 1000;
    expect(second.retryAfter.reservationOf(key, { id: 'a' })).toBeUndefined();
    beat([first, second], 1000);
    expect(second.retryAfter.reservationOf(key, { id: 'a' })?.isDue(dueMs)).toBe(true);
    second.retryAfter.redeem(key, { id: 'a' }, dueMs);
    expect(second.retryAfter.promises).toEqual({ kept: 1, missed: 0 });
    expect(second.retryAfter.reservationOf(key, { id: 'a' })).toBeUndefined();
    expect(first.retryAfter.reservationOf(key, { id: 'a' })).toBeDefined();
    beat([first, second], dueMs + 1000);
    expect(first.retryAfter.reservationOf(key, { id: 'a' })).toBeUndefined();
  });

  it('is not reported after it was used at the receiver that gave it', () => {
    const [first, second] = pair();
    first.refuse(0, 'a');
    first.retryAfter.redeem(key, { id: 'a' }, 3000);
    const [news] = beat([first, second], 4000);
    expect(news?.added).toEqual([]);
    expect(news?.redeemed).toEqual([]);
  });

  it('is repeated by the other receiver while it is ahead, without a second booking', () => {
    const [first, second] = pair();
    for (let i = 0; i < 1000; i += 1) first.refuse(0);
    const seconds = first.refuse(0, 'a');
    beat([first, second], 1000);
    expect(Math.abs(second.refuse(2000, 'a') + 2 - seconds)).toBeLessThanOrEqual(1);
    expect(second.retryAfter.booked).toBe(0);
  });

  it('moves to the receiver that refused the delivery last', () => {
    const [first, second] = pair();
    const dueMs = first.refuse(0, 'a') * 1000;
    beat([first, second], 1000);
    const againMs = dueMs + second.refuse(dueMs, 'a') * 1000;
    beat([first, second], dueMs + 1000);
    expect(first.retryAfter.reservationOf(key, { id: 'a' })?.isDue(againMs)).toBe(true);
  });

  it('is reported again if the beat did not reach the registry', () => {
    const [first, second] = pair();
    first.refuse(0, 'a');
    first.exchange.news(1000);
    const [news] = beat([first, second], 2000);
    expect(news?.added.length).toBe(2);
    expect(beat([first, second], 4000)[0]?.added).toEqual([]);
  });
});

describe('the news of a beat', () => {
  it('has a bounded length, and passes on everything in a few beats', () => {
    const [first, second] = pair();
    const refuse = (key: string, id: string): void => {
      first.retryAfter.seconds('shedding', refused({ key, id }), at(0), SETTINGS);
    };
    for (let i = 0; i < 3000; i += 1) refuse('shop', String(i));
    for (let i = 0; i < 500; i += 1) refuse(`key ${String(i)}`, 'a');
    const { booked } = first.retryAfter;
    expect(booked).toBeGreaterThan(3100);
    let reported = 0;
    let counted = 0;
    for (let nowMs = 0; nowMs < 20_000; nowMs += BEAT_MS) {
      const [news] = beat([first, second], nowMs);
      expect(JSON.stringify(news).length).toBeLessThan(40_000);
      expect(news?.booked.length).toBeLessThanOrEqual(33);
      reported += (news?.added.length ?? 0) / 2;
      for (const [, count] of news?.booked ?? []) counted += count;
    }
    expect({ reported, counted }).toEqual({ reported: booked, counted: booked });
  });

  it('fits into 64 KiB, and the state into 4 KiB, whatever is in keys and ids', () => {
    const [first] = pair();
    for (let i = 0; i < 100; i += 1) {
      const key = `${'\u0001'.repeat(i % 2 === 0 ? 60 : 250)}${String(i)}`;
      for (let j = 0; j < 30; j += 1) {
        const id = `${'\u0001'.repeat(200)}${String(j)}`;
        first.retryAfter.seconds('shedding', refused({ key, id }), at(0), SETTINGS);
        if (j % 3 === 0) first.retryAfter.redeem(key, { id }, 0);
      }
    }
    const news = first.exchange.news(1000);
    expect(news.added.length).toBe(2000);
    expect(news.booked.reduce((sum, [, count]) => sum + count, 0)).toBe(first.retryAfter.booked);
    expect(JSON.stringify(news).length).toBeLessThan(64 * 1024);
    expect(JSON.stringify(first.exchange.state(1000)).length).toBeLessThan(4000);
  });

  it.each([
    [null],
    [{}],
    [{ spanS: 1, arrived: 1, due: 0, booked: [['shop', -1]], added: [], redeemed: [] }],
    [{ spanS: 1, arrived: 1, due: 0, booked: [], added: ['x'], redeemed: [] }],
    [{ spanS: 1, arrived: 1, due: 0, booked: {}, added: [], redeemed: [] }],
    [{ spanS: 1, arrived: 1e308, due: 1e308, booked: [['', 1e308]], added: [], redeemed: [] }],
  ])('is ignored if no release writes it: %j', (news) => {
    const [first, second] = pair();
    const state = { ...second.exchange.state(2000), returnRate: 1e308, freshRate: 1e308, paceAgeS: 1e308 };
    const others = [{ returnRate: 'x' }, state, state];
    first.exchange.learn({ others, news: [news, news] }, 2000);
    expect(first.refuse(2000)).toBeLessThan(8);
  });
});

describe('the hash of a promise', () => {
  it('differs for other keys and ids, also where their texts together are the same', () => {
    const hashes = new Set<number>();
    for (let i = 0; i < 20_000; i += 1) hashes.add(promiseHash('shop', `delivery-${String(i)}`));
    for (const [key, id] of [
      ['sho', 'pdelivery-1'],
      ['shopd', 'elivery-1'],
      ['delivery-1', 'shop'],
    ] as const)
      hashes.add(promiseHash(key, id));
    expect(hashes.size).toBe(20_003);
    for (const hash of hashes) expect(Number.isSafeInteger(hash)).toBe(true);
  });
});

function at(nowMs: number): ReturnType<typeof situation> {
  return situation(nowMs, { depth: 400, low: 250, drainRate: RATE, steadyRate: RATE, paceAgeS: 3600 });
}
