import { describe, expect, it } from 'vitest';
import {
  Agenda,
  Downstream,
  type Service,
  jain,
  percentile,
  stream,
} from '@webhook-backpressure/planner/parts';

describe('Jain’s index', () => {
  it('is 1 for equal values, and 1 ÷ n if one has everything', () => {
    expect(jain([3, 3, 3, 3])).toBe(1);
    expect(jain([0, 1, 0, 0])).toBe(0.25);
    expect(jain([1, 0.5])).toBeCloseTo(0.9, 12);
    expect(jain([0, 0])).toBe(1);
  });
});

describe('percentile()', () => {
  it('returns the value of the nearest rank', () => {
    const hundred = Float64Array.from({ length: 100 }, (_, index) => index + 1);
    expect([0.5, 0.99, 1].map((fraction) => percentile(hundred, fraction))).toEqual([50, 99, 100]);
    expect(percentile(Float64Array.of(4), 0.01)).toBe(4);
    expect(percentile(Float64Array.of(), 0.5)).toBeNaN();
  });
});

describe('the agenda', () => {
  it('returns entries by time, and by insertion at the same time', () => {
    const random = stream(1, 'agenda');
    const agenda = new Agenda();
    const entries = Array.from({ length: 5000 }, (_, item) => ({ atMs: Math.floor(random() * 100), item }));
    for (const { atMs, item } of entries) agenda.push(atMs, item);
    const expected = entries.sort((a, b) => a.atMs - b.atMs || a.item - b.item).map(({ item }) => item);
    expect(expected.map(() => agenda.pop())).toEqual(expected);
    expect(agenda.nextMs).toBe(Infinity);
  });
});

describe('random streams', () => {
  it('are uniform, and differ by seed and by use', () => {
    const draw = (seed: number, use: string): number[] => Array.from({ length: 1000 }, stream(seed, use));
    const mean = draw(1, 'a').reduce((sum, value) => sum + value, 0) / 1000;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.03);
    expect(draw(1, 'a')).toEqual(draw(1, 'a'));
    expect(draw(1, 'a')).not.toEqual(draw(1, 'b'));
    expect(draw(1, 'a')).not.toEqual(draw(2, 'a'));
    expect(draw(1, 'a')).not.toEqual(draw(1 + 2 ** 32, 'a'));
  });
});

describe('the downstream', () => {
  const plain: Service = { meanMs: 100, distribution: 'constant' };

  /** Starts deliveries at the given times and returns when each ended. */
  function ends(service: Service, starts: readonly (readonly [atMs: number, serviceMs: number])[]): number[] {
    const downstream = new Downstream(service);
    const endMs: number[] = [];
    const left = [...starts.entries()];
    while (left.length > 0 || downstream.inService > 0) {
      const nextMs = downstream.nextMs();
      const [first] = left;
      if (first !== undefined && first[1][0] < nextMs) {
        downstream.start(first[0], first[1][1], first[1][0]);
        left.shift();
      } else {
        endMs[downstream.end(nextMs)] = nextMs;
      }
    }
    return endMs;
  }

  it('takes the service time at full speed', () => {
    expect(
      ends(plain, [
        [0, 100],
        [30, 20],
        [30, 70],
      ]),
    ).toEqual([100, 50, 100]);
  });

  it('pauses during a standstill and then continues', () => {
    const service = { ...plain, standStill: [{ fromS: 1, toS: 3 }] };
    expect(
      ends(service, [
        [0, 900],
        [500, 900],
        [2000, 100],
        [3000, 100],
      ]),
    ).toEqual([900, 3400, 3100, 3100]);
  });

  it('is slower by a factor for a while, and not afterwards', () => {
    const service = { ...plain, slow: [{ fromS: 1, toS: 3, factor: 10 }] };
    // 500 ms before the slow phase, 200 ms of work in its 2,000 ms, and the rest after it.
    expect(
      ends(service, [
        [500, 900],
        [1000, 100],
        [3000, 100],
      ]),
    ).toEqual([3200, 2000, 3100]);
  });

  it('shares the speed of the knee among more deliveries', () => {
    const service = { ...plain, knee: [{ fromS: 0, concurrency: 2 }] };
    // Four at half speed; after the short ones have ended, the others at full speed.
    expect(
      ends(service, [
        [0, 100],
        [0, 100],
        [0, 300],
        [0, 300],
      ]),
    ).toEqual([200, 200, 400, 400]);
  });

  it('follows a change of the knee with deliveries in service', () => {
    const service = {
      ...plain,
      knee: [
        { fromS: 0, concurrency: 2 },
        { fromS: 1, concurrency: 1 },
      ],
    };
    expect(
      ends(service, [
        [900, 200],
        [900, 200],
      ]),
    ).toEqual([1200, 1200]);
  });
});
