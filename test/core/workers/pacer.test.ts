import type { Admission } from '@webhook-backpressure/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pacer } from '@webhook-backpressure/core/extend';
import { createBench, letIn, losingTimers, occupy, reactions, startedNow, type Bench } from '../harness.ts';
import { runUntil, Workshop } from '../workshop.ts';

function startsOf({ events }: Bench): number[] {
  return events.filter((event) => event.type === 'started').map((event) => event.at);
}

function gapsOf(times: readonly number[]): number[] {
  return times.slice(1).map((time, i) => time - (times[i] as number));
}

/** A queue that never runs empty, drained by handlers that take no time. */
function paced(drainRate: number, deliveries: number): Bench {
  const bench = createBench({
    maxStartsPerSecond: drainRate,
    capacity: 100_000,
    maxWaitMs: 86_400_000,
    concurrency: 10,
  });
  const workshop = new Workshop(bench, () => 0);
  for (let i = 0; i < deliveries; i += 1) workshop.bring();
  return bench;
}

describe('paced starts', () => {
  it.each([0.5, 3, 7, 33.3, 200, 999])('are evenly spaced at %d/s', async (rate) => {
    const bench = paced(rate, 100);
    await runUntil(bench.clock, (100 / rate) * 1000);
    const gaps = gapsOf(startsOf(bench));
    expect(gaps).toHaveLength(99);
    // A microsecond is the unit.
    for (const gap of gaps) expect(Math.abs(gap - 1000 / rate)).toBeLessThanOrEqual(0.002);
  });

  it('do not drift in days: 3/s is exactly 777,600 in three days', () => {
    const pacer = new Pacer(3);
    let nowMs = 0;
    let starts = 0;
    while (nowMs < 3 * 86_400_000 - 1) {
      pacer.started(nowMs, starts > 0);
      starts += 1;
      nowMs += pacer.delayMs(nowMs);
    }
    expect(starts).toBe(777_600);
  });

  it('keep their pace when every timer is late', () => {
    const pacer = new Pacer(200);
    let nowMs = 0;
    let starts = 0;
    for (let i = 0; nowMs < 600_000; i += 1) {
      pacer.started(nowMs, true);
      starts += 1;
      const delayMs = pacer.delayMs(nowMs);
      // Timers of whole milliseconds, up to 3 ms late.
      if (delayMs > 0) nowMs = Math.ceil(nowMs + delayMs) + (i % 4);
    }
    expect(starts / 600).toBeCloseTo(200, 0);
  });

  it('never make up for more than 100 ms, however late a timer is', () => {
    const rate = fc.double({ min: 0.5, max: 5000, noNaN: true });
    const late = fc.array(fc.oneof(fc.nat(5), fc.nat(2000)), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(rate, late, (perSecond, lateMs) => {
        const pacer = new Pacer(perSecond);
        const times: number[] = [];
        let nowMs = 0;
        for (const ms of lateMs) {
          for (let i = 0; i < 2000 && pacer.delayMs(nowMs) === 0; i += 1) {
            pacer.started(nowMs, true);
            times.push(nowMs);
          }
          nowMs += pacer.delayMs(nowMs) + ms;
        }
        // A window has at most the starts that its length plus those 100 ms allow.
        for (const [from, startMs] of times.entries()) {
          for (const to of [from + 1, from + 10, from + 100, times.length - 1]) {
            const windowS = ((times[to] ?? Infinity) - startMs + 100) / 1000;
            if (to - from > windowS * perSecond * (1 + 1e-6) + 1)
              throw new Error(`${String(to - from)} starts`);
          }
        }
      }),
      { seed: 1, numRuns: 40 },
    );
  });

  it('come one by one after a quiet time, not in a burst', async () => {
    const bench = paced(100, 1);
    await runUntil(bench.clock, 60_000);
    const workshop = new Workshop(bench, () => 0);
    for (let i = 0; i < 20; i += 1) workshop.bring();
    await runUntil(bench.clock, 61_000);
    const gaps = gapsOf(startsOf(bench).slice(1));
    expect(gaps).toHaveLength(19);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(9.999);
  });

  it('come one by one after a stall of all workers with a filled queue', async () => {
    const bench = createBench({ maxStartsPerSecond: 200, concurrency: 50, capacity: 500, maxWaitMs: 60_000 });
    const { intake, clock } = bench;
    const workshop = new Workshop(bench, () => 10_000);
    for (let i = 0; i < 50; i += 1) workshop.bring();
    await runUntil(clock, 5000);
    for (let i = 0; i < 100; i += 1) letIn(intake.admit());
    await runUntil(clock, 20_000);
    const later = startsOf(bench).filter((at) => at > 9000);
    expect(later.length).toBeGreaterThanOrEqual(50);
    expect(Math.min(...gapsOf(later))).toBeGreaterThanOrEqual(4.999);
  });

  it('keep the rate when the event loop is blocked for half a second', async () => {
    const bench = paced(100, 200);
    await runUntil(bench.clock, 1000);
    bench.clock.jump(500);
    await runUntil(bench.clock, 2000);
    const inClump = startsOf(bench).filter((at) => at === 1500);
    expect(inClump.length).toBeLessThanOrEqual(11);
    const after = startsOf(bench).filter((at) => at > 1500);
    expect(Math.min(...gapsOf(after))).toBeGreaterThanOrEqual(9.999);
  });
});

