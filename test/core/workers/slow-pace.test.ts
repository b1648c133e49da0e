import { describe, expect, it } from 'vitest';
import { createBench, letIn, seeded, startedNow } from '../harness.ts';

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
