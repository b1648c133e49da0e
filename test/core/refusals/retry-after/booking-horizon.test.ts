import { describe, expect, it } from 'vitest';
import type { Delivery } from '@webhook-backpressure/core';
import { lookAheadS, sharedAheadS } from '../../../../packages/core/src/refusals/booking-horizon.ts';
import { createBench, seeded, type Bench } from '../../harness.ts';
import { arrivals, runUntil, Workshop } from '../../workshop.ts';
import { createRetryAfter, refused, SETTINGS, situation } from './situation.ts';

/** What so many deliveries are told that are refused at the same moment. */
function toldTo(count: number, paceAgeS: number, gapFactor = 1): { told: number[]; booked: number } {
  const retryAfter = createRetryAfter();
  const now = situation(0, { paceAgeS, gapFactor });
  const told = Array.from({ length: count }, () => retryAfter.seconds('shedding', refused(), now, SETTINGS));
  return { told, booked: retryAfter.booked };
}

describe('how far a booking may lie ahead', () => {
  it('grows with the time for which the pace has lasted, and faster than it', () => {
    expect([0, 1, 10, 40, 60, 300].map(lookAheadS)).toEqual([10, 14, 50, 170, 360, 9000]);
  });

  it.each([0, 5, 20])(
    'is all that is told at a pace of %i s, and beyond it nothing is booked',
    (paceAgeS) => {
      const { told, booked } = toldTo(50_000, paceAgeS);
      const farthestS = lookAheadS(paceAgeS);
      // Jitter and rounding may add some to a booking.
      expect(Math.max(...told)).toBeLessThanOrEqual(farthestS + 3);
      expect(booked).toBeLessThanOrEqual(farthestS * 100);
      // The upper half of the range, evenly.
      const beyond = told.slice(-20_000);
      expect(Math.max(...beyond)).toBe(farthestS);
      expect(Math.min(...beyond)).toBe(farthestS / 2 + 1);
      expect(beyond.reduce((sum, seconds) => sum + seconds, 0) / 20_000).toBeCloseTo(
        (3 * farthestS) / 4 + 0.5,
        0,
      );
    },
  );

  it('is no less than the bounds of the option say', () => {
    const settings = { ...SETTINGS, minSeconds: 60 };
    const retryAfter = createRetryAfter();
    const told = Array.from({ length: 5000 }, () =>
      retryAfter.seconds('shedding', refused(), situation(0, { paceAgeS: 0 }), settings),
    );
    expect(Math.min(...told)).toBe(60);
    expect(Math.max(...told)).toBeLessThanOrEqual(63);
  });

  it('is stretched while the workers stand still, as what is told within it', () => {
    expect(Math.max(...toldTo(50_000, 5, 3).told.slice(-20_000))).toBe(3 * lookAheadS(5));
  });
});

/** Workers of 100 ms each that take `factor` times as long from `fromS` to `toS`. */
async function farthestTold(factor: number, fromS: number, toS: number): Promise<number[]> {
  const random = seeded(1);
  const bench = createBench({ random, retryAfter: { strategy: 'booked' } });
  const { clock } = bench;
  const workshop = new Workshop(bench, () => {
    const atS = clock.now() / 1000;
    return atS >= fromS && atS < toS ? 100 * factor : 100;
  });
  const told: number[] = [];
  let id = 0;
  arrivals(
    clock,
    90_000,
    () => (clock.now() < 60_000 ? 33 : 2),
    () => {
      const refusal = workshop.bring({ key: 'shop', id: String((id += 1)) });
      const second = Math.floor(clock.now() / 1000);
      if (refusal !== undefined) told[second] = Math.max(told[second] ?? 0, refusal.retryAfterSeconds);
    },
  );
  await runUntil(clock, 90_000);
  return told;
}

describe('a pace that changes', () => {
  it('is measured anew', async () => {
    const [usual, slow] = [await farthestTold(1, 0, 0), await farthestTold(10, 65, 75)];
    // After a minute of calm the pace is trusted, ...
    expect(usual[80]).toBeGreaterThan(60);
    // ... and a few seconds after it has changed it is not, however long the schedule would be at the new one.
    expect(slow[70]).toBeGreaterThan(10);
    expect(Math.max(...slow.slice(70, 75))).toBeLessThanOrEqual(lookAheadS(15));
  });
});

describe('after a flood', () => {
  /** 20,000 refused in ten seconds; then what another delivery is told. The queue is empty eight seconds later. */
  async function toldAfter(flood: (i: number) => Delivery, other: (i: number) => Delivery): Promise<number> {
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
    const told = Array.from({ length: 200 }, (_, n) => workshop.bring(other(n))?.retryAfterSeconds ?? 0);
    await runUntil(clock, 80_000);
    expect(bench.intake.snapshot().depth).toBe(0);
    return Math.max(...told);
  }

  it('of one key, another key does not sit out its schedule', async () => {
    expect(
      await toldAfter(
        () => ({ key: 'flood' }),
        () => ({ key: 'bank' }),
      ),
    ).toBeLessThanOrEqual(10);
  });

  it('of deliveries without a key, others without one wait no longer than the flood deserves', async () => {
    expect(
      await toldAfter(
        () => ({}),
        () => ({}),
      ),
    ).toBeLessThanOrEqual(sharedAheadS(10));
  });

  it('of invented keys, a new key waits no longer than the flood deserves', async () => {
    const told = await toldAfter(
      (i) => ({ key: `invented ${String(i)}` }),
      () => ({ key: 'bank' }),
    );
    expect(told).toBeLessThanOrEqual(sharedAheadS(10));
  });
});
