import { describe, expect, it } from 'vitest';
import {
  createBench,
  exponential,
  letIn,
  occupy,
  seeded,
  startedNow,
  turnedAway,
  type Bench,
} from '../../harness.ts';
import { arrivals, runUntil, Workshop } from '../../workshop.ts';

const HIGH = 80;
const LOW = 50;

/** Sheds, with a drain rate of 100/s that is known, and nobody who works: time passes only in the test. */
function shedding(random: () => number = seeded(1)): Bench {
  const bench = createBench({
    capacity: 100,
    concurrency: 1,
    // So long that a gap of a minute does not shrink the queue.
    maxWaitMs: 86_400_000,
    maxHandlingMs: 86_400_000,
    drainRate: 100,
    retryAfter: { strategy: 'booked' },
    random,
  });
  const { intake, clock } = bench;
  for (let i = 0; i < 50; i += 1) {
    const permit = startedNow(intake.admit());
    clock.advance(10);
    permit.release();
    clock.advance(10);
  }
  occupy(intake);
  for (let i = 0; i < HIGH; i += 1) letIn(intake.admit());
  expect(intake.snapshot()).toMatchObject({ state: 'shedding', drainRate: 100, lowWater: LOW });
  return bench;
}

describe('a delivery that was told a second', () => {
  it.each([
    ['two seconds before it', -2000, false],
    ['half a second before it', -500, true],
    ['on time', 0, true],
    ['59 s after it', 59_000, true],
    ['61 s after it', 61_000, false],
  ])('is let in through the reserve when it comes %s: %i ms, %s', (_, lateMs, isLetIn) => {
    const { intake, clock } = shedding();
    intake.update({ retryAfter: { minSeconds: 5 } });
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    clock.jump(retryAfterSeconds * 1000 + lateMs);
    expect(intake.admit({ id: 'b' }).admitted).toBe(false);
    expect(intake.admit({ id: 'a' }).admitted).toBe(isLetIn);
    expect(intake.snapshot().depth).toBe(HIGH + Number(isLetIn));
  });

  it('is let in once', () => {
    const { intake, clock } = shedding();
    intake.update({ retryAfter: { minSeconds: 5 } });
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    clock.jump(retryAfterSeconds * 1000);
    letIn(intake.admit({ id: 'a' }));
    for (let i = 0; i < 100; i += 1) expect(intake.admit({ id: 'a' }).admitted).toBe(false);
  });

  it('has no claim with another key, with a longer id, or without one', () => {
    const { intake, clock } = shedding();
    const long = 'x'.repeat(257);
    for (const id of ['a', long, '', undefined]) turnedAway(intake.admit({ id }));
    clock.jump(2000);
    for (const id of [long, '', undefined, 'aa']) expect(intake.admit({ id }).admitted).toBe(false);
    // This key holds nothing, so it may use half of the reserve without any claim.
    for (let i = 0; i < 30; i += 1) intake.admit({ key: 'bank', id: String(i) });
    expect(intake.admit({ key: 'bank', id: 'a' }).admitted).toBe(false);
    expect(intake.admit({ id: 'a' }).admitted).toBe(true);
  });

  it('has used its promise also when it was let in for another reason', () => {
    const { intake, clock } = shedding();
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    letIn(intake.admit({ id: 'a', priority: 'critical' })).leave();
    clock.jump(retryAfterSeconds * 1000);
    expect(intake.admit({ id: 'a' }).admitted).toBe(false);
  });

  it('is refused beyond the reserve, is told another second, and is promised that one', () => {
    const { intake, clock } = shedding();
    const told = turnedAway(intake.admit({ id: 'a' })).retryAfterSeconds;
    for (let i = 0; i < 20; i += 1) letIn(intake.admit({ priority: 'critical' }));
    clock.jump(told * 1000);
    const again = turnedAway(intake.admit({ id: 'a' }));
    expect(again.reason).toBe('full');
    expect(again.retryAfterSeconds).toBeLessThanOrEqual(3);
    expect(turnedAway(intake.admit({ id: 'a' })).retryAfterSeconds).toBe(again.retryAfterSeconds);
  });

  it('is told the same second again when it comes too early, however often', () => {
    const { intake, clock } = shedding();
    for (let i = 0; i < 500; i += 1) turnedAway(intake.admit({ id: String(i) }));
    const { booked } = intake.snapshot();
    const first = turnedAway(intake.admit({ id: '499' })).retryAfterSeconds;
    expect(first).toBeGreaterThanOrEqual(5);
    for (let left = first; left > 1; left -= 1) {
      expect(turnedAway(intake.admit({ id: '499' })).retryAfterSeconds).toBe(left);
      clock.jump(1000);
    }
    expect(intake.snapshot().booked).toBeLessThanOrEqual(booked);
  });
});

