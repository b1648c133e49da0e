import type { Delivery } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { createBench, seeded, typesOf, type Bench } from '../harness.ts';
import { Marketplace, type Party } from '../marketplace.ts';
import { answer, shedding } from '../shedding.ts';
import { maxMinShares } from '../queue/max-min.ts';
import { isLong } from '../../long.ts';

// Ten workers with 100 ms each: 100/s. The flood begins at 20 s; its cost is measured from 22 s on.
const DRAIN_RATE = 100;
const FROM_S = 20;
const TO_S = isLong ? 50 : 35;
const MEASURED_S = 22;
const END_S = 400;

const others: readonly Party[] = [
  // Like GitHub: a refused delivery is lost.
  {
    name: 'never',
    perSecond: 4,
    fromS: 0,
    toS: 100,
    returns: false,
    delivery: () => ({ key: 'never', retries: false }),
  },
  { name: 'shop', perSecond: 4, fromS: 0, toS: 100, returns: true },
  { name: 'big', perSecond: 20, fromS: 0, toS: 100, returns: true },
];

interface Aftermath {
  readonly bench: Bench;
  readonly market: Marketplace;
  /** When shedding last ended, in seconds. */
  readonly openedS: number;
}

function flood(name: string, perSecond: number, delivery: NonNullable<Party['delivery']>): Party {
  return { name, perSecond, fromS: FROM_S, toS: TO_S, returns: false, delivery };
}

async function endure(floods: readonly Party[], seed = 1): Promise<Aftermath> {
  const random = seeded(seed);
  const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
  const market = new Marketplace(bench, random, 100);
  for (const party of [...others, ...floods]) market.join(party);
  await market.run(END_S);
  const { intake, events } = bench;
  expect(market.overflows).toBe(0);
  expect(intake.snapshot()).toMatchObject({ state: 'accepting', depth: 0, active: 0 });
  const openedS = (events.findLast(({ type }) => type === 'accepting')?.at ?? 0) / 1000;
  return { bench, market, openedS };
}

/** The part of its max-min share that each other party got during the flood. */
function parts({ market }: Aftermath, floods: readonly Party[]): Record<string, number> {
  const names = [...others, ...floods].map(({ name }) => name);
  const demands = new Map(names.map((name) => [name, market.of(name).offered(MEASURED_S, TO_S)]));
  const shares = maxMinShares(demands, DRAIN_RATE);
  return Object.fromEntries(
    others.map(({ name }) => [name, market.of(name).rate(MEASURED_S, TO_S) / (shares.get(name) ?? 0)]),
  );
}

function expectAtLeast(measured: Record<string, number>, least: number): void {
  for (const [name, part] of Object.entries(measured)) expect(part, name).toBeGreaterThanOrEqual(least);
}

describe('a flood of a forged sender that disables endpoints', () => {
  it('leaves other senders their share', async () => {
    const profile: SenderProfile = {
      name: 'forged',
      match: { header: 'x-forged' },
      switchOff: { inARow: 8 },
      source: 'none',
      verifiedAt: '2026-11-22',
    };
    const floods = [flood('forged', 1000, () => ({ key: 'forged', profile, maxWaitMs: 4000 }))];
    const aftermath = await endure(floods);
    expectAtLeast(parts(aftermath, floods), 0.9);
    expect(aftermath.market.of('never').lost).toBe(0);
  });
});

