/** How far a delay is stretched at random, so that those who were told the same do not come back together. */
const JITTER = 0.2;
/** Told while nothing better is known, in seconds: long enough for a first completion to be seen. */
const UNKNOWN_FROM_S = 3;
const UNKNOWN_TO_S = 7;
/** Told for a key that was switched off by hand: a person has to switch it on again. */
const SHED_S = 60;

/** The strategies of Retry-After, and its bounds, in seconds. */
export interface RetryAfterSettings {
  readonly strategy: 'depth';
  readonly minSeconds: number;
  readonly maxSeconds: number;
}

/**
 * Retry-After by the `depth` strategy: the time to work off what waits now, depth ÷ drain rate, with up to 20 %
 * of upward jitter, in whole seconds.
 *
 * @param drainRate - per second; null while unknown: then 3 to 7 s.
 */
export function retryAfterDepth(
  settings: RetryAfterSettings,
  depth: number,
  drainRate: number | null,
  random: () => number,
): number {
  if (drainRate === null) return retryAfterUnknown(settings, random);
  return wholeSeconds(settings, (depth / drainRate) * (1 + JITTER * random()));
}

/** Retry-After when the queue says nothing about it: nothing was measured, or another process will answer. */
export function retryAfterUnknown(settings: RetryAfterSettings, random: () => number): number {
  return wholeSeconds(settings, UNKNOWN_FROM_S + (UNKNOWN_TO_S - UNKNOWN_FROM_S) * random());
}

/** Retry-After for a key that was switched off by hand: a minute or a little more. */
export function retryAfterShed(settings: RetryAfterSettings, random: () => number): number {
  return wholeSeconds(settings, SHED_S * (1 + JITTER * random()));
}

function wholeSeconds({ minSeconds, maxSeconds }: RetryAfterSettings, seconds: number): number {
  return Math.min(maxSeconds, Math.max(minSeconds, Math.ceil(seconds)));
}
