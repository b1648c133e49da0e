import { describe, expect, it } from 'vitest';
import type { Delivery } from '@webhook-backpressure/core';
import { trustedHorizonS, sharedHorizonS } from '../../../../packages/core/src/refusals/booking-horizon.ts';
import { createBench, seeded, type Bench } from '../../harness.ts';
import { arrivals, runUntil, Workshop } from '../../workshop.ts';
import { createRetryAfter, refused, SETTINGS, situation } from './situation.ts';

/** The seconds assigned to `count` deliveries refused at the same moment. */
function assignedTo(count: number, paceAgeS: number, gapFactor = 1): { assigned: number[]; booked: number } {
  const retryAfter = createRetryAfter();
  const now = situation(0, { paceAgeS, gapFactor });
  const assigned = Array.from({ length: count }, () =>
    retryAfter.seconds('shedding', refused(), now, SETTINGS),
  );
  return { assigned, booked: retryAfter.booked };
}

describe('the booking horizon', () => {
  it('grows faster than the time that the pace has lasted, up to ten times that time', () => {
    expect([0, 1, 10, 40, 60, 100, 300].map(trustedHorizonS)).toEqual([10, 14, 50, 170, 360, 1000, 3000]);
  });

  it.each([0, 5, 20])('is the maximum, and nothing is booked beyond it: a pace of %i s', (paceAgeS) => {
    const { assigned, booked } = assignedTo(50_000, paceAgeS);
    const horizonS = trustedHorizonS(paceAgeS);
    // Jitter and rounding may add to a booking.
    expect(Math.max(...assigned)).toBeLessThanOrEqual(horizonS + 3);
    expect(booked).toBeLessThanOrEqual(horizonS * 100);
    // Uniform over the upper half of the range.
    const beyond = assigned.slice(-20_000);
    expect(Math.max(...beyond)).toBe(horizonS);
    expect(Math.min(...beyond)).toBe(horizonS / 2 + 1);
    expect(beyond.reduce((sum, seconds) => sum + seconds, 0) / 20_000).toBeCloseTo(
      (3 * horizonS) / 4 + 0.5,
      0,
    );
  });

  it('is at least minSeconds', () => {
    const settings = { ...SETTINGS, minSeconds: 60 };
    const retryAfter = createRetryAfter();
    const assigned = Array.from({ length: 5000 }, () =>
      retryAfter.seconds('shedding', refused(), situation(0, { paceAgeS: 0 }), settings),
    );
    expect(Math.min(...assigned)).toBe(60);
    expect(Math.max(...assigned)).toBeLessThanOrEqual(63);
  });

  it('is stretched during a stall, like the seconds assigned within it', () => {
    expect(Math.max(...assignedTo(50_000, 5, 3).assigned.slice(-20_000))).toBe(3 * trustedHorizonS(5));
  });
});

/** Workers with 100 ms each, and `factor` times that from `fromS` to `toS`. Returns the maximum for each second. */
async function longestAssigned(factor: number, fromS: number, toS: number): Promise<number[]> {
  const random = seeded(1);
  const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
  const { clock } = bench;
  const workshop = new Workshop(bench, () => {
    const atS = clock.now() / 1000;
    return atS >= fromS && atS < toS ? 100 * factor : 100;
  });
  const assigned: number[] = [];
  let id = 0;
  arrivals(
    clock,
    90_000,
    () => (clock.now() < 60_000 ? 33 : 2),
    () => {
      const refusal = workshop.bring({ key: 'shop', id: String((id += 1)) });
      const second = Math.floor(clock.now() / 1000);
      if (refusal !== undefined)
        assigned[second] = Math.max(assigned[second] ?? 0, refusal.retryAfterSeconds);
    },
  );
  await runUntil(clock, 90_000);
  return assigned;
}

describe('a pace that changes', () => {
  it('is measured again', async () => {
    const [usual, slow] = [await longestAssigned(1, 0, 0), await longestAssigned(10, 65, 75)];
    // After a steady minute the pace is trusted, …
    expect(usual[80]).toBeGreaterThan(60);
    // … and a few seconds after a change it is not, however long the schedule would be at the new pace.
    expect(slow[70]).toBeGreaterThan(10);
    expect(Math.max(...slow.slice(70, 75))).toBeLessThanOrEqual(trustedHorizonS(15));
  });
});

describe('after a flood', () => {
  /** The most assigned to another delivery after 20,000 refusals in ten seconds; eight seconds later the queue is empty. */
  async function assignedAfter(
    flood: (i: number) => Delivery,
    other: (i: number) => Delivery,
  ): Promise<number> {
    const random = seeded(1);
    const bench: Bench = createBench({ random, retryAfter: { strategy: 'booked' } });
    const { clock } = bench;
    const workshop = new Workshop(bench, () => 100);
    let i = 0;
    arrivals(
      clock,
      70_000,
      () => (clock.now() < 60_000 ? 33 : 0.5),
      () => void workshop.bring(clock.now() < 60_000 ? { key: 'shop' } : flood((i += 1))),
    );
    await runUntil(clock, 70_000);
    const assigned = Array.from({ length: 200 }, (_, n) => workshop.bring(other(n))?.retryAfterSeconds ?? 0);
    await runUntil(clock, 80_000);
    expect(bench.intake.snapshot().depth).toBe(0);
    return Math.max(...assigned);
  }

  it('of one key, another key does not wait for the end of the flood’s bookings', async () => {
    expect(
      await assignedAfter(
        () => ({ key: 'flood' }),
        () => ({ key: 'bank' }),
      ),
    ).toBeLessThanOrEqual(10);
  });

  it('without keys, other deliveries without a key wait at most the shared horizon', async () => {
    expect(
      await assignedAfter(
        () => ({}),
        () => ({}),
      ),
    ).toBeLessThanOrEqual(sharedHorizonS(10));
  });

  it('of invented keys, a new key waits at most the shared horizon', async () => {
    const assigned = await assignedAfter(
      (i) => ({ key: `invented ${String(i)}` }),
      () => ({ key: 'bank' }),
    );
    expect(assigned).toBeLessThanOrEqual(sharedHorizonS(10));
  });
});
