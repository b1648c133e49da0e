import { describe, expect, it } from 'vitest';
import type { Permit, Refusal } from '@webhook-backpressure/core';
import { createBench, letIn, occupy, startedNow, turnedAway, type Bench } from '../harness.ts';
import { arrivals, runUntil, Workshop } from '../workshop.ts';

const SENDERS = ['slack', 'zoom', 'discord', 'hubspot'];

/** Ten workers of 100 ms, 100/s, and a steady queue of 400 deliveries without a key. */
async function crowded(): Promise<{ bench: Bench; workshop: Workshop }> {
  const bench = createBench({ concurrency: 10, retryAfter: { strategy: 'booked' } });
  const workshop = new Workshop(bench, () => 100);
  for (let i = 0; i < 410; i += 1) workshop.bring();
  arrivals(
    bench.clock,
    20_000,
    () => 10,
    () => {
      workshop.bring();
    },
  );
  await runUntil(bench.clock, 2000);
  expect(bench.intake.snapshot().depth).toBeGreaterThan(390);
  return { bench, workshop };
}

describe('a sender with a timeout of two seconds, while 400 deliveries of others are queued,', () => {
  // Predicted from the whole queue: 50 of 50 refused with `wait`.
  it('is served, since its turn is next', async () => {
    const { bench, workshop } = await crowded();
    const refused: Refusal[] = [];
    for (let i = 0; i < 50; i += 1) {
      const key = SENDERS[i % SENDERS.length] as string;
      const result = bench.intake.admit({ key, maxWaitMs: 2000 });
      const work = (settled: Permit | Refusal): void => {
        if (!settled.admitted) refused.push(settled);
        else
          bench.clock.setTimeout(() => {
            settled.release();
          }, 100);
      };
      if (!result.admitted) refused.push(result);
      else void Promise.resolve(result.permit).then(work);
      await runUntil(bench.clock, bench.clock.now() + 50);
    }
    await runUntil(bench.clock, 8000);
    expect(refused).toEqual([]);
    expect(workshop.handled.length).toBeGreaterThan(500);
    const waits = bench.events.flatMap((event) =>
      event.type === 'started' && event.key !== 'default' ? [event.waitedMs] : [],
    );
    expect(waits).toHaveLength(50);
    expect(Math.max(...waits)).toBeLessThanOrEqual(100);
  });

  it('is refused if its own line is too long, until that is shorter', async () => {
    const { bench } = await crowded();
    let admitted = 0;
    let refusal: Refusal | undefined;
    while (refusal === undefined) {
      const result = bench.intake.admit({ key: 'slack', maxWaitMs: 2000 });
      if (result.admitted) admitted += 1;
      else refusal = result;
    }
    // Two keys take turns at 100/s: in two seconds a hundred each.
    expect(refusal.reason).toBe('wait');
    expect(admitted).toBeGreaterThanOrEqual(95);
    expect(admitted).toBeLessThanOrEqual(105);
    // The whole queue of 500 does not matter: its own line is short very soon.
    expect(refusal.retryAfterSeconds).toBeLessThanOrEqual(2);
  });

  it('gets 503 if it has no queued delivery and no worker', async () => {
    const { bench } = await crowded();
    bench.intake.update({ shed: { zoom: true } });
    expect(turnedAway(bench.intake.admit({ key: 'zoom', maxWaitMs: 2000 })).status).toBe(503);
  });
});

describe('the predicted wait', () => {
  it('is that of the whole queue if this is shorter than the turns', async () => {
    const bench = createBench({ concurrency: 1, maxStartsPerSecond: 10 });
    const { clock, intake } = bench;
    startedNow(intake.admit()).release();
    clock.advance(1000);
    const [busy] = occupy(intake, 'busy');
    for (const key of ['a', 'b', 'c', 'd', 'e']) letIn(intake.admit({ key }));
    // Two deliveries of its key come first, and there are five other keys: three turns of six keys are 18, but only seven are queued.
    for (let i = 0; i < 2; i += 1) letIn(intake.admit({ key: 'slack' }));
    expect(intake.admit({ key: 'slack', maxWaitMs: 810 }).admitted).toBe(true);
    expect(turnedAway(intake.admit({ key: 'slack', maxWaitMs: 810 })).reason).toBe('wait');
    busy?.release();
    await Promise.resolve();
  });

  it('includes the limit of the key', async () => {
    const bench = createBench({ concurrency: 10, maxConcurrencyPerKey: 1 });
    const workshop = new Workshop(bench, () => 1000);
    // The handling time is known from the fourth delivery on.
    for (let handled = 1; handled <= 4; handled += 1) {
      workshop.bring({ key: 'slow' });
      await runUntil(bench.clock, handled * 1000);
    }
    for (let i = 0; i < 3; i += 1) workshop.bring({ key: 'slow' });
    const { intake } = bench;
    // One is handled and two are queued, so it would be the third after that.
    expect(turnedAway(intake.admit({ key: 'slow', maxWaitMs: 2900 })).reason).toBe('wait');
    expect(intake.admit({ key: 'slow', maxWaitMs: 3100 }).admitted).toBe(true);
  });
});
