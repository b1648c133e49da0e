import { createIntake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { startedNow } from '../core/harness.ts';

const clock = manualClock();

describe('an intake whose option pressure', () => {
  it('returns true starts deliveries that may use the reserve immediately while a worker is free', () => {
    const intake = createIntake({ clock, pressure: () => true });
    for (const delivery of [{ priority: 'critical' }, { retries: false, maxWaitMs: 0 }] as const) {
      const permit = startedNow(intake.admit(delivery));
      expect(permit.waitedMs).toBe(0);
      permit.release();
    }
  });

  it('throws admits all deliveries', () => {
    const pressure = (): boolean => {
      throw new Error('no reading');
    };
    expect(createIntake({ clock, pressure }).admit().admitted).toBe(true);
  });

  it.each([
    ['resolves', () => Promise.resolve(false)],
    ['rejects', () => Promise.reject(new Error('no reading'))],
  ])('returns a promise that %s throws an error and refuses nothing', (_, later) => {
    const intake = createIntake({ clock, pressure: later as unknown as () => boolean });
    expect(() => intake.admit()).toThrow(
      /^pressure\(\) must return a boolean, but returned a promise\..*ERR_WBP_PRESSURE/,
    );
    expect(intake.snapshot().totals).toMatchObject({ admitted: 0, refused: { pressure: 0 } });
  });
});
