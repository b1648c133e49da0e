import { describe, expect, it } from 'vitest';
import {
  drawTraffic,
  parseScenario,
  simulate,
  stream,
  type Traffic,
} from '@webhook-backpressure/planner/parts';
import { attemptSpans } from './src/bound/attempt-spans.ts';
import { boundOf } from './src/bound/bound.ts';

type Random = () => number;

const upTo = (most: number, random: Random): number => Math.floor(random() * (most + 1));
const oneOf = <T>(values: readonly T[], random: Random): T => values[upTo(values.length - 1, random)] as T;

describe('the spans of attempts', () => {
  function spansOf(sender: object): number[][] {
    const [parsed] = parseScenario({ ...SCENARIO, senders: [{ key: 'shop', ...sender }] }).senders;
    if (parsed === undefined) throw new Error('no sender');
    return attemptSpans(parsed, 86_400_000).map(({ fromMs, toMs }) => [fromMs, toMs].map(Math.round));
  }

  it.each<[string, object, number[][]]>([
    ['a sender that never retries', { retry: 'none', timeoutMs: 3000 }, [[0, 3000]]],
    ['a sender that waits forever', { retry: 'fixed:5' }, [[0, Infinity]]],
    [
      // Each attempt may be held until its timeout, or answered immediately.
      'a fixed delay',
      { retry: 'fixed:60', timeoutMs: 2000, maxAttempts: 3 },
      [
        [0, 2000],
        [60_000, 64_000],
        [120_000, 126_000],
      ],
    ],
    [
      'a spread schedule',
      { retry: 'schedule:10,100', timeoutMs: 1000, maxAttempts: 3 },
      [
        [0, 1000],
        [8000, 14_000],
        [88_000, 135_000],
      ],
    ],
    [
      'attempts that follow each other closely',
      { retry: 'fixed:1', timeoutMs: 2000, maxAttempts: 3 },
      [[0, 8000]],
    ],
    [
      'a sender that obeys any Retry-After',
      { retry: 'retry-after', timeoutMs: 5000, maxAttempts: 2 },
      [[0, Infinity]],
    ],
    [
      'a sender that clamps Retry-After',
      { retry: 'svix', timeoutMs: 1000, maxAttempts: 2 },
      [
        [0, 1000],
        [4000, 74_000],
      ],
    ],
    [
      // It has no last attempt: it may be asked to retry immediately, as often as the receiver wishes.
      'a sender that obeys any Retry-After for a minute',
      { profile: { ...ACME, timeoutMs: 1000, retries: { scheduleS: [0], windowS: 60 } } },
      [[0, 61_000]],
    ],
  ])('are those of %s', (_, sender, spans) => {
    expect(spansOf(sender)).toEqual(spans);
  });
});

const ACME = {
  name: 'acme',
  match: { header: 'x-acme' },
  retryAfter: { unit: 's' },
  source: 'a test',
  verifiedAt: '2026-11-22',
};

const SCENARIO = {
  service: { meanMs: 1000 },
  arrivals: [{ fromS: 0, toS: 1, perSecond: 1 }],
  senders: [{ key: 'shop', retry: 'none' }],
};

/** Deliveries that arrive at whole seconds. */
function trafficAt(arrivals: readonly { readonly atS: number; readonly sender: number }[]): Traffic {
  return {
    count: arrivals.length,
    firstMs: Float64Array.from(arrivals, ({ atS }) => atS * 1000),
    serviceMs: new Float64Array(arrivals.length).fill(1000),
    sender: Uint16Array.from(arrivals, ({ sender }) => sender),
  };
}

