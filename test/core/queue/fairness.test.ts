import { describe, expect, it } from 'vitest';
import { createBench, exponential, seeded } from '../harness.ts';
import { maxMinShares } from './max-min.ts';
import { arrivals, percentile, runUntil, Workshop } from '../workshop.ts';

// Ten workers of 100 ms on average: 100/s to share. The times vary, or all handlers would end together.
const WORKERS = 10;
const SERVICE_MS = 100;
const CAPACITY_PER_S = 100;

/** Jain's index: 1 if all are equal, 1 ÷ n if one has everything. */
function jain(values: readonly number[]): number {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  return (sum * sum) / (values.length * squares);
}

interface Outcome {
  /** Handled per second. */
  readonly rates: Map<string, number>;
  /** The p99 from arrival to completion, in milliseconds. */
  readonly p99Ms: Map<string, number>;
  readonly offered: Map<string, number>;
}

/** Each key sends at random at its rate for a minute, through an intake with the default marks. */
async function contend(demands: ReadonlyMap<string, number>, seed: number, seconds = 60): Promise<Outcome> {
  const bench = createBench({ concurrency: WORKERS, capacity: 400, maxWaitMs: 4000 });
  const random = seeded(seed);
  const workshop = new Workshop(bench, () => exponential(random, SERVICE_MS));
  const offered = new Map<string, number>();
  for (const [key, perSecond] of demands) {
    arrivals(
      bench.clock,
      seconds * 1000,
      () => exponential(random, 1000 / perSecond),
      () => {
        offered.set(key, (offered.get(key) ?? 0) + 1);
        workshop.bring({ key });
      },
    );
  }
  await runUntil(bench.clock, seconds * 1000);
  const rates = new Map<string, number>();
  const p99Ms = new Map<string, number>();
  for (const key of demands.keys()) {
    const own = workshop.handled.filter((one) => one.key === key);
    rates.set(key, own.length / seconds);
    const delays = own.map(({ arrivedMs, endedMs }) => endedMs - arrivedMs);
    p99Ms.set(key, percentile(delays, 0.99));
  }
  return { rates, p99Ms, offered };
}

function demandsOf(...entries: [string, number][]): Map<string, number> {
  return new Map(entries);
}

describe('the reference calculation', () => {
  it('is max-min fair', () => {
    expect(maxMinShares(demandsOf(['a', 10], ['b', 60], ['c', 80]), 100)).toEqual(
      demandsOf(['a', 10], ['b', 45], ['c', 45]),
    );
    expect(maxMinShares(demandsOf(['a', 10], ['b', 20]), 100)).toEqual(demandsOf(['a', 10], ['b', 20]));
    expect(jain([1, 1, 1, 1])).toBe(1);
    expect(jain([1, 0, 0, 0])).toBe(0.25);
  });
});

describe('the intake', () => {
  it.each([2, 5, 20])('gives equal shares to %i equal keys that overload it', async (count) => {
    const demands = new Map(Array.from({ length: count }, (_, i) => [`key ${String(i)}`, 300 / count]));
    const { rates } = await contend(demands, count);
    expect(jain([...rates.values()])).toBeGreaterThanOrEqual(0.98);
    const total = [...rates.values()].reduce((sum, rate) => sum + rate, 0);
    expect(total).toBeGreaterThanOrEqual(0.95 * CAPACITY_PER_S);
  });

  // Each victim sends half of its equal share.
  it.each([
    ['four', 4, 10],
    ['nine', 9, 5],
    ['nineteen', 19, 2.5],
  ])('one at 20 times its share harms none of %s others', async (_, victims, perSecond) => {
    const names = Array.from({ length: victims }, (__, i) => `victim ${String(i)}`);
    for (const seed of [1, 2, 3]) {
      const demands = new Map(names.map((name) => [name, perSecond]));
      const alone = await contend(demands, seed);
      demands.set('noisy', (20 * CAPACITY_PER_S) / (victims + 1));
      const besides = await contend(demands, seed);
      const measured = new Map([...besides.offered].map(([key, count]) => [key, count / 60]));
      const shares = maxMinShares(measured, CAPACITY_PER_S);
      for (const name of names) {
        expect(besides.rates.get(name)).toBeGreaterThanOrEqual(0.95 * (shares.get(name) as number));
        expect(besides.p99Ms.get(name)).toBeLessThanOrEqual(2 * (alone.p99Ms.get(name) as number));
      }
      // The noisy key gets the rest.
      expect(besides.rates.get('noisy')).toBeGreaterThanOrEqual(0.9 * (shares.get('noisy') as number));
    }
  });

  it('serves unequal demands by max-min fairness', async () => {
    const demands = demandsOf(['tiny', 4], ['small', 15], ['large', 60], ['larger', 120], ['largest', 400]);
    const { rates, offered } = await contend(demands, 11);
    const measured = new Map([...offered].map(([key, count]) => [key, count / 60]));
    for (const [key, share] of maxMinShares(measured, CAPACITY_PER_S)) {
      expect(rates.get(key), key).toBeGreaterThanOrEqual(0.9 * share);
    }
  });
});
