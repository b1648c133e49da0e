import type { BucketLimit } from '../buckets/buckets.ts';
import type { RateHints } from '../answers/outcome.ts';

/** What the dispatcher asks about an endpoint, and reports to it. Times are on the monotonic clock. */
export interface Pace {
  /** The present limit: the set one, or a lower one after refusals. */
  readonly limit: BucketLimit;
  /** The present limit of requests in flight. */
  readonly maxInFlight: number;
  /** No attempt before this time, because the endpoint asked for it; 0 for none. */
  readonly waitUntilMs: number;
  readonly waitsBecause: 'retry-after' | 'rate-limit' | undefined;
  /** The endpoint's settings have changed. */
  set(limit: BucketLimit, maxInFlight: number, nowMs: number): void;
  /** @param inFlight - requests in flight when this one started, this one included. */
  succeeded(tookMs: number, inFlight: number, hints: RateHints | undefined, nowMs: number): void;
  /** @param waitMs - what the endpoint named; undefined if it named nothing. */
  limited(waitMs: number | undefined, hints: RateHints | undefined, nowMs: number): void;
  /** The attempt ended otherwise. */
  failed(hints: RateHints | undefined, nowMs: number): void;
}

/** Whether an endpoint works. Times are on the monotonic clock. */
export interface EndpointHealth {
  /** Whether attempts fail one after another. */
  readonly isFailing: boolean;
  /** While failing: when the next probe may start; Infinity while one is in flight. Otherwise 0. */
  readonly probeAtMs: number;
  /** Whether it has failed for `disableAfterMs`. */
  readonly isOver: boolean;
  /** An attempt starts; while failing, it is the probe. */
  started(nowMs: number): void;
  /** The endpoint answered, whatever it said, so it works. */
  answered(nowMs: number): void;
  /** @param ageMs - since the event was sent. */
  failed(ageMs: number, nowMs: number): void;
  /** The attempt was given up by this process: it says nothing about the endpoint. */
  abandoned(nowMs: number): void;
}
