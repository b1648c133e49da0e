import type { InboxSettings } from '../options/inbox-settings.ts';

/**
 * The shortest delay as a fraction of the longest: a delay near 0 would repeat a call to a service that has just failed.
 * Above it delays are random, so that deliveries that failed together are not retried together.
 */
const FLOOR = 0.5;
/** After this number of doublings any first delay exceeds the longest one. Without the limit 0 × ∞ would be NaN. */
const MOST_DOUBLINGS = 60;

/** The delay after the n-th attempt in whole milliseconds: random, from half of a bound that doubles each time. */
export function retryDelayMs(attempt: number, retry: InboxSettings['retry'], random: () => number): number {
  const doublings = Math.min(MOST_DOUBLINGS, attempt - 1);
  const boundMs = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** doublings);
  return Math.floor(boundMs * (FLOOR + (1 - FLOOR) * random()));
}
