/**
 * The keys of the audit, with their limits. Their handlers take 20 ms on average.
 *
 * @type {Record<string, import('@webhook-backpressure/inbox').KeyLimits>}
 */
export const LIMITED_KEYS = {
  fast: { perSecond: 100, burst: 20 },
  slow: { perSecond: 5, burst: 2 },
  minutes: { perMinute: 120, burst: 2 },
  narrow: { maxConcurrent: 3 },
  both: { perSecond: 100, burst: 20, maxConcurrent: 4, weight: 2 },
};
