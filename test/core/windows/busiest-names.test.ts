import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BusiestNames, COUNTERS } from '../../../packages/observe/src/windows/busiest-names.ts';
import { SliceClock } from '../../../packages/observe/src/windows/slice-clock.ts';
import { COUNTS } from '../../../packages/observe/src/windows/sliced-figures.ts';
import { seeded } from '../harness.ts';
import { measured, type Measured } from './measured.ts';

const SLICE_MS = 5000;
const WINDOW_SLICES = 60;

interface Run {
  readonly seed: number;
  /** How unequal the keys are: the exponent of Zipf's law. */
  readonly skew: number;
  readonly keys: number;
  /** After this many arrivals the popularity of the keys changes. */
  readonly change: number;
  readonly perSlice: number;
}

/** Names of arrivals, one after another, with changing popularity. */
function* names({ seed, skew, keys, change }: Run): Generator<string> {
  const random = seeded(seed);
  const weights = Array.from({ length: keys }, (_, rank) => 1 / (rank + 1) ** skew);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  for (let arrival = 0; ; arrival += 1) {
    let left = random() * total;
    let rank = 0;
    for (; rank < keys - 1 && left > (weights[rank] as number); rank += 1) left -= weights[rank] as number;
    yield `k${String((rank + Math.floor(arrival / change) * 37) % keys)}`;
  }
}

const runs: fc.Arbitrary<Run> = fc.record({
  seed: fc.integer(),
  skew: fc.double({ min: 0, max: 2, noNaN: true }),
  keys: fc.integer({ min: 1, max: 600 }),
  change: fc.integer({ min: 50, max: 20_000 }),
  perSlice: fc.integer({ min: 1, max: 120 }),
});

describe('the busiest names', () => {
  it('miss no name with more than 1 % of the arrivals of two windows, and lack at most that many', () => {
    fc.assert(
      fc.property(runs, (run) => {
        const { monitor, read } = measured();
        const log: { readonly name: string; readonly slice: number }[] = [];
        const source = names(run);
        for (let arrival = 0; arrival < 12_000; arrival += 1) {
          const slice = Math.floor(arrival / run.perSlice);
          const name = source.next().value as string;
          monitor.arrived(name, undefined, slice * SLICE_MS);
          log.push({ name, slice });
          if (arrival % 997 === 0 || arrival === 11_999) check(read, log, slice);
        }
      }),
      { numRuns: 4 },
    );
  });

  it('are bounded in number, however many names there are', () => {
    const busiest = new BusiestNames();
    const slices = new SliceClock([busiest], 0);
    const random = seeded(7);
    let most = 0;
    for (let arrival = 0; arrival < 400_000; arrival += 1) {
      slices.advance(arrival);
      const isHeavy = random() < 0.05;
      busiest.arrived(isHeavy ? 'heavy' : `key-${String(arrival)}`).count(COUNTS.arrivals);
      most = Math.max(most, busiest.size);
    }
    expect(most).toBeLessThanOrEqual(201);
    const [first] = busiest.read('fiveMinutes');
    expect(first?.name).toBe('heavy');
    expect(first?.arrivals).toBeGreaterThan(14_000);
  });

  it('have no figures of the name whose counter they took', () => {
    const busiest = new BusiestNames();
    for (let arrival = 0; arrival < 5000; arrival += 1) {
      for (let what = 0; what < 3; what += 1) {
        busiest.arrived(`n${String(arrival)}`).count(COUNTS.arrivals);
      }
    }
    for (const { arrivals } of busiest.read('oneMinute')) expect(arrivals).toBe(3);
    expect(busiest.arrived('new')).toBe(busiest.find('new'));
    busiest.find('new')?.count(COUNTS.arrivals);
    expect(busiest.find('new')?.read('fiveMinutes')).toMatchObject({ arrivals: 1, refused: 0 });
    expect(busiest.find('n17')).toBeUndefined();
  });

  it('keep the figures of a name of the last epoch when it loses its counter', () => {
    const busiest = new BusiestNames();
    for (let arrival = 0; arrival < 1000; arrival += 1) busiest.arrived('before').count(COUNTS.arrivals);
    busiest.endEpoch();
    busiest.arrived('before').count(COUNTS.arrivals);
    for (let arrival = 0; arrival < 1000; arrival += 1)
      busiest.arrived(`n${String(arrival)}`).count(COUNTS.arrivals);
    expect(busiest.read('fiveMinutes')[0]).toMatchObject({ name: 'before', arrivals: 1001 });
    expect(busiest.size).toBe(101);
    busiest.endEpoch();
    expect(busiest.find('before')).toBeUndefined();
    expect(busiest.size).toBe(100);
  });

  it('are the twenty with the most arrivals, the most first', () => {
    const busiest = new BusiestNames();
    for (let rank = 0; rank < 50; rank += 1) {
      const place = (rank * 17) % 50;
      for (let arrival = 0; arrival <= place; arrival += 1) {
        busiest.arrived(`n${String(place)}`).count(COUNTS.arrivals);
      }
    }
    expect(busiest.read('oneMinute').map(({ name }) => name)).toEqual(
      Array.from({ length: 20 }, (_, place) => `n${String(49 - place)}`),
    );
  });

  it('remain listed when nothing of them arrives, but their deliveries complete', () => {
    const busiest = new BusiestNames();
    busiest.arrived('late').count(COUNTS.arrivals);
    for (let slice = 0; slice < 20; slice += 1) busiest.endSlice(slice);
    expect(busiest.read('oneMinute')).toEqual([]);
    busiest.find('late')?.count(COUNTS.completed);
    expect(busiest.read('oneMinute')).toMatchObject([{ name: 'late', arrivals: 0, completed: 1 }]);
  });
});

function check(
  read: Measured['read'],
  log: readonly { readonly name: string; readonly slice: number }[],
  slice: number,
): void {
  const exact = new Map<string, number>();
  let recent = 0;
  for (const event of log) {
    if (event.slice <= slice - 2 * WINDOW_SLICES) continue;
    recent += 1;
    if (event.slice > slice - WINDOW_SLICES) exact.set(event.name, (exact.get(event.name) ?? 0) + 1);
  }
  const bound = recent / COUNTERS;
  const { keys } = read(slice * SLICE_MS).fiveMinutes;
  const reported = new Map(keys.map(({ name, arrivals }) => [name, arrivals]));
  for (const [name, arrivals] of reported) {
    expect(arrivals).toBeLessThanOrEqual(exact.get(name) ?? 0);
    expect(arrivals).toBeGreaterThanOrEqual((exact.get(name) ?? 0) - bound);
  }
  // A heavy name is reported, unless twenty others are reported with as many arrivals as it can have been given.
  const least = keys.length < 20 ? 0 : (keys.at(-1)?.arrivals ?? 0);
  for (const [name, arrivals] of exact) {
    if (arrivals > bound && arrivals - bound > least) expect(reported.has(name), name).toBe(true);
  }
}
