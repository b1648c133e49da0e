import type { ManualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { createBench, letIn, seeded, type Bench } from '../harness.ts';
import { Workshop } from '../workshop.ts';

const BURST = 500;
const SERVICE_MS = 50;
/** Five workers of 50 ms. */
const RATE = 100;

interface Late extends Bench {
  readonly workshop: Workshop;
}

function receiver(): Late {
  const bench = createBench({
    concurrency: 5,
    capacity: 50,
    random: seeded(1),
    retryAfter: { strategy: 'booked' },
  });
  return { ...bench, workshop: new Workshop(bench, () => SERVICE_MS) };
}

/** One turn of an event loop: the work takes so long, then late timers fire. */
async function turn(clock: ManualClock, workMs: number): Promise<void> {
  clock.jump(workMs);
  clock.advance(0);
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
}

/** Requests at one moment, of which a turn reads so many. Reading one takes so long. */
async function burst({ clock, workshop }: Late, readMs: number, perTurn: number): Promise<number[]> {
  const assigned: number[] = [];
  for (let at = 0; at < BURST; at += 1) {
    clock.jump(readMs);
    const refusal = workshop.bring({ id: String(at) });
    if (refusal !== undefined) assigned.push(refusal.retryAfterSeconds);
    if ((at + 1) % perTurn === 0) await turn(clock, 0);
  }
  return assigned;
}

/** The loop runs without load, with work in the queue. */
async function quiet(late: Late, seconds: number): Promise<void> {
  for (let ms = 0; ms < seconds * 1000; ms += 10) {
    if (late.intake.snapshot().depth < 20) late.workshop.bring({});
    await turn(late.clock, 10);
  }
}

function rateOf({ intake }: Late): number {
  return intake.snapshot().drainRate ?? 0;
}

describe('a drain rate that is measured while the event loop is late', () => {
  it.each([
    [0.4, 100, 0.9],
    [1, 50, 0.9],
    [2, 60, 0.88],
    [5, 40, 0.77],
  ])(
    'is forgotten soon after a cold start, with %f ms for each request and %i in a turn',
    async (readMs, perTurn, share) => {
      const late = receiver();
      const assigned = await burst(late, readMs, perTurn);
      expect(Math.max(...assigned)).toBeLessThanOrEqual(8);
      await quiet(late, 0.5);
      expect(rateOf(late)).toBeGreaterThan(share * RATE);
      expect(rateOf(late)).toBeLessThan(1.1 * RATE);
    },
  );

  it('is that of the handlers if they block the loop themselves', async () => {
    const { clock, intake } = receiver();
    for (let at = 0; at < 100; at += 1) {
      const { permit } = letIn(intake.admit());
      if (permit instanceof Promise) throw new Error('A worker is free.');
      await turn(clock, 40);
      permit.release();
    }
    const { drainRate } = intake.snapshot();
    expect(drainRate).toBeGreaterThan(0.9 * (5 / 0.04));
    expect(drainRate).toBeLessThan(1.1 * (5 / 0.04));
  });

  it('is still learned if the loop is always late', async () => {
    const late = receiver();
    // Turns of 45 ms: a handler of 50 ms ends after 90.
    for (let ms = 0; ms < 20_000; ms += 45) {
      while (late.intake.snapshot().depth < 20) late.workshop.bring({});
      await turn(late.clock, 45);
    }
    expect(rateOf(late)).toBeGreaterThan(0.85 * (5 / 0.09));
    expect(rateOf(late)).toBeLessThan(1.15 * (5 / 0.09));
  });
});
