import { createIntake, type Permit } from '@webhook-backpressure/core';
import { manualClock, until } from '@webhook-backpressure/core/testing';
import { expect, it } from 'vitest';

it('resolves with a snapshot that fulfills the condition already', async () => {
  const intake = createIntake();
  intake.admit();
  expect(await until(intake, ({ active }) => active === 1)).toMatchObject({ active: 1, depth: 0 });
});

it('resolves after the event that fulfills the condition', async () => {
  const intake = createIntake({ concurrency: 1 });
  const first = intake.admit();
  const { permit } = first as { permit: Permit };
  const completed = until(intake, ({ totals }) => totals.completed === 1);
  const queued = until(intake, ({ depth }) => depth === 1);
  intake.admit();
  expect((await queued).totals).toMatchObject({ admitted: 2, started: 1 });
  permit.release();
  expect(await completed).toMatchObject({ active: 1, depth: 0, totals: { started: 2 } });
});

it('sees what timers of a manual clock cause', async () => {
  const clock = manualClock();
  const intake = createIntake({ clock, concurrency: 1, maxWaitMs: 1000 });
  intake.admit();
  intake.admit();
  const expired = until(intake, ({ totals }) => totals.withdrawn.expired === 1);
  clock.advance(1100);
  expect(await expired).toMatchObject({ depth: 0, active: 1 });
});

it('rejects with what the condition throws, and checks no more', async () => {
  const intake = createIntake();
  let checks = 0;
  const failing = until(intake, () => {
    checks += 1;
    throw new Error('no such field');
  });
  await expect(failing).rejects.toThrow('no such field');
  intake.admit();
  await Promise.resolve();
  expect(checks).toBe(1);
});

it('stops listening once it has resolved', async () => {
  const listeners = new Set<() => void>();
  const source = {
    snapshot: () => 1,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
  await until(source, (snapshot) => snapshot === 1);
  expect(listeners.size).toBe(0);
});
