import type { InboxSettings } from './inbox-settings.ts';

/**
 * How long a delivery waits after its n-th attempt, in whole milliseconds: full jitter, anything from 0 up to a bound
 * that doubles each time. Deliveries that failed together, since a database was down, must not come back together.
 */
export function retryDelayMs(attempt: number, retry: InboxSettings['retry'], random: () => number): number {
  const boundMs = Math.min(retry.maxDelayMs, retry.firstDelayMs * 2 ** (attempt - 1));
  return Math.floor(boundMs * random());
}