describe('a flood of forged senders that never retry', () => {
  // `lost` includes the first second or two, until the forged keys have used up the free places.
  const forged = [
    [1, 2000, 0.9, 0, 1.02, 5],
    [8, 500, 0.75, 36, 1.5, 70],
    [2, 1000, 0.9, 6, 1.02, 10],
    [5, 500, 0.8, 24, 1.3, 25],
    [20, 500, 0.6, 60, 1.6, 240],
  ] as const;
  it.each(isLong ? forged : forged.slice(0, 1))(
    'leaves other senders their share: %i forged keys with %i/s each',
    async (keys, perSecond, least, lost, attempts, delayS) => {
      const floods = Array.from({ length: keys }, (_, j) => {
        const key = `forged ${String(j)}`;
        return flood(key, perSecond, () => ({ key, retries: false }));
      });
      const aftermath = await endure(floods);
      const { market, openedS } = aftermath;
      expectAtLeast(parts(aftermath, floods), least);
      expect(market.of('never').lost).toBeLessThanOrEqual(lost);
      for (const name of ['shop', 'big']) {
        const account = market.of(name);
        expect(account.completed.length, name).toBe(account.events);
        expect(account.attempts / account.events, name).toBeLessThanOrEqual(attempts);
        expect(account.delayS(1), name).toBeLessThanOrEqual(delayS);
      }
      // Queued deliveries must start within ten seconds.
      expect(openedS).toBeLessThanOrEqual(TO_S + 10);
      // Then all senders are served as before.
      expect(market.of('never').rate(62, 100)).toBeGreaterThanOrEqual(0.85 * 4);
    },
  );

  it.each(isLong ? [1, 3, 30, 100] : [3])(
    'gets at most half of the starts beside one busy sender: %i forged keys',
    async (keys) => {
      const delivery = (i: number): Delivery => ({ key: `forged ${String(i % keys)}`, retries: false });
      for (const perSecond of [40, 100]) {
        const random = seeded(1);
        const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
        const market = new Marketplace(bench, random, 100);
        market.join({ name: 'stripe', perSecond, fromS: 0, toS: TO_S, returns: true });
        market.join(flood('forged', 1000, delivery));
        await market.run(END_S);
        const least = Math.min(DRAIN_RATE / 2, market.of('stripe').offered(MEASURED_S, TO_S));
        expect(market.of('stripe').rate(MEASURED_S, TO_S)).toBeGreaterThanOrEqual(0.9 * least);
        expect(market.of('stripe').completed.length).toBe(market.of('stripe').events);
      }
    },
  );

  it('takes the share of the sender whose key it forges, and no other share', async () => {
    const floods = [flood('forged', 1000, () => ({ key: 'never', retries: false }))];
    const aftermath = await endure(floods);
    const { shop, big } = parts(aftermath, floods);
    expectAtLeast({ shop: shop ?? 0, big: big ?? 0 }, 0.9);
    // Headers cannot tell the two apart. The effect ends with the flood.
    expect(aftermath.market.of('never').rate(MEASURED_S, TO_S)).toBeLessThan(1);
    expect(aftermath.market.of('never').rate(62, 100)).toBeGreaterThanOrEqual(0.85 * 4);
  });
});

describe('a flood of invented keys', () => {
  it.each(isLong ? [500, 2500] : [500])(
    'delays others hardly longer than it lasts: one delivery per key, %i/s',
    async (perSecond) => {
      const floods = [flood('invented', perSecond, (i) => ({ key: `invented ${String(i)}`, id: 'x' }))];
      const { market, openedS } = await endure(floods);
      // Fairness between keys: each of hundreds of keys gets its turn, and no key more than that.
      expect(market.of('big').rate(MEASURED_S, TO_S)).toBeLessThan(1);
      for (const name of ['shop', 'big']) {
        const account = market.of(name);
        expect(account.completed.length, name).toBe(account.events);
        expect(account.longestTold(), name).toBeLessThanOrEqual(65);
        expect(account.delayS(1), name).toBeLessThanOrEqual(TO_S - FROM_S + 70);
      }
      expect(openedS).toBeLessThanOrEqual(TO_S + 10);
    },
  );

  it('takes no more than the equal shares of its keys: many deliveries per key', async () => {
    const floods = [flood('invented', 500, (i) => ({ key: `invented ${String(i % 20)}`, id: String(i) }))];
    const aftermath = await endure(floods);
    const shares = maxMinShares(
      new Map([
        ...others.map(({ name, perSecond }) => [name, perSecond] as const),
        ...Array.from({ length: 20 }, (_, i) => [String(i), 25] as const),
      ]),
      DRAIN_RATE,
    );
    for (const { name } of others) {
      const rate = aftermath.market.of(name).rate(MEASURED_S, TO_S);
      expect(rate, name).toBeGreaterThanOrEqual(0.75 * (shares.get(name) ?? 0));
    }
  });
});

