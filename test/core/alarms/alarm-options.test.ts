import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { createIntake } from '@webhook-backpressure/core';
import { observe } from '@webhook-backpressure/observe';
import type { BackpressureError } from '@webhook-backpressure/base';
import { describe, expect, it } from 'vitest';
import {
  alarmSettings,
  INBOX_ALARM_DEFAULTS,
  type InboxAlarmSettings,
} from '../../../packages/observe/src/alarms/alarm-options.ts';

const INBOX = { store: memoryStore(), process: () => undefined, verify: false } as const;

function errorOf(action: () => unknown): BackpressureError {
  try {
    action();
  } catch (error) {
    return error as BackpressureError;
  }
  throw new Error('It threw nothing.');
}

const WRONG: readonly [given: unknown, shown: string][] = [
  [true, 'true'],
  [null, 'null'],
  ['off', 'the string "off"'],
  [[], 'an array of length 0'],
  [{ refusedRatio: 0 }, 'alarms.refusedRatio'],
  [{ refusedRatio: 1 }, 'alarms.refusedRatio'],
  [{ refusedRatio: Number.NaN }, 'NaN'],
  [{ refusedRatio: '0.1' }, 'the string "0.1"'],
  [{ refusedRatio: null }, 'null'],
  [{ minArrivals: 0 }, 'alarms.minArrivals'],
  [{ minArrivals: false }, 'alarms.minArrivals'],
  [{ growingMs: 59_999 }, 'alarms.growingMs'],
  [{ growingMs: true }, 'true'],
  [{ stalledMs: 0 }, 'alarms.stalledMs'],
  [{ lossRisk: 0.5 }, 'alarms.lossRisk'],
  [{ endangered: Infinity }, 'Infinity'],
];

describe('the option alarms', () => {
  it.each(WRONG)('rejects %j', (given, shown) => {
    const options = { alarms: given } as object;
    const observation = observe(createIntake());
    const actions = [
      () => observe(createIntake(), options),
      () => observe(createInbox(INBOX), options),
      () => {
        observation.update(options);
      },
    ];
    for (const action of actions) {
      const { code, message } = errorOf(action);
      expect(code).toBe('ERR_WBP_ALARMS');
      expect(message).toContain(shown);
    }
  });

  it('rejects an unknown threshold with the most similar name', () => {
    const { code, message } = errorOf(() =>
      observe(createIntake(), { alarms: { refuseRatio: 0.1 } as object }),
    );
    expect(code).toBe('ERR_WBP_UNKNOWN_OPTION');
    expect(message).toContain('Did you mean "refusedRatio"?');
  });

  it('has thresholds of an inbox that an intake does not have', () => {
    for (const name of ['oldestAgeMs', 'deadLetters', 'storeFailingMs']) {
      const { code } = errorOf(() => observe(createIntake(), { alarms: { [name]: 1 } }));
      expect(code).toBe('ERR_WBP_UNKNOWN_OPTION');
      expect(() => observe(createInbox(INBOX), { alarms: { [name]: 1 } })).not.toThrow();
    }
  });

  it('takes false for one threshold and for all, and undefined for no change', () => {
    const after = (present: InboxAlarmSettings | false, given: unknown): InboxAlarmSettings | false =>
      alarmSettings(INBOX_ALARM_DEFAULTS, present, given);
    const some = after(INBOX_ALARM_DEFAULTS, { stalledMs: false, lossRisk: undefined });
    expect(some).toMatchObject({ stalledMs: false, lossRisk: 1 });
    expect(after(some, undefined)).toMatchObject({ stalledMs: false });
    expect(after(some, false)).toBe(false);
    expect(after(false, { refusedRatio: 0.2 })).toMatchObject({ refusedRatio: 0.2, stalledMs: 10_000 });
  });

  it('is not an option of an intake or an inbox', () => {
    expect(errorOf(() => createInbox({ ...INBOX, ...({ alarms: false } as object) })).code).toBe(
      'ERR_WBP_UNKNOWN_OPTION',
    );
    expect(errorOf(() => createIntake({ alarms: false } as object)).code).toBe('ERR_WBP_UNKNOWN_OPTION');
  });
});