describe('when the workers stand still', () => {
  interface Trace extends Bench {
    readonly workshop: Workshop;
    told: { readonly atMs: number; readonly seconds: number }[];
  }

  /** 500/s come from 20 s on, 60/s before; ten workers with 100 ms each, which stand still as `stall` says. */
  async function standStill(toMs: number, seed: number): Promise<Trace> {
    const random = seeded(seed);
    const bench = createBench({ capacity: 500, random, retryAfter: { strategy: 'booked' } });
    const workshop = new Workshop(bench, () => exponential(random, 100));
    const trace: Trace = { ...bench, workshop, told: [] };
    workshop.stall = { fromMs: 35_000, toMs };
    let id = 0;
    const come = (): void => {
      const refusal = workshop.bring({ key: 'shop', id: String((id += 1)) });
      if (refusal !== undefined) {
        trace.told.push({ atMs: bench.clock.now(), seconds: refusal.retryAfterSeconds });
      }
    };
    arrivals(
      bench.clock,
      60_000,
      () => exponential(random, 1000 / (bench.clock.now() < 20_000 ? 60 : 300)),
      come,
    );
    await runUntil(bench.clock, 60_000);
    return trace;
  }

  function meanTold({ told }: Trace, fromMs: number, toMs: number): number {
    const some = told.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    return some.reduce((sum, { seconds }) => sum + seconds, 0) / some.length;
  }

  it.each([1, 2, 3])('Retry-After is three times as long within three seconds, seed %i', async (seed) => {
    const trace = await standStill(55_000, seed);
    const before = meanTold(trace, 33_000, 35_000);
    const after = meanTold(trace, 38_000, 38_500);
    expect(after).toBeGreaterThanOrEqual(3 * before);
  });

  it('for a few seconds, it is after that as if nothing had happened', async () => {
    const calm = await standStill(35_001, 1);
    const paused = await standStill(40_000, 1);
    const [expected, told] = [calm, paused].map((trace) => meanTold(trace, 45_000, 50_000));
    expect(told).toBeLessThanOrEqual(1.25 * (expected ?? 0));
  });

  it('for long, bookings count no more when it is over', async () => {
    const { told, intake, events } = await standStill(55_000, 1);
    const recovered = events.find(({ type }) => type === 'recovered')?.at ?? 0;
    expect(recovered).toBeGreaterThanOrEqual(55_000);
    const after = told.filter(({ atMs }) => atMs > recovered);
    // Those who are refused now wait for the queue and for one another, and for nobody from before.
    expect(after.length).toBeGreaterThan(0);
    expect(after[0]?.seconds).toBeLessThanOrEqual(6);
    expect(intake.snapshot().booked).toBeLessThanOrEqual(after.length);
  });

  it('nothing is booked', () => {
    const { intake, clock } = shedding();
    clock.advance(15_200);
    expect(intake.snapshot()).toMatchObject({ state: 'stalled', booked: 0 });
    const told = Array.from({ length: 200 }, (_, i) => turnedAway(intake.admit({ id: String(i) })));
    expect(intake.snapshot().booked).toBe(0);
    expect(Math.min(...told.map(({ retryAfterSeconds }) => retryAfterSeconds))).toBeGreaterThanOrEqual(15);
  });
});
