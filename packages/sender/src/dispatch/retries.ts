import type { RetrySettings } from '../options/sender-settings.ts';

/** After this number of doublings any first delay exceeds the longest one. Without the limit 0 × ∞ would be NaN. */
const MOST_DOUBLINGS = 60;
/** After 429 without Retry-After: most limits are per minute. */
const UNNAMED_WAIT_MS = 60_000;
const SPREAD = 0.1;
const MAX_SPREAD_MS = 2000;

/** The delay after the n-th attempt: any up to a bound that doubles each time (full jitter), so that retries spread evenly. */
export function retryDelayMs(attempt: number, retry: RetrySettings, random: () => number): number {
  const doublings = Math.min(MOST_DOUBLINGS, attempt - 1);
  return Math.ceil(Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** doublings) * random());
}

/**
 * The delay after the endpoint asked to wait: at least what it named. A little more by chance, so that the events of many
 * senders do not arrive in the same millisecond.
 */
export function namedDelayMs(waitMs: number, random: () => number): number {
  return Math.ceil(waitMs + Math.min(MAX_SPREAD_MS, waitMs * SPREAD) * random());
}

/** The delay after a refusal that names none. */
export function unnamedDelayMs(
  status: number | undefined,
  attempt: number,
  retry: RetrySettings,
  random: () => number,
): number {
  if (status === 429) return namedDelayMs(UNNAMED_WAIT_MS, random);
  return retryDelayMs(attempt, retry, random);
}
