import type { Delivery } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
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

const IGNORING: SenderProfile = {
  name: 'x',
  match: { header: 'x' },
  retryAfter: 'ignored',
  source: 'x',
  verifiedAt: '2026-11-20',
};
const HIGH = 80;
const LOW = 50;

/** An intake that sheds, with a known drain rate of 100/s and no progress except in the test. */
function shedding(random: () => number = seeded(1)): Bench {
  const bench = createBench({
    capacity: 100,
    concurrency: 1,
    // Long enough that a gap of a minute does not shrink the queue.
    maxWaitMs: 86_400_000,
    maxHandlingMs: 86_400_000,
    maxStartsPerSecond: 100,
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

describe('a retry with a booked second', () => {
  it.each([
    ['two seconds before it', -2000, false],
    ['half a second before it', -500, true],
    ['on time', 0, true],
    ['59 s after it', 59_000, true],
    ['61 s after it', 61_000, false],
  ])('may use the reserve only when on time: %s (%i ms, %s)', (_, lateMs, isLetIn) => {
    const { intake, clock } = shedding();
    intake.update({ retryAfter: { minSeconds: 5 } });
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    clock.jump(retryAfterSeconds * 1000 + lateMs);
    expect(intake.admit({ id: 'b' }).admitted).toBe(false);
    expect(intake.admit({ id: 'a' }).admitted).toBe(isLetIn);
    expect(intake.snapshot().depth).toBe(HIGH + Number(isLetIn));
    expect(intake.snapshot().totals.promises).toEqual({ kept: Number(isLetIn), missed: 0 });
  });

  it('is admitted once', () => {
    const { intake, clock } = shedding();
    intake.update({ retryAfter: { minSeconds: 5 } });
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    clock.jump(retryAfterSeconds * 1000);
    letIn(intake.admit({ id: 'a' }));
    for (let i = 0; i < 100; i += 1) expect(intake.admit({ id: 'a' }).admitted).toBe(false);
    expect(intake.snapshot().totals.promises).toEqual({ kept: 1, missed: 0 });
  });

  it('has no reservation with another key, an id that is too long, or no id', () => {
    const { intake, clock } = shedding();
    const long = 'x'.repeat(257);
    for (const id of ['a', long, '', undefined]) turnedAway(intake.admit({ id }));
    clock.jump(2000);
    for (const id of [long, '', undefined, 'aa']) expect(intake.admit({ id }).admitted).toBe(false);
    // This key holds nothing, so it may use the reserve without a reservation.
    expect(intake.admit({ key: 'bank', id: 'a' }).admitted).toBe(true);
    expect(intake.snapshot().totals.promises.kept).toBe(0);
    expect(intake.admit({ id: 'a' }).admitted).toBe(true);
    expect(intake.snapshot().totals.promises.kept).toBe(1);
  });

  it('uses up its reservation even if it was admitted for another reason', () => {
    const { intake, clock } = shedding();
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    letIn(intake.admit({ id: 'a', priority: 'critical' })).leave();
    clock.jump(retryAfterSeconds * 1000);
    expect(intake.admit({ id: 'a' }).admitted).toBe(false);
    expect(intake.snapshot().totals.promises).toEqual({ kept: 1, missed: 0 });
  });

  it('is refused beyond the reserve, and gets a new reservation', () => {
    const { intake, clock } = shedding();
    const assigned = turnedAway(intake.admit({ id: 'a' })).retryAfterSeconds;
    for (let i = 0; i < 20; i += 1) letIn(intake.admit({ priority: 'critical' }));
    clock.jump(assigned * 1000);
    const again = turnedAway(intake.admit({ id: 'a' }));
    expect(again.reason).toBe('full');
    expect(intake.snapshot().totals.promises).toEqual({ kept: 0, missed: 1 });
    expect(again.retryAfterSeconds).toBeLessThanOrEqual(3);
    expect(turnedAway(intake.admit({ id: 'a' })).retryAfterSeconds).toBe(again.retryAfterSeconds);
  });

  it.each(['closing', 'shed'] as const)(
    'counts as missed once, however often it is refused: %s',
    (reason) => {
      const { intake, clock } = shedding();
      const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
      clock.jump(retryAfterSeconds * 1000);
      if (reason === 'closing') void intake.close();
      else intake.update({ shed: { default: true } });
      for (let i = 0; i < 3; i += 1) expect(turnedAway(intake.admit({ id: 'a' })).reason).toBe(reason);
      expect(intake.snapshot().totals.promises).toEqual({ kept: 0, missed: 1 });
    },
  );

  it('is assigned the same second again if it is too early, however often', () => {
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

describe('a refusal without a booking', () => {
  it('because of pressure does not let the retry pass the pressure', () => {
    let isPressed = true;
    const { intake, clock } = createBench({ pressure: () => isPressed });
    const { retryAfterSeconds } = turnedAway(intake.admit({ id: 'a' }));
    clock.jump(retryAfterSeconds * 1000);
    expect(turnedAway(intake.admit({ id: 'a' })).reason).toBe('pressure');
    isPressed = false;
    letIn(intake.admit({ id: 'a' }));
    expect(intake.snapshot().totals.promises).toEqual({ kept: 0, missed: 0 });
  });

  it.each<[string, Delivery, object]>([
    ['of a sender that ignores Retry-After', { id: 'a', profile: IGNORING }, {}],
    ['by depth', { id: 'a' }, { retryAfter: { strategy: 'depth', minSeconds: 5 } }],
    ['of a key that was switched off', { id: 'a' }, { shed: { default: true } }],
  ])('promises nothing: %s', (_, delivery, changes) => {
    const { intake, clock } = shedding();
    intake.update(changes);
    const { retryAfterSeconds } = turnedAway(intake.admit(delivery));
    intake.update({ shed: {} });
    clock.jump(retryAfterSeconds * 1000);
    expect(intake.admit(delivery).admitted).toBe(false);
    expect(intake.snapshot().totals.promises).toEqual({ kept: 0, missed: 0 });
  });
});

describe('during a stall of the workers', () => {
  interface Trace extends Bench {
    readonly workshop: Workshop;
    assigned: { readonly atMs: number; readonly seconds: number }[];
  }

  /** 300/s from 20 s on, 60/s before; ten workers with 100 ms each, which stall from 35 s until `toMs`. */
  async function standStill(toMs: number, seed: number): Promise<Trace> {
    const random = seeded(seed);
    const bench = createBench({ capacity: 500, random, retryAfter: { strategy: 'booked' } });
    const workshop = new Workshop(bench, () => exponential(random, 100));
    const trace: Trace = { ...bench, workshop, assigned: [] };
    workshop.stall = { fromMs: 35_000, toMs };
    let id = 0;
    const come = (): void => {
      const refusal = workshop.bring({ key: 'shop', id: String((id += 1)) });
      if (refusal !== undefined) {
        trace.assigned.push({ atMs: bench.clock.now(), seconds: refusal.retryAfterSeconds });
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

  function meanAssigned({ assigned }: Trace, fromMs: number, toMs: number): number {
    const some = assigned.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    return some.reduce((sum, { seconds }) => sum + seconds, 0) / some.length;
  }

  it.each([1, 2, 3])('triples Retry-After within three seconds, seed %i', async (seed) => {
    const trace = await standStill(55_000, seed);
    const before = meanAssigned(trace, 33_000, 35_000);
    const after = meanAssigned(trace, 38_000, 38_500);
    expect(after).toBeGreaterThanOrEqual(3 * before);
  });

  it('leaves no trace after a stall of a few seconds', async () => {
    const calm = await standStill(35_001, 1);
    const paused = await standStill(40_000, 1);
    const [expected, assigned] = [calm, paused].map((trace) => meanAssigned(trace, 45_000, 50_000));
    expect(assigned).toBeLessThanOrEqual(1.25 * (expected ?? 0));
  });

  it('books nothing', () => {
    const { intake, clock } = shedding();
    clock.advance(15_200);
    expect(intake.snapshot()).toMatchObject({ state: 'stalled', booked: 0 });
    const assigned = Array.from({ length: 200 }, (_, i) => turnedAway(intake.admit({ id: String(i) })));
    expect(intake.snapshot().booked).toBe(0);
    expect(Math.min(...assigned.map(({ retryAfterSeconds }) => retryAfterSeconds))).toBeGreaterThanOrEqual(
      15,
    );
  });
});
