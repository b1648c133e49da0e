import { describe, expect, it } from 'vitest';
import { type Demand, floorOf, split } from '../../../packages/fleet/src/shares.ts';
import { seeded } from '../harness.ts';

const ROUNDS = 3000;

function demandsOf(...given: readonly number[]): Demand[] {
  return given.map((demand, at) => ({ member: `m${String(at)}`, demand }));
}

function shares(limit: number, ...given: readonly number[]): number[] {
  return [...split(limit, demandsOf(...given))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, share]) => share);
}

const total = (of: Iterable<number>): number => [...of].reduce((sum, one) => sum + one, 0);

/** A limit and demands, at random; some of them small, equal, or above the limit. */
function drawn(random: () => number): { limit: number; demands: Demand[] } {
  const limit = 1 + Math.floor(random() * 2 ** (1 + 8 * random()));
  const most = 1 + Math.floor(random() * 1.5 * limit);
  const members = 1 + Math.floor(random() * 18);
  return {
    limit,
    demands: Array.from({ length: members }, () => ({
      member: Math.floor(random() * 1e9).toString(36),
      demand: Math.floor(random() * most),
    })),
  };
}

function cases(seed: number): { limit: number; demands: Demand[] }[] {
  const random = seeded(seed);
  return Array.from({ length: ROUNDS }, () => drawn(random));
}

describe('split', () => {
  it.each([
    { what: 'gives one member the limit', limit: 40, demands: [0], to: [40] },
    {
      what: 'divides the part that no member needs equally',
      limit: 40,
      demands: [0, 0, 0, 0],
      to: [10, 10, 10, 10],
    },
    {
      what: 'divides equally when all need more',
      limit: 40,
      demands: [90, 41, 50, 60],
      to: [10, 10, 10, 10],
    },
    { what: 'gives what others do not need', limit: 40, demands: [90, 5, 6, 4], to: [25, 5, 6, 4] },
    { what: 'keeps a quarter of an equal share', limit: 40, demands: [90, 0, 0, 0], to: [34, 2, 2, 2] },
    { what: 'keeps at least 1', limit: 10, demands: [90, 0, 0, 0, 0], to: [6, 1, 1, 1, 1] },
    { what: 'gives the rest to the first ids', limit: 11, demands: [90, 90, 90, 90], to: [3, 3, 3, 2] },
    {
      what: 'gives each member 1 when there are more than the limit',
      limit: 2,
      demands: [5, 0, 5],
      to: [1, 1, 1],
    },
  ])('$what', ({ limit, demands, to }) => {
    expect(shares(limit, ...demands)).toEqual(to);
  });

  it('gives away exactly the limit, or 1 to each of more members', () => {
    for (const { limit, demands } of cases(1)) {
      expect(total(split(limit, demands).values())).toBe(Math.max(limit, demands.length));
    }
  });

  it('gives each member at least the floor', () => {
    for (const { limit, demands } of cases(2)) {
      for (const share of split(limit, demands).values()) {
        expect(share).toBeGreaterThanOrEqual(floorOf(limit, demands.length));
      }
    }
  });

  it('gives the same shares in whatever order the members are known', () => {
    for (const { limit, demands } of cases(3)) {
      const known = [...demands].sort((a, b) => (a.member < b.member ? 1 : -1));
      expect(new Map(split(limit, known))).toEqual(split(limit, demands));
    }
  });

  it('leaves no demand unmet while a larger share could be smaller', () => {
    for (const { limit, demands } of cases(4)) {
      const given = split(limit, demands);
      const most = Math.max(...given.values());
      for (const { member, demand } of demands) {
        const share = given.get(member) as number;
        // What cannot be divided makes a difference of 1.
        if (share < demand) expect(share).toBeGreaterThanOrEqual(most - 1);
      }
    }
  });

  it('never lowers a share because its demand grows, or raises one of another member', () => {
    const random = seeded(5);
    for (let round = 0; round < ROUNDS; round += 1) {
      const { limit, demands } = drawn(random);
      const at = Math.floor(random() * demands.length);
      const before = split(limit, demands);
      const grown = demands.map((one, of) => (of === at ? { ...one, demand: one.demand + 1 } : one));
      const after = split(limit, grown);
      for (const [of, { member }] of demands.entries()) {
        const change = (after.get(member) as number) - (before.get(member) as number);
        if (of === at) expect(change).toBeGreaterThanOrEqual(0);
        else expect(change).toBeLessThanOrEqual(0);
      }
    }
  });
});
