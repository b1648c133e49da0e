import { duration } from './format.ts';
import type { AlarmCode } from '@webhook-backpressure/core';

/** Names of alarms for people. */
const TITLES: Readonly<Record<AlarmCode, string>> = {
  WBP_ALARM_REFUSED: 'Many refusals',
  WBP_ALARM_GROWING: 'The queue keeps growing',
  WBP_ALARM_STALLED: 'Stalled',
  WBP_ALARM_LOSS_RISK: 'Deliveries may be lost',
  WBP_ALARM_ENDANGERED: 'An endpoint may be disabled',
  WBP_ALARM_OLDEST_AGE: 'The oldest delivery is late',
  WBP_ALARM_DEAD_LETTERS: 'More dead letters',
  WBP_ALARM_STORE_FAILING: 'The store fails',
  WBP_ALARM_LIMITED: 'Asked to wait',
  WBP_ALARM_QUEUED: 'Many queued events',
  WBP_ALARM_LATENCY: 'Slow delivery',
  WBP_ALARM_DISABLED: 'Endpoints disabled',
};

/** Alarms about the last five minutes. They can be raised beside a state that is fine again. */
const OF_FIVE_MINUTES: ReadonlySet<AlarmCode> = new Set<AlarmCode>([
  'WBP_ALARM_REFUSED',
  'WBP_ALARM_LOSS_RISK',
  'WBP_ALARM_DEAD_LETTERS',
  'WBP_ALARM_LIMITED',
  'WBP_ALARM_LATENCY',
  'WBP_ALARM_DISABLED',
]);

/** What an alarm is about, and since when it is raised. */
export function timeOf(code: AlarmCode, sinceMs: number): string {
  return `${OF_FIVE_MINUTES.has(code) ? 'last 5 minutes' : 'now'}, raised ${duration(sinceMs)} ago`;
}

export function titleOf(code: AlarmCode): string {
  return TITLES[code];
}
