import { describe, expect, it } from 'vitest';
import { LivedTime } from '../../../packages/base/src/time/deadlines.ts';
import { createBench, letIn, losingTimers, occupy, seeded, typesOf, type Bench } from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

/** Ten workers of 100 ms, busy for 20 s: 100/s. */
async function saturated(): Promise<Bench & { workshop: Workshop }> {
  const bench = createBench({ random: seeded(1), retryAfter: { strategy: 'booked' } });
  const workshop = new Workshop(bench, () => 100);
  arrivals(
    bench.clock,
    60_000,
    () => 5,
    () => void workshop.bring({ key: 'shop' }),
  );
  await runUntil(bench.clock, 20_000);
  return { ...bench, workshop };
}

describe('a standstill of the process', () => {
  it.each([0.8, 3.6, 20])('of %f s does not change the drain rate', async (seconds) => {
    const { clock, intake, events, workshop } = await saturated();
    const before = workshop.bring({ key: 'shop' })?.retryAfterSeconds ?? 0;
    clock.jump(seconds * 1000);
    // In the turn that follows, before any timer can run.
    expect(intake.snapshot().state).toBe('shedding');
    const during = workshop.bring({ key: 'shop' })?.retryAfterSeconds ?? 0;
    expect(during).toBeLessThanOrEqual(before + 5);
    await runUntil(clock, clock.now() + 500);
    expect(typesOf(events)).not.toContain('stalled');
    expect(intake.snapshot().drainRate).toBeGreaterThan(80);
    await runUntil(clock, clock.now() + 5000);
    expect(intake.snapshot().drainRate).toBeGreaterThan(90);
  });

  it('does not change it when repeated', async () => {
    const { clock, intake } = await saturated();
    for (let i = 0; i < 7; i += 1) {
      await runUntil(clock, clock.now() + 1200);
      clock.jump(800);
      await runUntil(clock, clock.now());
      const { drainRate } = intake.snapshot();
      expect(drainRate).toBeGreaterThan(80);
      expect(drainRate).toBeLessThan(110);
    }
  });

  it('is distinguished from a stall of the workers', async () => {
    const { intake, clock, events } = createBench({ concurrency: 1 });
    occupy(intake);
    letIn(intake.admit()).leave();
    clock.advance(11_000);
    expect(typesOf(events)).toContain('stalled');
    await Promise.resolve();
  });
});

describe('lived time', () => {
  it('is the time of the clock minus the unusual lateness of timers', () => {
    const lived = new LivedTime();
    expect(lived.at(1000, 0)).toBe(1000);
    expect(lived.at(1050, 50)).toBe(1050);
    expect(lived.at(3000, 2000)).toBe(1050);
    lived.fired(3000, 2000);
    expect(lived.at(3000, 0)).toBe(1050);
    expect(lived.at(3500, 0)).toBe(1550);
  });

  it('never goes back, and leaves out at most half of the time and a few seconds', () => {
    const lived = new LivedTime();
    let last = 0;
    // A handler that holds the thread for a second, each time.
    for (let nowMs = 1000; nowMs <= 600_000; nowMs += 1000) {
      for (const lateMs of [0, 40, 300, 990]) {
        const at = lived.at(nowMs - 990 + lateMs, lateMs);
        expect(at).toBeGreaterThanOrEqual(last);
        last = at;
      }
      lived.fired(nowMs, 990);
    }
    expect(lived.at(600_000, 0)).toBeGreaterThan(600_000 / 2 - 4000);
    expect(lived.lateShare).toBeGreaterThan(0.9);
  });
});

describe('a delivery that is read late', () => {
  it('is admitted if a runtime has lost the timer', () => {
    const { intake, clock } = createBench({ concurrency: 1, maxWaitMs: 1000 });
    losingTimers(clock, () => {
      occupy(intake);
    });
    clock.advance(3_600_000);
    letIn(intake.admit());
  });
});
