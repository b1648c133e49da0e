import type { Admission } from '@webhook-backpressure/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manualClock } from '@webhook-backpressure/core/testing';
import { Deadlines, NO_DEADLINE, type Timed } from '@webhook-backpressure/base';
import { createBench, letIn, losingTimers, occupy, seeded, startedNow, turnedAway } from '../harness.ts';

interface Item extends Timed<Item> {
  readonly atMs: number;
  firedMs: number[];
}

function item(atMs: number): Item {
  return { atMs, firedMs: [], dueStep: NO_DEADLINE, duePrevious: null, dueNext: null };
}

function wheel(startMs = 0): { clock: ReturnType<typeof manualClock>; deadlines: Deadlines<Item> } {
  const clock = manualClock(startMs);
  const deadlines = new Deadlines<Item>(
    clock,
    () => clock.now(),
    (due, nowMs) => due.firedMs.push(nowMs),
    () => undefined,
  );
  return { clock, deadlines };
}

const LATE_MS = 100;

describe('deadlines', () => {
  it('fire once each on one timer, never early and at most 100 ms late', () => {
    // Some are in the past, some more than one turn of the wheel away.
    const delay = fc.oneof(
      fc.nat(300),
      fc.nat(10_000),
      fc.nat(500_000),
      fc.double({ min: -50, max: 200, noNaN: true }),
    );
    const script = fc.array(fc.tuple(delay, fc.nat(120), fc.boolean()), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), script, (startMs, steps) => {
        const { clock, deadlines } = wheel(startMs);
        const kept: [Item, number][] = [];
        for (const [delayMs, pauseMs, isCleared] of steps) {
          const one = item(clock.now() + delayMs);
          deadlines.set(one, one.atMs, clock.now());
          if (isCleared) deadlines.clear(one);
          else kept.push([one, clock.now()]);
          expect(clock.pending).toBeLessThanOrEqual(1);
          clock.advance(pauseMs);
        }
        clock.advance(600_000);
        for (const [{ atMs, firedMs }, setMs] of kept) {
          expect(firedMs).toHaveLength(1);
          const [at = Number.NaN] = firedMs;
          expect(at).toBeGreaterThanOrEqual(atMs);
          expect(at).toBeLessThanOrEqual(Math.max(atMs, setMs) + LATE_MS);
        }
        expect(clock.pending).toBe(0);
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it('of 10,000 queued deliveries share one timer, and leave nothing behind', async () => {
    const { intake, clock } = createBench({
      capacity: 200_000,
      concurrency: 1,
      maxWaitMs: 60_000,
      maxHandlingMs: 600_000,
    });
    const random = seeded(1);
    occupy(intake);
    const results: Promise<unknown>[] = [];
    let early = 0;
    let late = 0;
    for (let i = 0; i < 10_000; i += 1) {
      const atMs = 1000 + random() * 50_000;
      const { permit } = letIn(intake.admit({ key: String(i % 1000), maxWaitMs: atMs }));
      const told = Promise.resolve(permit).then(({ admitted }) => {
        if (admitted || clock.now() < atMs) early += 1;
        if (clock.now() > atMs + LATE_MS) late += 1;
      });
      results.push(told);
    }
    expect(clock.pending).toBe(1);
    for (let ms = 0; ms < 52_000; ms += 50) {
      clock.advance(50);
      await Promise.resolve();
      await Promise.resolve();
    }
    await Promise.all(results);
    expect({ early, late }).toEqual({ early: 0, late: 0 });
    expect(intake.snapshot()).toMatchObject({
      depth: 0,
      keys: 0,
      active: 1,
      totals: { withdrawn: { expired: 10_000 } },
    });
  }, 30_000);

  it('take the same number of steps with 10 and with 10,000 due at the same time', () => {
    const steps = (count: number): number[] => {
      const { clock, deadlines } = wheel();
      let touched = 0;
      const watched = Array.from(
        { length: count },
        () =>
          new Proxy(item(1000), {
            get: (target, name, receiver): unknown => {
              touched += 1;
              return Reflect.get(target, name, receiver);
            },
            set: (target, name, value, receiver): boolean => {
              touched += 1;
              return Reflect.set(target, name, value, receiver);
            },
          }),
      );
      for (const one of watched) deadlines.set(one, 1000, clock.now());
      const stepsOf = (action: () => void): number => {
        touched = 0;
        action();
        return touched;
      };
      const one = watched[Math.floor(count / 2)] as Item;
      return [
        stepsOf(() => {
          deadlines.clear(one);
        }),
        stepsOf(() => {
          deadlines.set(one, 1000, clock.now());
        }),
        stepsOf(() => {
          clock.advance(900);
        }),
      ];
    };
    expect(steps(100_000)).toEqual(steps(10));
  });

  it('stop their timer when there are none', () => {
    const { intake, clock } = createBench();
    const permit = startedNow(intake.admit());
    expect(clock.pending).toBe(1);
    permit.release();
    clock.advance(50);
    expect(clock.pending).toBe(0);
  });

  it('all fire after the clock has jumped ahead by a day', () => {
    const { clock, deadlines } = wheel();
    const items = Array.from({ length: 5000 }, (_, i) => item(i * 37));
    for (const one of items) deadlines.set(one, one.atMs, 0);
    clock.advance(1000);
    clock.jump(86_400_000);
    clock.advance(0);
    expect(items.every(({ firedMs }) => firedMs.length === 1)).toBe(true);
    const next = item(clock.now() + 500);
    deadlines.set(next, next.atMs, clock.now());
    clock.advance(600);
    expect(next.firedMs).toHaveLength(1);
  });

  it('keep firing when the clock goes back by an hour', async () => {
    const { intake, clock } = createBench({ concurrency: 1, maxWaitMs: 1000, capacity: 100 });
    clock.advance(7_200_000);
    occupy(intake);
    const first = letIn(intake.admit());
    clock.jump(-3_600_000);
    const second = letIn(intake.admit());
    // The timer of the manual clock is an hour late now, like a lost one: the next delivery sets it again.
    clock.advance(1101);
    letIn(intake.admit());
    clock.advance(0);
    for (const { permit } of [first, second]) expect(turnedAway(await permit).reason).toBe('wait');
    expect(intake.snapshot()).toMatchObject({ depth: 1, oldestWaitMs: 0 });
  });

  it('fire after their timer was lost, from the next delivery on', async () => {
    const { intake, clock } = createBench({ concurrency: 1, maxWaitMs: 1000 });
    let waiting: Admission | undefined;
    losingTimers(clock, () => {
      occupy(intake);
      waiting = letIn(intake.admit());
    });
    clock.advance(3000);
    expect(intake.snapshot().depth).toBe(1);
    letIn(intake.admit());
    clock.advance(1);
    expect(turnedAway(await (waiting as unknown as Admission).permit).reason).toBe('wait');
  });

  it('of the same step may end each other', () => {
    const clock = manualClock();
    const items = [item(100), item(100), item(100)];
    const seen: Item[] = [];
    const deadlines = new Deadlines<Item>(
      clock,
      () => clock.now(),
      (due) => {
        seen.push(due);
        for (const other of items) deadlines.clear(other);
        deadlines.set(due, clock.now() + 1000, clock.now());
      },
      () => undefined,
    );
    for (const one of items) deadlines.set(one, one.atMs, 0);
    clock.advance(150);
    expect(new Set(seen).size).toBe(3);
    for (const one of items) deadlines.clear(one);
    clock.advance(5000);
    expect(seen).toHaveLength(3);
    expect(clock.pending).toBe(0);
  });
});

describe('a permit', () => {
  it('that is held too long is revoked once, and its release after that has no effect', () => {
    const { intake, clock, events } = createBench({ concurrency: 1, maxHandlingMs: 2000 });
    const permit = startedNow(intake.admit({ key: 'shop' }));
    letIn(intake.admit({ key: 'mail' }));
    clock.advance(1999);
    expect(intake.snapshot()).toMatchObject({ active: 1, depth: 1 });
    clock.advance(101);
    expect(intake.snapshot()).toMatchObject({
      active: 1,
      depth: 0,
      totals: { overdue: 1, failed: 1, completed: 0 },
    });
    expect(events).toContainEqual({
      type: 'overdue',
      key: 'shop',
      sender: undefined,
      sequence: 1,
      heldMs: 2000,
      at: 2000,
    });
    permit.release();
    permit.release('failure');
    expect(intake.snapshot()).toMatchObject({ active: 1, totals: { overdue: 1, failed: 1, completed: 0 } });
  });
});
