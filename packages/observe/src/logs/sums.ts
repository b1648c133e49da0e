import type { LogLevel } from './event-logger.ts';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { IntakeEvent } from '@webhook-backpressure/core';

/** How the events of one type become one line a second. */
export interface SumRule {
  readonly level: LogLevel;
  /** What is counted, as the message says it. */
  readonly text: string;
  /** The same in a dry run, where it differs. */
  readonly dryRunText?: string;
  /** The fields that the line counts by value. Their values must be few. */
  readonly counted?: readonly string[];
  /** The field whose largest value the line has, and the name of that. */
  readonly largest?: readonly [field: string, name: string];
}

/** The events that are only counted: a request can cause each of them, so a line for each would be a flood. */
type SummedType = Extract<
  (IntakeEvent | InboxEvent)['type'],
  | ('refused' | 'withdrawn')
  | ('unverified' | 'verify-failed' | 'too-large' | 'overflow' | 'conflict')
  | ('failed' | 'dead' | 'shelf-full' | 'discarded' | 'lost')
>;

export const SUMS: Readonly<Record<SummedType, SumRule>> = {
  refused: {
    level: 'warn',
    text: 'Deliveries refused',
    dryRunText: 'Deliveries that would have been refused',
    counted: ['reason', 'status'],
    largest: ['retryAfterSeconds', 'maxRetryAfterSeconds'],
  },
  withdrawn: {
    level: 'warn',
    text: 'Queued deliveries withdrawn before their start',
    dryRunText: 'Queued deliveries that would have been withdrawn',
    counted: ['cause'],
    largest: ['waitedMs', 'maxWaitedMs'],
  },
  unverified: { level: 'warn', text: 'Deliveries answered with 401' },
  'verify-failed': { level: 'warn', text: 'Deliveries that verify could not decide on' },
  'too-large': { level: 'warn', text: 'Deliveries answered with 413' },
  overflow: { level: 'error', text: 'Deliveries stored as dead letters because the inbox was full' },
  conflict: { level: 'warn', text: 'Duplicates with another body' },
  failed: { level: 'warn', text: 'Failed attempts that will be retried' },
  dead: { level: 'error', text: 'Deliveries moved to the dead-letter queue' },
  'shelf-full': { level: 'error', text: 'Last attempts that failed while the dead-letter queue was full' },
  discarded: { level: 'warn', text: 'Old dead letters deleted' },
  lost: { level: 'warn', text: 'Claims taken over by another process' },
};
