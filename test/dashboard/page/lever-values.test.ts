import { BackpressureError } from '@webhook-backpressure/base';
import { createIntake } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { changesOf, draftOf, fieldOf, shedKeys } from '../../../packages/dashboard/page/data/lever-values.ts';
import type { Options } from '../../../packages/dashboard/page/data/wire.ts';

/** The options in force, as they reach the page. */
function inForce(options: Parameters<typeof createIntake>[0]): Options {
  return JSON.parse(JSON.stringify(createIntake(options).snapshot().options)) as Options;
}

describe('levers', () => {
  it('change nothing as long as nothing is edited', () => {
    for (const options of [{}, { concurrency: { initial: 5, min: 1, max: 9 }, maxStartsPerSecond: 20 }]) {
      const current = inForce(options);
      expect(changesOf(current, draftOf(current))).toEqual({});
    }
  });

  it('send only what was edited, as numbers', () => {
    const current = inForce({});
    const draft = { ...draftOf(current), capacity: ' 600 ', maxStartsPerSecond: '12.5' };
    expect(changesOf(current, draft)).toEqual({ capacity: 600, maxStartsPerSecond: 12.5 });
  });

  it('send another text than a number as it is', () => {
    const current = inForce({});
    expect(changesOf(current, { ...draftOf(current), capacity: 'many' })).toEqual({ capacity: 'many' });
  });

  it('leave an option as it is when its field is emptied', () => {
    const current = inForce({ maxStartsPerSecond: 20 });
    expect(changesOf(current, { ...draftOf(current), maxStartsPerSecond: '', capacity: ' ' })).toEqual({});
  });

  it('turn a fixed concurrency into a range, and a range into a fixed one', () => {
    const fixed = inForce({});
    const range = {
      'concurrency.mode': 'adaptive',
      'concurrency.initial': '5',
      'concurrency.min': '1',
      'concurrency.max': '9',
    };
    expect(changesOf(fixed, { ...draftOf(fixed), ...range })).toEqual({
      concurrency: { initial: 5, min: 1, max: 9 },
    });
    const adaptive = inForce({ concurrency: { initial: 5, min: 1, max: 9 } });
    const draft = draftOf(adaptive);
    expect(changesOf(adaptive, { ...draft, 'concurrency.mode': 'fixed', concurrency: '7' })).toEqual({
      concurrency: 7,
    });
    expect(changesOf(adaptive, { ...draft, 'concurrency.max': '20' })).toEqual({
      concurrency: { initial: 5, min: 1, max: 20 },
    });
  });

  it('have a field for the error of each', () => {
    const wrong = {
      capacity: 0,
      highWaterMark: 2,
      concurrency: 0,
      maxStartsPerSecond: -1,
      maxWaitMs: 0,
    };
    for (const [name, value] of Object.entries(wrong)) {
      const intake = createIntake();
      let code = '';
      try {
        intake.update({ [name]: value });
      } catch (error) {
        if (error instanceof BackpressureError) ({ code } = error);
      }
      expect(fieldOf(code, undefined), name).toBe(name);
    }
    expect(fieldOf('ERR_WBP_WATER_MARKS', 'lowWaterMark')).toBe('lowWaterMark');
    expect(fieldOf('ERR_WBP_RETRY_AFTER', 'retryAfter.minSeconds')).toBe('retryAfter');
    expect(fieldOf('HTTP 403', undefined)).toBeUndefined();
  });

  it('find the keys that are switched off, whatever their names', () => {
    const intake = createIntake({ shed: { acme: true, ['__proto__']: true } });
    const current = JSON.parse(JSON.stringify(intake.snapshot().options)) as Options;
    expect(shedKeys(current)).toEqual(['acme', '__proto__']);
  });
});
