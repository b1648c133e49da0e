import type { CurrentOptions } from '../../delivery/current-options.ts';
import { currentOptions } from '../../intake/current-options.ts';
import type { InboxSettings } from './inbox-settings.ts';

/**
 * The tunable options of an inbox that are in force, complete and as plain JSON data. Units and effects are those of the
 * options of the same names. `null` means none.
 */
export interface CurrentInboxOptions extends Omit<CurrentOptions, 'maxWaitMs' | 'overflow'> {
  readonly maxWaitMs: number | null;
  readonly overflow: 'refuse' | 'dead-letter';
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  readonly maxBodyBytes: number;
  readonly maxBytes: number;
  readonly retentionMs: number;
  readonly maxRemembered: number;
  readonly maxShelved: number;
  readonly maxShelvedBytes: number;
  readonly maxShelvedAgeMs: number | null;
  readonly keepCompletedMs: number;
  readonly maxKeptBytes: number;
}

/** The settings as plain JSON data. It is frozen, so that every snapshot until the next update can share it. */
export function currentInboxOptions(settings: InboxSettings): CurrentInboxOptions {
  const { intake, longestWaitMs, retry, maxShelvedAgeMs, ...others } = settings;
  return Object.freeze({
    ...currentOptions(intake),
    ...others,
    maxWaitMs: longestWaitMs === Infinity ? null : longestWaitMs,
    retry: Object.freeze({ ...retry }),
    maxShelvedAgeMs: maxShelvedAgeMs ?? null,
  });
}
