/**
 * The stable codes of alarms, each a heading of docs/operations.md. From `WBP_ALARM_OLDEST_AGE` on, an intake has none of
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

/** An alarm that is raised. */
export interface ActiveAlarm {
  /** The stable code. */
  readonly code: AlarmCode;
  /** How long the alarm has been raised, in milliseconds. */
  readonly sinceMs: number;
  /** What is measured now, in the unit of the threshold. */
  readonly value: number;
  /** The option it is compared with: a ratio, a count, or milliseconds. */
  readonly threshold: number;
  /** What is measured now, as a sentence; at the end of an alarm that was turned off, that it was. */
  readonly message: string;
  /** The address of the page that says what to do: a URL with an anchor. */
  readonly help: string;
}

/** An alarm was raised, or has ended. */
export interface AlarmEvent extends Omit<ActiveAlarm, 'sinceMs'> {
  /** Whether the alarm was raised or has ended. */
  readonly type: 'alarm' | 'alarm-cleared';
}

/** What the alarms are judged by, at one moment. The counts are those of the last five minutes. */
export interface AlarmReading {
  readonly arrivals: number;
  readonly refused: number;
  readonly lossRisk: number;
  readonly dead: number;
  readonly depth: number;
  /** Milliseconds without a completion while all workers are busy; 0 if they are not stalled. */
  readonly stalledMs: number;
  /** Senders close to disabling the endpoint. */
  readonly endangered: number;
  /** Of an inbox: the age of its oldest delivery. */
  readonly oldestAgeMs: number;
  /** Of an inbox or a sender: how long calls of its store have been failing; 0 if they work. */
  readonly storeFailingMs: number;
  /** Of a sender: endpoints that were disabled. */
  readonly disabled: number;
}

const PAGE = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/operations.md';

export function helpOf(code: AlarmCode): string {
  return `${PAGE}#${code.toLowerCase()}`;
}
