import type { BucketLimit } from '../buckets/buckets.ts';
import type { RateHints } from '../answers/outcome.ts';

/**
 * The questions and reports of the dispatcher about an endpoint. Times are on the monotonic clock. `startedAtMs`: when the
 * request was started; it tells a refusal under the present limits from one of a request that was in flight when they
 * were lowered.
 */
export interface Pace {
  /** The present limit: the set one, or a lower one after refusals or a small announced remainder. */
  readonly limit: BucketLimit;
  /** The present limit of requests in flight. */
  readonly maxInFlight: number;
  /** No attempt before this time, because the endpoint asked for it; 0 for none. */
  readonly waitUntilMs: number;
  readonly waitsBecause: 'retry-after' | 'rate-limit' | undefined;
  /** Whether the limits are lower than set because of refusals. */
  readonly isSlowed: boolean;
  /** Drops announcements of an endpoint for a time that is over. Called before the limits are read. */
  pass(nowMs: number): void;
  /** The endpoint's settings have changed. */
  set(limit: BucketLimit, maxInFlight: number, nowMs: number): void;
  /**
   * @param tookMs - how long the request took, without standstills of this process: the difference of two readings of
   * `Deadlines.livedMs`.
   * @param inFlight - requests in flight when this one ended, this one included.
   */
  succeeded(
    startedAtMs: number,
    tookMs: number,
    inFlight: number,
    hints: RateHints | undefined,
    nowMs: number,
  ): void;
  /** @param waitMs - the wait that the endpoint named; undefined if it named none. */
  limited(startedAtMs: number, waitMs: number | undefined, hints: RateHints | undefined, nowMs: number): void;
  /** The attempt ended otherwise. */
  failed(startedAtMs: number, hints: RateHints | undefined, nowMs: number): void;
}

/** Whether an endpoint works. Times are on the monotonic clock. `startedAtMs`: when the attempt started. */
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
  failed(startedAtMs: number, ageMs: number, nowMs: number): void;
  /** The attempt ended without a request: it says nothing about the endpoint. */
  abandoned(startedAtMs: number, nowMs: number): void;
}
