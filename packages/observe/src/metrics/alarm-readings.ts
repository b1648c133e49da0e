import type { ActiveAlarm, AlarmCode } from '@webhook-backpressure/core';
import {
  ALARM_DEFAULTS,
  ALARM_RULES,
  ENDPOINT_ALARM_RULES,
  INBOX_ALARM_DEFAULTS,
  SENDER_ALARM_DEFAULTS,
} from '@webhook-backpressure/core/extend';
import type { Reading } from './rows.ts';

/** The codes of the alarms of an intake. */
export const INTAKE_ALARMS: readonly AlarmCode[] = codesIn(ALARM_DEFAULTS);
/** The codes of the alarms of an inbox. */
export const INBOX_ALARMS: readonly AlarmCode[] = codesIn(INBOX_ALARM_DEFAULTS);
/** The codes of the alarms of a sender. */
export const SENDER_ALARMS: readonly AlarmCode[] = codesIn(SENDER_ALARM_DEFAULTS);

function codesIn(settings: object): readonly AlarmCode[] {
  return [...ALARM_RULES, ...ENDPOINT_ALARM_RULES]
    .filter(({ option }) => option in settings)
    .map(({ code }) => code);
}

/** One reading for each code: how often its alarm is raised, which is at most 1 unless it is about single endpoints. */
export function readingsOfAlarms(
  codes: readonly AlarmCode[],
  raised: readonly ActiveAlarm[],
): readonly Reading[] {
  return codes.map((code) => ({
    value: raised.filter((alarm) => alarm.code === code).length,
    attributes: { code },
  }));
}
