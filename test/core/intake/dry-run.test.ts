import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Admission, Permit } from '@webhook-backpressure/core';
import { balances, createBench, expectBalance, letIn, startedNow, typesOf } from '../harness.ts';

describe('a dry run', () => {
  it('starts every delivery immediately, and counts and reports what it would have done', () => {
    const { intake, events } = createBench({ dryRun: true, concurrency: 1, capacity: 2 });
    const permits = Array.from({ length: 5 }, () => startedNow(intake.admit({ key: 'shop' })));
    expect(intake.snapshot()).toMatchObject({ depth: 2, active: 3, state: 'shedding' });
    expect(intake.snapshot().totals).toMatchObject({ arrivals: 5, admitted: 5, refused: { full: 2 } });
    expect(typesOf(events)).toEqual(['started', 'queued', 'queued', 'shedding', 'refused', 'refused']);
    for (const permit of permits) permit.release();
    expect(intake.snapshot()).toMatchObject({ depth: 0, active: 0, state: 'accepting' });
    expect(intake.snapshot().totals).toMatchObject({ admitted: 5, started: 5, completed: 5 });
    expectBalance(intake.snapshot());
  });

  it('refuses no delivery for any reason', () => {
    const { intake, clock } = createBench({ dryRun: true, concurrency: 1, capacity: 1, shed: { off: true } });
    startedNow(intake.admit());
    startedNow(intake.admit());
    startedNow(intake.admit());
    startedNow(intake.admit({ key: 'off' }));
    startedNow(intake.admit({ maxWaitMs: 0 }));
    void intake.close({ timeoutMs: 10 });
    startedNow(intake.admit());
    clock.advance(10);
    expect(intake.snapshot().state).toBe('closed');
    startedNow(intake.admit()).release();
    expect(intake.snapshot().totals.refused).toMatchObject({ full: 2, shed: 1, closing: 2 });
    expectBalance(intake.snapshot());
    expect(clock.pending).toBe(0);
  });

  it('never queues, expires or displaces a delivery', () => {
    const { intake, clock, events } = createBench({
      dryRun: true,
      concurrency: 1,
      capacity: 2,
      maxWaitMs: 500,
      overflow: 'drop-oldest',
    });
    const permits = Array.from({ length: 6 }, () => startedNow(intake.admit()));
    clock.advance(600);
    expect(intake.snapshot()).toMatchObject({ depth: 0, active: 6 });
    expect(intake.snapshot().totals.withdrawn).toEqual({
      abandoned: 0,
      expired: 0,
      displaced: 0,
      closing: 0,
    });
    const causes = events.flatMap((event) => (event.type === 'withdrawn' ? [event.cause] : []));
    expect(causes).toEqual(['displaced', 'displaced', 'displaced', 'expired', 'expired']);
    for (const permit of permits) permit.release();
    expect(intake.snapshot().totals).toMatchObject({ completed: 6, started: 6 });
    expectBalance(intake.snapshot());
  });

  it('returns the reserve places of deliveries that end while they would be queued', () => {
    const { intake } = createBench({ dryRun: true, concurrency: 1, capacity: 100 });
    for (let i = 0; i <= 80; i += 1) startedNow(intake.admit({ key: 'burst' }));
    const refusedAfter = (round: number): number => {
      const permits = Array.from({ length: 40 }, (_, i) =>
        startedNow(intake.admit({ key: `small ${String(round)} ${String(i)}` })),
      );
      const { full, shedding } = intake.snapshot().totals.refused;
      for (const permit of permits) permit.release();
      return full + shedding;
    };
    expect([refusedAfter(1), refusedAfter(2)]).toEqual([25, 50]);
  });

  it('measures the drain rate by the true handling times', () => {
    const { intake, clock } = createBench({ dryRun: true, concurrency: 2, capacity: 1000 });
    // All are handled concurrently for 200 ms each; two workers handle ten per second.
    for (let round = 0; round < 20; round += 1) {
      const permits = Array.from({ length: 6 }, () => startedNow(intake.admit()));
      clock.advance(200);
      for (const permit of permits) permit.release();
      clock.advance(1000);
    }
    expect(intake.snapshot().drainRate).toBeGreaterThanOrEqual(8);
    expect(intake.snapshot().drainRate).toBeLessThanOrEqual(32);
  });

  it('reports an overdue delivery without revoking its permit', () => {
    const { intake, clock } = createBench({ dryRun: true, concurrency: 1, maxHandlingMs: 1000 });
    const permits = Array.from({ length: 3 }, () => startedNow(intake.admit()));
    clock.advance(1100);
    expect(intake.snapshot()).toMatchObject({ active: 0, depth: 0, totals: { overdue: 3, failed: 3 } });
    for (const permit of permits) permit.release();
    expect(intake.snapshot().totals).toMatchObject({ overdue: 3, failed: 3, completed: 0 });
  });

  it('has totals that add up, whatever happens', () => {
    const step = fc.tuple(fc.nat(6), fc.nat(1000));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150, size: 'max' }), fc.boolean(), (steps, drops) => {
        const { intake, clock } = createBench({
          dryRun: true,
          concurrency: 2,
          capacity: 4,
          maxWaitMs: 300,
          maxHandlingMs: 700,
          overflow: drops ? 'drop-oldest' : 'refuse',
        });
        const admissions: Admission[] = [];
        for (const [kind, n] of steps) {
          const one = admissions[n % Math.max(1, admissions.length)];
          if (kind <= 2) admissions.push(letIn(intake.admit({ key: String(n % 3) })));
          else if (kind === 3) clock.advance(n);
          else if (kind === 4) one?.leave();
          else (one?.permit as Permit | undefined)?.release(n % 2 === 0 ? 'success' : 'failure');
          const snapshot = intake.snapshot();
          if (!balances(snapshot)) throw new Error(JSON.stringify(snapshot));
          if (snapshot.depth > 4) throw new Error('more would wait than there are places');
        }
        for (const { permit } of admissions) (permit as Permit).release();
        void intake.close({ timeoutMs: 0 });
        clock.advance(0);
        expect(intake.snapshot()).toMatchObject({ state: 'closed', depth: 0, active: 0, keys: 0 });
        expect(clock.pending).toBe(0);
      }),
      { seed: 6, numRuns: 150 },
    );
  });
});
