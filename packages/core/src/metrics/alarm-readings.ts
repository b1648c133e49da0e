import type { ActiveAlarm, AlarmCode } from '../alarms/alarm.ts';
import { ALARM_DEFAULTS } from '../alarms/alarm-options.ts';
import { ALARM_RULES } from '../alarms/alarm-rules.ts';
import type { Reading } from './rows.ts';

/** The codes of all alarms of an inbox. */
export const INBOX_ALARMS: readonly AlarmCode[] = ALARM_RULES.map(({ code }) => code);
/** The codes of the alarms of an intake, which has fewer. */
export const INTAKE_ALARMS: readonly AlarmCode[] = ALARM_RULES.filter(
  ({ option }) => option in ALARM_DEFAULTS,
).map(({ code }) => code);

/** One reading for each code: 1 if the alarm is raised, otherwise 0. */
export function readingsOfAlarms(
  codes: readonly AlarmCode[],
  raised: readonly ActiveAlarm[],
): readonly Reading[] {
  return codes.map((code) => ({
    value: raised.some((alarm) => alarm.code === code) ? 1 : 0,
    attributes: { code },
  }));
}
