import { checkNames, checkUpTo } from '@webhook-backpressure/base';
import { type BucketLimit, limitOf, type RateFraction, reduced } from '@webhook-backpressure/fleet';
import type { Rate } from '@webhook-backpressure/observe';

/** The limits of an endpoint. */
export interface EndpointLimits {
  /** How fast requests are started: from 1 a day to 1,000,000 a second. Default `{ perSecond: 10 }`. */
  rate?: Rate | undefined;
  /**
   * How many requests may start immediately after a quiet time: an integer from 1 to 1,000,000. Default 5 s of the rate, at
   * least 1; with `documented` a fifth of the amount of the rate, so that no second, or no minute, exceeds the rate.
   */
  burst?: number | undefined;
  /** How many requests may be in flight: an integer from 1 to 10,000. Default 10. */
  maxInFlight?: number | undefined;
}

/** The checked limits of endpoints that have none. */
export interface LimitDefaults {
  readonly limit: BucketLimit;
  readonly maxInFlight: number;
}

const NAMES = ['rate', 'burst', 'maxInFlight'];
const DEFAULT_RATE = { perSecond: 10 };
const DEFAULT_IN_FLIGHT = 10;
const MAX_BURST = 1_000_000;
const MAX_IN_FLIGHT = 10_000;
/** A documented limit is undercut by a fifth: other clients and clocks take a part of it. */
const DOCUMENTED_PARTS = 5;

/**
 * The limits of endpoints that have none.
 *
 * @throws BackpressureError `ERR_WBP_RATE`, `ERR_WBP_IN_FLIGHT` or `ERR_WBP_UNKNOWN_OPTION`
 */
export function checkLimits(given: EndpointLimits = {}): LimitDefaults {
  checkNames(given, 'defaults', NAMES, 'ERR_WBP_RATE');
  const { rate = DEFAULT_RATE, burst, maxInFlight = DEFAULT_IN_FLIGHT } = given;
  const limit = limitOf(rate, burst, 'defaults.');
  checkInFlight(maxInFlight, 'defaults.maxInFlight');
  return { limit, maxInFlight };
}

/**
 * The limit of an endpoint.
 *
 * @throws BackpressureError `ERR_WBP_RATE`
 */
export function endpointLimit(
  rate: Rate | undefined,
  burst: number | undefined,
  isDocumented: boolean,
  defaults: LimitDefaults,
): BucketLimit {
  if (burst !== undefined) checkUpTo('ERR_WBP_RATE', 'burst', burst, MAX_BURST);
  const set = rate === undefined ? defaults.limit : limitOf(rate);
  if (!isDocumented) return { ...set, burst: burst ?? set.burst };
  // Four fifths are the rate; the burst is the rest of the amount in the second or minute that the receiver counts.
  const unitMs = rate !== undefined && 'perMinute' in rate ? 60_000 : 1000;
  const rest = Math.floor((set.amount * unitMs) / set.periodMs / DOCUMENTED_PARTS);
  return { ...fourFifths(set), burst: burst ?? Math.max(1, Math.min(MAX_BURST, rest)) };
}

/** The part of a documented rate that is used. */
export function fourFifths({ amount, periodMs }: RateFraction): RateFraction {
  return reduced(amount * (DOCUMENTED_PARTS - 1), periodMs * DOCUMENTED_PARTS);
}

/** @throws BackpressureError `ERR_WBP_IN_FLIGHT` */
export function checkInFlight(maxInFlight: unknown, option = 'maxInFlight'): void {
  checkUpTo('ERR_WBP_IN_FLIGHT', option, maxInFlight, MAX_IN_FLIGHT);
}

/** The rate of a limit, in tokens per second. */
export function perSecondOf({ amount, periodMs }: BucketLimit): number {
  return (amount * 1000) / periodMs;
}
