import type { BackpressureError } from '@webhook-backpressure/base';
import { describe, expect, it } from 'vitest';
import {
  alarmSettings,
  OUTBOX_ALARM_DEFAULTS,
  type OutboxAlarmSettings,
} from '../../../packages/observe/src/alarms/alarm-options.ts';

function settled(alarms: unknown): OutboxAlarmSettings | false {
  return alarmSettings(OUTBOX_ALARM_DEFAULTS, OUTBOX_ALARM_DEFAULTS, alarms);
}

function codeOf(alarms: unknown): string | undefined {
  try {
    settled(alarms);
    return undefined;
  } catch (error) {
    return (error as BackpressureError).code;
  }
}

describe('the option alarms of a sender', () => {
  it('has defaults, takes thresholds one by one, and false for one and for all', () => {
    expect(settled(undefined)).toMatchObject({ limitedRatio: 0.05, queued: 100, meanLatencyMs: 60_000 });
    expect(settled({ queued: 5, growingMs: false })).toMatchObject({
      queued: 5,
      growingMs: false,
      disabled: 1,
    });
    expect(settled(false)).toBe(false);
  });

  it.each([
    [true, 'ERR_WBP_ALARMS'],
    [{ limitedRatio: 5 }, 'ERR_WBP_ALARMS'],
    [{ minAttempts: false }, 'ERR_WBP_ALARMS'],
    [{ queued: 0.5 }, 'ERR_WBP_ALARMS'],
    [{ meanLatencyMs: 0 }, 'ERR_WBP_ALARMS'],
    [{ refusedRatio: 0.1 }, 'ERR_WBP_UNKNOWN_OPTION'],
  ])('refuses %j', (alarms, code) => {
    expect(codeOf(alarms)).toBe(code);
  });
});
