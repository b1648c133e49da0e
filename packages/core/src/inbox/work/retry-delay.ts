import type { InboxSettings } from '../settings/inbox-settings.ts';

/**
 * The shortest delay, as a part of the longest: a delay near 0 asks a downstream again that has just failed. What is left
 * is spread evenly, because deliveries that failed together, since a database was down, must not be retried together.
 */
const FLOOR = 0.5;
/** Doubled so often, any first delay is longer than any longest one. Without this limit 0 × ∞ would be no number. */
const MOST_DOUBLINGS = 60;

/** How long a delivery waits after its n-th attempt, in whole milliseconds: half or more of a bound that doubles each time. */
export function retryDelayMs(attempt: number, retry: InboxSettings['retry'], random: () => number): number {
  const doublings = Math.min(MOST_DOUBLINGS, attempt - 1);
  const boundMs = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** doublings);
  return Math.floor(boundMs * (FLOOR + (1 - FLOOR) * random()));
}
