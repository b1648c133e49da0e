import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIntake, type IntakeOptions, type Refusal } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { createBench, exponential, letIn, occupy, seeded, startedNow, turnedAway } from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

/** Retry-After at exactly this depth and drain rate, for many random numbers. */
async function secondsAt(depth: number, drainRate: number, capacity: number): Promise<number[]> {
  const random = seeded(1);
  const bench = createBench({
    capacity,
    highWaterMark: 1,
    lowWaterMark: 0.5,
    concurrency: 10,
    maxWaitMs: 600_000,
    maxStartsPerSecond: drainRate,
    random,
  });
  // Handlers are faster than the pace, so that the measured rate is the pace.
  const workshop = new Workshop(bench, () => 1);
  workshop.bring();
  await runUntil(bench.clock, 1000);
  workshop.serviceMs = () => 1_000_000;
  const { intake } = bench;
  while (intake.snapshot().depth < depth) letIn(intake.admit());
  expect(intake.snapshot()).toMatchObject({ depth, drainRate });
  intake.update({ shed: {}, capacity: depth });
  return Array.from({ length: 300 }, () => turnedAway(intake.admit()).retryAfterSeconds);
}

describe("Retry-After by 'depth'", () => {
  it.each([
    [400, 200, 400, 2, 3],
    [800, 100, 1000, 8, 10],
    [1, 200, 1, 1, 1],
    [300, 200, 300, 2, 2],
    [5000, 10, 5000, 500, 600],
  ])(
    'is the time to drain the queue plus a fifth: %i queued, %d/s, capacity %i, from %i to %i s',
    async (depth, rate, capacity, least, most) => {
      const assigned = await secondsAt(depth, rate, capacity);
      for (const seconds of assigned) {
        expect(seconds).toBeGreaterThanOrEqual(least);
        expect(seconds).toBeLessThanOrEqual(most);
      }
    },
  );

  it('uses the whole range of the jitter', async () => {
    const assigned = await secondsAt(800, 100, 1000);
    expect(new Set(assigned)).toEqual(new Set([9, 10]));
    expect(new Set(await secondsAt(5000, 10, 5000)).size).toBeGreaterThan(80);
  });

  it('is an integer of at least one second, whatever the state of the intake', async () => {
    const options = fc.record({
      capacity: fc.integer({ min: 1, max: 50 }),
      concurrency: fc.integer({ min: 1, max: 5 }),
      maxWaitMs: fc.integer({ min: 1, max: 60_000 }),
      maxStartsPerSecond: fc.option(fc.double({ min: 0.001, max: 1e6, noNaN: true }), { nil: undefined }),
      overflow: fc.constantFrom('refuse' as const, 'drop-oldest' as const),
      retryAfter: fc.constantFrom<IntakeOptions['retryAfter']>(
        { strategy: 'depth' },
        { strategy: 'booked' },
        { strategy: 'depth', minSeconds: 5, maxSeconds: 7 },
      ),
    });
    const steps = fc.array(fc.tuple(fc.nat(3), fc.nat(5000)), { maxLength: 80, size: 'max' });
    await fc.assert(
      fc.asyncProperty(options, steps, fc.integer(), async (given, script, seed) => {
        const clock = manualClock();
        const intake = createIntake({ ...given, clock, random: seeded(seed) });
        const refusals: Refusal[] = [];
        const releases: (() => void)[] = [];
        for (const [kind, ms] of script) {
          if (kind === 0) clock.advance(ms);
          if (kind === 1) releases.pop()?.();
          if (kind < 2) continue;
          const result = intake.admit({ key: String(ms % 3), maxWaitMs: ms });
          if (!result.admitted) refusals.push(result);
          else {
            void Promise.resolve(result.permit).then((settled) => {
              if (!settled.admitted) refusals.push(settled);
              else releases.push(settled.release.bind(settled));
            });
          }
          await Promise.resolve();
        }
        void intake.close({ timeoutMs: 0 });
        clock.advance(1);
        await Promise.resolve();
        const { minSeconds = 1, maxSeconds = 3600 } = given.retryAfter ?? {};
        for (const { retryAfterSeconds, headers } of refusals) {
          if (!Number.isInteger(retryAfterSeconds)) throw new Error(String(retryAfterSeconds));
          expect(retryAfterSeconds).toBeGreaterThanOrEqual(minSeconds);
          expect(retryAfterSeconds).toBeLessThanOrEqual(maxSeconds);
          expect(headers['Retry-After']).toBe(String(retryAfterSeconds));
        }
      }),
      { seed: 4, numRuns: 200 },
    );
  });

  it('follows the queue and the pace of the handlers, and varies', async () => {
    const random = seeded(2);
    const bench = createBench({ concurrency: 10, capacity: 500, random });
    let meanMs = 50;
    const workshop = new Workshop(bench, () => exponential(random, meanMs));
    let assigned: number[] = [];
    arrivals(
      bench.clock,
      Infinity,
      () => 2,
      () => {
        const refusal = workshop.bring();
        if (refusal !== undefined) assigned.push(refusal.retryAfterSeconds);
      },
    );
    const during = async (seconds: number): Promise<number[]> => {
      assigned = [];
      await runUntil(bench.clock, bench.clock.now() + seconds * 1000);
      return assigned;
    };
    const fast = await during(20);
    meanMs = 400;
    await during(10);
    const slow = await during(20);
    expect(new Set(fast).size).toBeGreaterThanOrEqual(2);
    expect(new Set(slow).size).toBeGreaterThanOrEqual(3);
    expect(Math.min(...slow)).toBeGreaterThan(Math.min(...fast));
    // From the time that the queue takes to a fifth more.
    expect(Math.max(...fast)).toBeLessThanOrEqual(4);
    expect(Math.max(...slow)).toBeLessThanOrEqual(16);
  });

  it('is 3 to 7 s while the drain rate is unknown', () => {
    const random = seeded(3);
    const { intake } = createBench({ concurrency: 1, capacity: 5, random });
    occupy(intake);
    while (intake.admit().admitted);
    const assigned = Array.from({ length: 200 }, () => turnedAway(intake.admit()).retryAfterSeconds);
    expect(new Set(assigned)).toEqual(new Set([4, 5, 6, 7]));
  });

  it('grows with a stall', () => {
    const { intake, clock } = createBench({
      concurrency: 1,
      capacity: 20,
      maxHandlingMs: 600_000,
      maxWaitMs: 600_000,
    });
    for (let i = 0; i < 20; i += 1) {
      const permit = startedNow(intake.admit());
      clock.advance(10);
      permit.release();
    }
    occupy(intake);
    while (intake.admit().admitted);
    const assigned = [0, 3000, 6000, 30_000].map((ms) => {
      clock.advance(ms);
      return turnedAway(intake.admit()).retryAfterSeconds;
    });
    const [before = 0, soon = 0, later = 0, stalled = 0] = assigned;
    expect(soon).toBeGreaterThanOrEqual(3 * before);
    expect(later).toBeGreaterThanOrEqual(2 * soon);
    expect(stalled).toBeGreaterThanOrEqual(39);
  });

  it('stays within bounds changed by update()', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 1 });
    occupy(intake);
    letIn(intake.admit());
    intake.update({ retryAfter: { minSeconds: 30 } });
    expect(turnedAway(intake.admit()).retryAfterSeconds).toBe(30);
    intake.update({ retryAfter: { minSeconds: 1, maxSeconds: 2 } });
    expect(turnedAway(intake.admit()).retryAfterSeconds).toBe(2);
  });
});