describe('a load test that never retries', () => {
  it('costs other keys nothing', async () => {
    const floods = [flood('load', 1000, () => ({ key: 'load' }))];
    const aftermath = await endure(floods);
    expectAtLeast(parts(aftermath, floods), 0.9);
    for (const { name } of others) expect(aftermath.market.of(name).lost, name).toBe(0);
    expect(aftermath.market.of('big').delayS(1)).toBeLessThanOrEqual(5);
  });

  it('delays the deliveries of its key that it displaced, and none after it', async () => {
    const random = seeded(1);
    const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
    const market = new Marketplace(bench, random, 100);
    const same = (i: number): { id: string } => ({ id: String(i) });
    market.join({ name: 'during', perSecond: 30, fromS: 0, toS: TO_S, returns: true, delivery: same });
    market.join({
      name: 'after',
      perSecond: 30,
      fromS: TO_S + 10,
      toS: 100,
      returns: true,
      delivery: (i) => ({ id: `after ${String(i)}` }),
    });
    market.join(flood('load', 500, () => ({})));
    await market.run(700);
    // 12,000 refused deliveries will never retry, but hold their booked seconds.
    expect(market.of('during').completed.length).toBe(market.of('during').events);
    expect(market.of('during').delayS(1)).toBeLessThanOrEqual(210);
    expect(market.of('after').completed.length).toBe(market.of('after').events);
    expect(market.of('after').delayS(1)).toBeLessThanOrEqual(5);
  });
});

describe('replayed ids of reservations', () => {
  it('admit no more deliveries than reserved, and cost other keys nothing', async () => {
    // The replayer has seen the deliveries of the bank and repeats the last hundred ids.
    let sent = 0;
    const burst: Party = {
      name: 'bank',
      perSecond: 300,
      fromS: 15,
      toS: 30,
      returns: true,
      delivery: (i) => {
        sent = i;
        return { key: 'bank', id: String(i) };
      },
    };
    const floods = [
      flood('replayed', 1000, (i) => ({ key: 'bank', id: String(Math.max(0, sent - (i % 100))) })),
    ];
    const { market, bench } = await endure([burst, ...floods]);
    for (const name of ['shop', 'big']) expect(market.of(name).delayS(1), name).toBeLessThanOrEqual(5);
    expect(market.of('never').lost).toBe(0);
    expect(market.of('bank').completed.length).toBe(market.of('bank').events);
    expect(bench.intake.snapshot().booked).toBeLessThan(1000);
  });
});

describe('forged handshakes', () => {
  it('are admitted at ten per second, and cost others nothing', async () => {
    const floods = [
      flood('load', 300, () => ({ key: 'load' })),
      flood('forged', 1000, () => ({ key: 'slack', handshake: true })),
    ];
    const aftermath = await endure(floods);
    expectAtLeast(parts(aftermath, floods), 0.9);
    expect(aftermath.market.of('never').lost).toBe(0);
    expect(typesOf(aftermath.bench.events)).not.toContain('stalled');
  });
});

describe.each(isLong ? [1, 3, 30] : [3])('the limits in SECURITY.md, with %i forged keys', (keys) => {
  it('hold for the reserve: no key gets more than half of it while another asks', () => {
    const bench = shedding('burst', 1000);
    const reserve = 1000 - bench.intake.snapshot().depth;
    const admitted = new Map<string, number>();
    for (let i = 0; i < 3000; i += 1) {
      const key = `forged ${String(i % keys)}`;
      const result = answer(bench, { key, priority: 'critical' });
      if (result === 'admitted') admitted.set(key, (admitted.get(key) ?? 0) + 1);
      answer(bench, { key: 'other', priority: 'critical' });
    }
    expect(Math.max(...admitted.values())).toBeLessThanOrEqual(reserve / 2);
  });

  it('hold for Retry-After of others: no further ahead than the drain rate is trusted', async () => {
    const floods = [flood('load', 1000, (i) => ({ key: `load ${String(i % keys)}`, id: String(i) }))];
    const { market } = await endure(floods);
    for (const name of ['shop', 'big']) {
      const over = market.of(name).told.filter(({ atS, seconds }) => {
        return seconds > Math.max(10 + 4 * atS, atS * Math.min(10, atS / 10));
      });
      expect(over, name).toEqual([]);
    }
  });
});