describe('a new rate', () => {
  it('applies immediately, even if the next start was far away', async () => {
    const bench = paced(0.001, 10);
    await runUntil(bench.clock, 5000);
    expect(startsOf(bench)).toHaveLength(1);
    bench.intake.update({ maxStartsPerSecond: 10 });
    await runUntil(bench.clock, 5500);
    expect(startsOf(bench)).toEqual([0, 5000, 5100, 5200, 5300, 5400]);
  });

  it('causes no early start, however often it is changed', async () => {
    const bench = paced(10, 50);
    for (let i = 1; i <= 200; i += 1) {
      await runUntil(bench.clock, i * 10);
      bench.intake.update({ maxStartsPerSecond: i % 2 === 0 ? 10 : 9.9 });
    }
    expect(startsOf(bench).length).toBeLessThanOrEqual(21);
    expect(startsOf(bench).length).toBeGreaterThanOrEqual(19);
    expect(Math.min(...gapsOf(startsOf(bench)))).toBeGreaterThanOrEqual(99.999);
  });

  it('paces queued deliveries if there was none before', async () => {
    const bench = createBench({ concurrency: 2, capacity: 100 });
    const [first, second] = occupy(bench.intake);
    for (let i = 0; i < 4; i += 1) {
      const { permit } = letIn(bench.intake.admit());
      void Promise.resolve(permit).then((result) => {
        if (result.admitted) result.release();
      });
    }
    bench.intake.update({ maxStartsPerSecond: 10 });
    first?.release();
    second?.release();
    await runUntil(bench.clock, 1000);
    expect(gapsOf(startsOf(bench).slice(2))).toEqual([100, 100, 100]);
  });

  it('keeps six decimals', () => {
    const pacer = new Pacer(0.0015);
    pacer.started(0, false);
    expect(pacer.delayMs(0)).toBeCloseTo(1_000_000 / 1.5, 2);
  });
});

it('a lost timer of the pace is replaced at the next delivery', async () => {
  const bench = createBench({ maxStartsPerSecond: 10, concurrency: 10 });
  const { intake, clock } = bench;
  startedNow(intake.admit());
  const waiting: Admission[] = [];
  losingTimers(clock, () => waiting.push(letIn(intake.admit()), letIn(intake.admit())));
  clock.advance(5000);
  expect(intake.snapshot().depth).toBe(2);
  waiting.push(letIn(intake.admit()));
  clock.advance(500);
  await reactions();
  expect(intake.snapshot().depth).toBe(0);
  expect(gapsOf(startsOf(bench))).toEqual([5000, 0, 100]);
});
