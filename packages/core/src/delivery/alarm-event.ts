/**
 * The stable codes of alarms, each a heading of docs/alarms.md. From `WBP_ALARM_OLDEST_AGE` on, an intake has none of
 * them; the last four exist only for a sender.
 */
export type AlarmCode =
  | 'WBP_ALARM_REFUSED'
  | 'WBP_ALARM_GROWING'
  | 'WBP_ALARM_STALLED'
  | 'WBP_ALARM_LOSS_RISK'
  | 'WBP_ALARM_ENDANGERED'
  | 'WBP_ALARM_OLDEST_AGE'
  | 'WBP_ALARM_DEAD_LETTERS'
  | 'WBP_ALARM_STORE_FAILING'
  | 'WBP_ALARM_LIMITED'
  | 'WBP_ALARM_QUEUED'
  | 'WBP_ALARM_LATENCY'
  | 'WBP_ALARM_DISABLED';

/** An alarm was raised, or has ended. */
export interface AlarmEvent {
  /** Whether the alarm was raised or has ended. */
  readonly type: 'alarm' | 'alarm-cleared';
  /** The stable code. */
  readonly code: AlarmCode;
  /** What is measured now, in the unit of the threshold. */
  readonly value: number;
  /** The option it is compared with: a ratio, a count, or milliseconds. */
  readonly threshold: number;
  /** What is measured now, as a sentence; at the end of an alarm that was turned off, that it was. */
  readonly message: string;
  /** The address of the page that says what to do: a URL with an anchor. */
  readonly help: string;
}
