import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createIntake, type Delivery } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { createBench, exponential, seeded } from '../../harness.ts';
import { arrivals, runUntil, Workshop } from '../../workshop.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMiB(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1_048_576;
}

describe('the number of bookings in a snapshot', () => {
  it('is the length of a plain list of them', async () => {
    const random = seeded(1);
    const bench = createBench({
      capacity: 100,
      maxWaitMs: 600_000,
      random,
      retryAfter: { strategy: 'booked', maxSeconds: 86_400 },
    });
    const { clock, intake } = bench;
    const workshop = new Workshop(bench, () => exponential(random, 100));
    let assigned: number[] = [];
    /** When the booking of each id is due. */
    const dueMs = new Map<string, number>();
    const compare = (): void => {
      const nowS = Math.floor(clock.now() / 1000);
      assigned = assigned.filter((second) => second >= nowS);
      expect(intake.snapshot().booked).toBe(assigned.length);
    };
    const come = (): void => {
      const now = clock.now();
      const chance = random();
      const key = `key ${String(Math.floor(5 * random()))}`;
      const id = chance < 0.3 ? undefined : String(Math.floor(2000 * random()));
      const isIgnored = chance > 0.9;
      const profile = isIgnored
        ? ({
            name: 'x',
            match: { header: 'x' },
            retryAfter: 'ignored',
            source: 'x',
            verifiedAt: '2026-11-20',
          } as const)
        : undefined;
      const isKnown = !intake.snapshot().totals.started || intake.snapshot().drainRate !== null;
      const refusal = workshop.bring({ key, id, profile });
      const name = `${key} ${String(id)}`;
      // Admission uses up the reservation.
      if (refusal === undefined) dueMs.delete(name);
      else if (isKnown && !((dueMs.get(name) ?? 0) > now)) {
        if (isIgnored) return;
        const atMs = now + refusal.retryAfterSeconds * 1000;
        assigned.push(Math.floor(atMs / 1000));
        if (id !== undefined) dueMs.set(name, atMs);
      }
      if (random() < 0.02) compare();
    };
    const perSecond = (): number => (clock.now() < 5000 ? 50 : clock.now() < 25_000 ? 300 : 60);
    arrivals(clock, 70_000, () => exponential(random, 1000 / perSecond()), come);
    for (let second = 5; second <= 70; second += 5) {
      await runUntil(clock, second * 1000);
      compare();
    }
  });

  it('is 0 after the clock jumps past all of them, and unchanged after a jump back', async () => {
    const random = seeded(1);
    const bench = createBench({ random, capacity: 100, retryAfter: { strategy: 'booked' } });
    const { clock, intake } = bench;
    const workshop = new Workshop(bench, () => 100);
    arrivals(
      clock,
      20_000,
      () => 2,
      () => void workshop.bring(),
    );
    await runUntil(clock, 20_000);
    const { booked } = intake.snapshot();
    expect(booked).toBeGreaterThan(1000);
    clock.jump(-3_600_000);
    expect(intake.snapshot().booked).toBe(booked);
    clock.jump(3_600_000);
    clock.jump(3_600_000);
    expect(intake.snapshot().booked).toBe(0);
  });
});

describe('eighty thousand refusals', () => {
  it.each<[string, (i: number) => Delivery]>([
    ['of new keys with new ids', (i) => ({ key: `key ${String(i)}`, id: `id ${String(i)}` })],
    [
      'of two thousand keys, each many times',
      (i) => ({ key: `key ${String(i % 2000)}`, id: `id ${String(i)}` }),
    ],
  ])('leave memory flat: %s', { timeout: 60_000 }, async (_, deliveryOf) => {
    const clock = manualClock();
    const intake = createIntake({ clock, random: seeded(1), capacity: 20, maxWaitMs: 600_000 });
    const workshop = new Workshop({ clock, intake, events: [] }, () => 100);
    let refused = 0;
    // 4,000 arrive per second, and 100 of them are handled.
    const flood = async (seconds: number): Promise<void> => {
      for (let step = 0; step < seconds * 10; step += 1) {
        for (let i = 0; i < 400; i += 1)
          if (workshop.bring(deliveryOf((refused += 1))) === undefined) refused -= 1;
        await runUntil(clock, clock.now() + 100);
        workshop.handled.length = 0;
      }
    };
    await flood(15);
    const before = heapMiB();
    await flood(6);
    expect(heapMiB() - before).toBeLessThan(1);
    expect(intake.snapshot().totals.completed).toBeGreaterThan(1900);
    expect(intake.snapshot().booked).toBeLessThanOrEqual(900 * 100 * 2);
    expect(refused).toBeGreaterThan(80_000);
  });
});
