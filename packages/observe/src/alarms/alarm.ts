import type { AlarmCode, AlarmEvent } from '@webhook-backpressure/core';

/** An alarm that is raised. */
export interface ActiveAlarm extends Omit<AlarmEvent, 'type'> {
  /** How long the alarm has been raised, in milliseconds. */
  readonly sinceMs: number;
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

const PAGE = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/docs/alarms.md';

export function helpOf(code: AlarmCode): string {
  return `${PAGE}#${code.toLowerCase()}`;
}

/** An alarm that is raised, as it is kept. */
export interface Raised {
  readonly atMs: number;
  value: number;
  threshold: number;
  message: string;
}

export const UNWATCHED = 'This alarm was turned off, or its source was closed.';

export function eventOf(
  type: AlarmEvent['type'],
  { code }: { readonly code: AlarmCode },
  { value, threshold, message }: Raised,
): AlarmEvent {
  return { type, code, value, threshold, message, help: helpOf(code) };
}
