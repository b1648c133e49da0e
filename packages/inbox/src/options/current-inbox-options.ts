import type { CurrentOptions, InboxAlarmSettings } from '@webhook-backpressure/core';

/**
 * The tunable options of an inbox that are in force, complete and as plain JSON data. `null` means none.
 */
export interface CurrentInboxOptions extends Omit<CurrentOptions, 'maxWaitMs' | 'overflow'> {
  /** The longest acceptable time in the inbox, in milliseconds. */
  readonly maxWaitMs: number | null;
  /** What happens above the high-water mark. */
  readonly overflow: 'refuse' | 'dead-letter';
  /** How failed deliveries are retried: all attempts, and the bounds of the delay in milliseconds. */
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  /** The status of acknowledgements: for senders known to accept any 2xx, and for all others. */
  readonly successStatus: { readonly known: number; readonly unknown: number };
  /** The largest accepted body, in bytes. */
  readonly maxBodyBytes: number;
  /** The most bytes that may be stored and unfinished. */
  readonly maxBytes: number;
  /** How long a completed id is remembered, in milliseconds. */
  readonly retentionMs: number;
  /** The most completed ids that are remembered. */
  readonly maxRemembered: number;
  /** The most dead letters. */
  readonly maxShelved: number;
  /** The most bytes of dead letters. */
  readonly maxShelvedBytes: number;
  /** How long dead letters are kept, in milliseconds; null for ever. */
  readonly maxShelvedAgeMs: number | null;
  /** How long completed deliveries are kept with their bodies, in milliseconds. */
  readonly keepCompletedMs: number;
  /** The most bytes of kept completed deliveries. */
  readonly maxKeptBytes: number;
  /** `false` for none. */
  readonly alarms: InboxAlarmSettings | false;
}
