import { describe, expect, it } from 'vitest';
import { type IntakeOptions, type Permit, type Refusal } from '@webhook-backpressure/core';
import { createBench, letIn, seeded, startedNow, type Bench } from '../harness.ts';
import { arrivals, runUntil } from '../workshop.ts';

describe('a pace of less than one start per longest wait', () => {
  it.each(['booked', 'depth'] as const)(
    'does not call back who has waited in vain, by %s',
    async (strategy) => {
      const { clock, intake } = createBench({
        maxStartsPerSecond: 0.001,
        retryAfter: { strategy },
        random: seeded(1),
      });
      startedNow(intake.admit()).release();
      for (let i = 0; i < 5; i += 1) {
        const waiting = letIn(intake.admit());
        clock.advance(10_100);
        // The next start is 1,000 s away.
        const refusal = await waiting.permit;
        expect(refusal).toMatchObject({ admitted: false, reason: 'wait' });
        expect((refusal as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThanOrEqual(450);
      }
    },
  );
});

describe('the warning of a low-water mark', () => {
  it.each([
    [1, 0],
    [2, 1],
  ])('with a capacity of %i is given %i times', (capacity, times) => {
    const { clock, intake, events } = createBench({ capacity, concurrency: 1 });
    const first = startedNow(intake.admit());
    for (let i = 0; i < 5; i += 1) intake.admit();
    clock.advance(10);
    first.release();
    for (let i = 0; i < 5; i += 1) intake.admit();
    expect(intake.snapshot().drainRate).toBeGreaterThan(2);
    expect(events.filter(({ type }) => type === 'warning')).toHaveLength(times);
  });
});

/** A tenant with handlers of 20 ms sends 400 deliveries in 20 s, beside one with 3 s that sends 10/s. */
async function besideSlowOne(options: IntakeOptions): Promise<Bench & { readonly handled: number }> {
  const bench = createBench({ ...options, random: seeded(1) });
  const { clock, intake } = bench;
  let handled = 0;
  const send = (key: string, ms: number): void => {
    const start = (result: Permit | Refusal): void => {
      if (!result.admitted) return;
      if (key === 'quick') handled += 1;
      clock.setTimeout(() => {
        result.release();
      }, ms);
    };
    const result = intake.admit({ key });
    if (!result.admitted) return;
    if (result.permit instanceof Promise) void result.permit.then(start);
    else start(result.permit);
  };
  const everyMs = (key: string, ms: number, tookMs: number): void => {
    arrivals(
      clock,
      20_000,
      () => ms,
      () => {
        send(key, tookMs);
      },
    );
  };
  everyMs('slow', 100, 3000);
  everyMs('quick', 50, 20);
  await runUntil(clock, 40_000);
  return { ...bench, handled };
}

describe('a key with slow handlers that has all workers', () => {
  it('is a warning, given once, if deliveries of a faster one are refused', async () => {
    const { events, handled } = await besideSlowOne({});
    expect(handled).toBeLessThan(300);
    const warnings = events.filter(({ type }) => type === 'warning');
    expect(warnings.filter((event) => 'code' in event && event.code === 'WBP_SLOW_KEY')).toHaveLength(1);
  });

  it.each([0.5, 9])('is prevented by maxConcurrencyPerKey: %f', async (maxConcurrencyPerKey) => {
    const { events, handled } = await besideSlowOne({ maxConcurrencyPerKey });
    expect(handled).toBeGreaterThanOrEqual(398);
    expect(events).not.toContainEqual(expect.objectContaining({ code: 'WBP_SLOW_KEY' }));
  });
});
