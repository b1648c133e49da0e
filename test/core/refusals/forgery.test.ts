import { describe, expect, it } from 'vitest';
import { createBench, seeded, typesOf, type Bench } from '../harness.ts';
import { Marketplace, type Party } from '../marketplace.ts';
import { maxMinShares } from '../queue/max-min.ts';

// Ten workers of 100 ms: 100/s. The flood comes from 20 to 50 s, and what it costs is measured from 22 s on.
const DRAIN_RATE = 100;
const FROM_S = 20;
const TO_S = 50;
const MEASURED_S = 22;
const END_S = 400;

const honest: readonly Party[] = [
  // As GitHub: what is refused is lost.
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
  /** When the gate opened for the last time, in seconds. */
  readonly openedS: number;
}

function flood(name: string, perSecond: number, delivery: NonNullable<Party['delivery']>): Party {
  return { name, perSecond, fromS: FROM_S, toS: TO_S, returns: false, delivery };
}

async function endure(floods: readonly Party[], seed = 1): Promise<Aftermath> {
  const random = seeded(seed);
  const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
  const market = new Marketplace(bench, random, 100);
  for (const party of [...honest, ...floods]) market.join(party);
  await market.run(END_S);
  const { intake, events } = bench;
  expect(market.overflows).toBe(0);
  expect(intake.snapshot()).toMatchObject({ state: 'accepting', depth: 0, active: 0 });
  const openedS = (events.findLast(({ type }) => type === 'accepting')?.at ?? 0) / 1000;
  return { bench, market, openedS };
}

/** What each honest party got of its max-min share while the flood lasted. */
function parts({ market }: Aftermath, floods: readonly Party[]): Record<string, number> {
  const names = [...honest, ...floods].map(({ name }) => name);
  const demands = new Map(names.map((name) => [name, market.of(name).offered(MEASURED_S, TO_S)]));
  const shares = maxMinShares(demands, DRAIN_RATE);
  return Object.fromEntries(
    honest.map(({ name }) => [name, market.of(name).rate(MEASURED_S, TO_S) / (shares.get(name) ?? 0)]),
  );
}

function expectAtLeast(measured: Record<string, number>, least: number): void {
  for (const [name, part] of Object.entries(measured)) expect(part, name).toBeGreaterThanOrEqual(least);
}

describe('a flood of forged senders that never retry', () => {
  // A second or two pass until the forged keys have used up what they find free; that is in `lost` as well.
  it.each([
    [1, 2000, 0.9, 0, 1, 1],
    [2, 1000, 0.9, 6, 1.01, 10],
    [5, 500, 0.8, 24, 1.3, 25],
    [8, 500, 0.75, 36, 1.5, 70],
    [20, 500, 0.6, 60, 1.6, 240],
  ])(
    'of %i keys with %i/s each leaves the honest their part',
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
      // What waits has to start within ten seconds.
      expect(openedS).toBeLessThanOrEqual(TO_S + 10);
      // And then everybody is served as before.
      expect(market.of('never').rate(62, 100)).toBeGreaterThanOrEqual(0.85 * 4);
    },
  );

  it('under the name of an honest one takes its part, and nobody else’s', async () => {
    const floods = [flood('forged', 1000, () => ({ key: 'never', retries: false }))];
    const aftermath = await endure(floods);
    const { shop, big } = parts(aftermath, floods);
    expectAtLeast({ shop: shop ?? 0, big: big ?? 0 }, 0.9);
    // Who that is cannot be told from the headers. It is over when the flood is.
    expect(aftermath.market.of('never').rate(MEASURED_S, TO_S)).toBeLessThan(1);
    expect(aftermath.market.of('never').rate(62, 100)).toBeGreaterThanOrEqual(0.85 * 4);
  });
});

describe('a flood of invented keys', () => {
  it.each([500, 2500])(
    'with one delivery each, %i/s, delays the honest hardly longer than it lasts',
    async (perSecond) => {
      const floods = [flood('invented', perSecond, (i) => ({ key: `invented ${String(i)}`, id: 'x' }))];
      const { market, openedS } = await endure(floods);
      // Each of hundreds of keys gets its turn, and no key more than that: this is what fairness between keys means.
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

  it('with a handful of deliveries each takes no more than their number', async () => {
    const floods = [flood('invented', 500, (i) => ({ key: `invented ${String(i % 20)}`, id: String(i) }))];
    const aftermath = await endure(floods);
    const shares = maxMinShares(
      new Map([
        ...honest.map(({ name, perSecond }) => [name, perSecond] as const),
        ...Array.from({ length: 20 }, (_, i) => [String(i), 25] as const),
      ]),
      DRAIN_RATE,
    );
    for (const { name } of honest) {
      const rate = aftermath.market.of(name).rate(MEASURED_S, TO_S);
      expect(rate, name).toBeGreaterThanOrEqual(0.75 * (shares.get(name) ?? 0));
    }
  });
});

describe('a load test that never returns', () => {
  it('costs other keys nothing', async () => {
    const floods = [flood('load', 1000, () => ({ key: 'load' }))];
    const aftermath = await endure(floods);
    expectAtLeast(parts(aftermath, floods), 0.9);
    for (const { name } of honest) expect(aftermath.market.of(name).lost, name).toBe(0);
    expect(aftermath.market.of('big').delayS(1)).toBeLessThanOrEqual(5);
  });

  it('of the same key delays those that it displaced, and nobody after it', async () => {
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
    // 12,000 were refused that will not come, and hold the seconds that they were given.
    expect(market.of('during').completed.length).toBe(market.of('during').events);
    expect(market.of('during').delayS(1)).toBeLessThanOrEqual(210);
    expect(market.of('after').completed.length).toBe(market.of('after').events);
    expect(market.of('after').delayS(1)).toBeLessThanOrEqual(5);
  });

  it('does not keep a burst that comes after it waiting for those who never come', async () => {
    const random = seeded(1);
    const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
    const market = new Marketplace(bench, random, 100);
    const usual = { returns: true, fromS: 0, toS: 200 };
    market.join({ ...usual, name: 'usual', perSecond: 30, delivery: (i) => ({ id: String(i) }) });
    market.join(flood('load', 500, () => ({})));
    const burst = { returns: true, fromS: TO_S + 20, toS: TO_S + 30 };
    market.join({ ...burst, name: 'burst', perSecond: 250, delivery: (i) => ({ id: `burst ${String(i)}` }) });
    await market.run(END_S);
    // What the load test has booked reaches 140 s beyond the burst.
    expect(market.of('burst').completed.length).toBe(market.of('burst').events);
    expect(market.of('burst').delayS(1)).toBeLessThanOrEqual(80);
  });
});

describe('replayed ids of promises', () => {
  it('let in no more than were promised, and cost other keys nothing', async () => {
    // It has seen what the shop sends, and sends each of the last hundred ids again and again.
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
  it('are let in ten times a second, and cost the honest nothing', async () => {
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