describe('the bound', () => {
  interface Fixed {
    readonly delayS: number;
    readonly timeoutS: number;
    readonly maxAttempts: number;
  }

  /** The seconds in which a delivery of 1 s can be handled, over all answers at whole seconds. */
  function slotsOf(atS: number, { delayS, timeoutS, maxAttempts }: Fixed, attempt = 1): Set<number> {
    const slots = new Set<number>();
    for (let second = atS; second < atS + timeoutS; second += 1) slots.add(second);
    for (let held = 0; attempt < maxAttempts && held <= timeoutS; held += 1) {
      const next = slotsOf(atS + held + delayS, { delayS, timeoutS, maxAttempts }, attempt + 1);
      for (const second of next) slots.add(second);
    }
    return slots;
  }

  /** The most deliveries that fit, by searching a place for each, which others may leave for another one. */
  function mostThatFit(slots: readonly ReadonlySet<number>[], workers: number): number {
    const takenBy = new Map<string, number>();
    const fits = (i: number, tried: Set<string>): boolean => {
      for (const second of slots[i] as ReadonlySet<number>) {
        for (let worker = 0; worker < workers; worker += 1) {
          const place = `${String(second)} ${String(worker)}`;
          if (tried.has(place)) continue;
          tried.add(place);
          const other = takenBy.get(place);
          if (other !== undefined && !fits(other, tried)) continue;
          takenBy.set(place, i);
          return true;
        }
      }
      return false;
    };
    return slots.reduce((count, _, i) => (fits(i, new Set()) ? count + 1 : count), 0);
  }

  it('is exact for deliveries of one second at whole seconds', () => {
    const random = stream(1, 'bounds');
    let overloads = 0;
    for (let run = 0; run < 100; run += 1) {
      const workers = 1 + upTo(1, random);
      const kinds = Array.from({ length: 3 }, () => ({
        delayS: 1 + upTo(3, random),
        timeoutS: 1 + upTo(2, random),
        maxAttempts: 1 + upTo(1, random),
      }));
      const arrivals = Array.from({ length: 3 + upTo(17, random) }, () => ({
        atS: upTo(2, random),
        sender: upTo(2, random),
      })).sort((a, b) => a.atS - b.atS);
      const scenario = parseScenario({
        ...SCENARIO,
        intake: { concurrency: workers },
        senders: kinds.map(({ delayS, timeoutS, maxAttempts }, index) => ({
          key: String(index),
          retry: `fixed:${String(delayS)}`,
          timeoutMs: timeoutS * 1000,
          maxAttempts,
        })),
      });
      const slots = arrivals.map(({ atS, sender }) => slotsOf(atS, kinds[sender] as Fixed));
      const most = mostThatFit(slots, workers);
      if (most < arrivals.length) overloads += 1;
      expect(boundOf(scenario, trafficAt(arrivals)).delivered).toBe(most);
    }
    expect(overloads).toBeGreaterThan(30);
  });

  it('is the number that the workers can handle until the last sender disconnects', () => {
    const scenario = parseScenario({
      ...SCENARIO,
      service: { meanMs: 100 },
      arrivals: [{ fromS: 0, toS: 60, perSecond: 500 }],
      senders: [{ key: 'hub', retry: 'none', timeoutMs: 10_000 }],
    });
    const bound = boundOf(scenario, drawTraffic(scenario));
    expect(bound).toEqual({ events: 30_000, delivered: 7000, lost: 23_000 });
  });

  it.each<[string, object, number]>([
    ['a standstill', { service: { meanMs: 100, standStill: [{ fromS: 10, toS: 20 }] } }, 6000],
    ['a slow phase', { service: { meanMs: 100, slow: [{ fromS: 10, toS: 20, factor: 2 }] } }, 6500],
    ['a knee', { service: { meanMs: 100, knee: [{ fromS: 0, concurrency: 5 }] } }, 3500],
    ['a limit on starts', { service: { meanMs: 100 }, intake: { maxStartsPerSecond: 50 } }, 3500],
    ['a service time longer than the timeout', { service: { meanMs: 11_000 } }, 0],
  ])('respects %s', (_, change, delivered) => {
    const scenario = parseScenario({
      ...SCENARIO,
      arrivals: [{ fromS: 0, toS: 60, perSecond: 500 }],
      senders: [{ key: 'hub', retry: 'none', timeoutMs: 10_000 }],
      ...change,
    });
    expect(boundOf(scenario, drawTraffic(scenario)).delivered).toBe(delivered);
  });

  it('of an inbox counts its places too, and those that become free', () => {
    const scenario = parseScenario({
      ...SCENARIO,
      mode: 'inbox',
      inbox: { capacity: 1000 },
      service: { meanMs: 100 },
      arrivals: [{ fromS: 0, toS: 60, perSecond: 500 }],
      senders: [{ key: 'hub', retry: 'none', timeoutMs: 1 }],
    });
    expect(boundOf(scenario, drawTraffic(scenario)).delivered).toBe(7000);
    // A second burst finds an empty inbox again.
    const arrivals = [0, 100].map((fromS) => ({ fromS, toS: fromS + 1, perSecond: 5000 }));
    const twice = parseScenario({ ...burst, arrivals });
    expect(boundOf(twice, drawTraffic(twice)).delivered).toBe(1200);
  });

  it('is no loss if the backlog fits into an inbox', async () => {
    const { scenario, traffic, results } = await simulate(burst);
    expect(boundOf(scenario, traffic).lost).toBe(0);
    expect(results.lost).toBe(0);
  });

  const POLICIES = ['intake', 'depth-rate', 'queue', 'constant:1', 'constant:20'];
  const HABITS = [
    'none',
    'retry-after',
    'fixed:2',
    'fixed:30',
    'schedule:0.5,5,20',
    'exponential:1:3:60',
    'svix',
  ];

  it('is beaten by no policy', async () => {
    const random = stream(1, 'policies');
    for (let run = 0; run < 24; run += 1) {
      const hasInbox = random() < 0.25;
      const limits = { concurrency: 1 + upTo(3, random), capacity: 1 + upTo(30, random) };
      const senders = Array.from({ length: 1 + upTo(2, random) }, (_, index) => ({
        key: String(index),
        retry: oneOf(HABITS, random),
        timeoutMs: 500 + upTo(8000, random),
        maxAttempts: 1 + upTo(5, random),
      }));
      const { scenario, traffic, results } = await simulate({
        seed: run,
        ...(hasInbox
          ? { mode: 'inbox', inbox: { ...limits, commitMs: upTo(20, random) } }
          : { intake: limits, policy: oneOf(POLICIES, random) }),
        service: { meanMs: 100 + upTo(300, random) },
        arrivals: [{ fromS: 0, toS: 6, perSecond: 5 + upTo(40, random), process: 'poisson' }],
        senders,
      });
      const bound = boundOf(scenario, traffic);
      expect(results.delivered, JSON.stringify(senders)).toBeLessThanOrEqual(bound.delivered);
    }
  });
});

/** A burst that stays below the high-water mark. */
const burst = {
  ...SCENARIO,
  mode: 'inbox',
  inbox: { capacity: 500 },
  service: { meanMs: 100 },
  arrivals: [{ fromS: 0, toS: 0.5, perSecond: 800 }],
  senders: [{ key: 'hub', retry: 'none', timeoutMs: 0.1 }],
};
