import type { InboxSettings } from '../options/inbox-settings.ts';

/**
 * The shortest delay as a fraction of the longest: a delay near 0 would repeat a call to a service that has just failed.
 * Above it delays are random, so that deliveries that failed together are not retried together.
 */
const FLOOR = 0.5;
/** After this number of doublings any first delay exceeds the longest one. Without the limit 0 × ∞ would be NaN. */
const MOST_DOUBLINGS = 60;
/** After this time its key is expected to be gone: the dead-letter queue keeps the delivery without filling the inbox. */
const KEY_WAIT_MS = 259_200_000;
/** How late a delivery may be handled after its key was deployed. */
const MAX_KEY_DELAY_MS = 60_000;

/** The delay after the n-th attempt in whole milliseconds: random, from half of a bound that doubles each time. */
export function retryDelayMs(attempt: number, retry: InboxSettings['retry'], random: () => number): number {
  const doublings = Math.min(MOST_DOUBLINGS, attempt - 1);
  const boundMs = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** doublings);
  return spread(boundMs, random);
}

/**
 * The delay after an attempt without the encryption key, by the age of the delivery: a deployment may bring the key within
 * seconds or days. Undefined after three days: the attempt counts.
 */
export function missingKeyDelayMs(
  ageMs: number,
  { firstDelayMs, maxDelayMs }: InboxSettings['retry'],
  random: () => number,
): number | undefined {
  if (ageMs >= KEY_WAIT_MS) return undefined;
  return spread(Math.min(maxDelayMs, MAX_KEY_DELAY_MS, Math.max(firstDelayMs, ageMs)), random);
}

function spread(boundMs: number, random: () => number): number {
  return Math.floor(boundMs * (FLOOR + (1 - FLOOR) * random()));
}
