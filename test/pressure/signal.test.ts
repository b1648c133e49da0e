import { createIntake } from '@webhook-backpressure/core';
import { manualClock } from '@webhook-backpressure/core/testing';
import { describe, expect, it } from 'vitest';
import { startedNow } from '../core/harness.ts';

const clock = manualClock();

describe('an intake whose signal of pressure', () => {
  it('says true still starts what may use the reserve at once, where a worker is free and nobody waits', () => {
    const intake = createIntake({ clock, pressure: () => true });
    for (const delivery of [{ priority: 'critical' }, { retries: false, maxWaitMs: 0 }] as const) {
      const permit = startedNow(intake.admit(delivery));
      expect(permit.waitedMs).toBe(0);
      permit.release();
    }
  });

  it('throws lets everybody in', () => {
    const pressure = (): boolean => {
      throw new Error('no reading');
    };
    expect(createIntake({ clock, pressure }).admit().admitted).toBe(true);
  });

  it.each([
    ['resolves', () => Promise.resolve(false)],
    ['rejects', () => Promise.reject(new Error('no reading'))],
  ])('is a promise that %s says so, and refuses nobody', (_, later) => {
    const intake = createIntake({ clock, pressure: later as unknown as () => boolean });
    expect(() => intake.admit()).toThrow(
      /^pressure\(\) must return a boolean, but returned a promise\..*ERR_WBP_PRESSURE/,
    );
    expect(intake.snapshot().totals).toMatchObject({ admitted: 0, refused: { pressure: 0 } });
  });
});
