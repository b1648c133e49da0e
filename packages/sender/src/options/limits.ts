import { checkNames, invalid } from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import { defaultBurst, fractionOfRate, scaled, type RateFraction } from './rates.ts';
import type { EndpointLimits } from './sender-options.ts';

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
/** By so much a documented limit is undercut: other clients and clocks take a part of it. */
const DOCUMENTED = { numerator: 4, denominator: 5 };

/**
 * The limits of endpoints that have none.
 *
 * @throws BackpressureError `ERR_WBP_RATE`, `ERR_WBP_IN_FLIGHT` or `ERR_WBP_UNKNOWN_OPTION`
 */
export function checkLimits(given: EndpointLimits = {}): LimitDefaults {
  checkNames(given, 'defaults', NAMES, 'ERR_WBP_RATE');
  const { rate = DEFAULT_RATE, burst, maxInFlight = DEFAULT_IN_FLIGHT } = given;
  const fraction = fractionOfRate(rate, 'defaults.rate');
  checkBurst(burst, 'defaults.burst');
  checkInFlight(maxInFlight, 'defaults.maxInFlight');
  return { limit: { ...fraction, burst: burst ?? defaultBurst(fraction) }, maxInFlight };
}

/** @throws BackpressureError `ERR_WBP_RATE` */
export function bucketLimitOf(
  { rate, burst }: Pick<EndpointLimits, 'rate' | 'burst'>,
  isDocumented: boolean,
  defaults: LimitDefaults,
): BucketLimit {
  checkBurst(burst, 'burst');
  const set = rate === undefined ? defaults.limit : fractionOfRate(rate);
  const { amount, periodMs } = isDocumented ? scaled(set, DOCUMENTED.numerator, DOCUMENTED.denominator) : set;
  if (burst !== undefined) return { amount, periodMs, burst };
  if (isDocumented) return { amount, periodMs, burst: documentedBurst(rate, set) };
  return { amount, periodMs, burst: rate === undefined ? defaults.limit.burst : defaultBurst(set) };
}

/** @throws BackpressureError `ERR_WBP_IN_FLIGHT` */
export function checkInFlight(maxInFlight: unknown, option = 'maxInFlight'): void {
  if (isInteger(maxInFlight, MAX_IN_FLIGHT)) return;
  throw invalid('ERR_WBP_IN_FLIGHT', option, 'an integer from 1 to 10,000', maxInFlight);
}

export function checkBurst(burst: unknown, option: string): void {
  if (burst === undefined || isInteger(burst, MAX_BURST)) return;
  throw invalid('ERR_WBP_RATE', option, 'an integer from 1 to 1,000,000', burst);
}

/** The rest of the documented amount in the second or minute that the receiver counts, after four fifths of the rate. */
function documentedBurst(rate: EndpointLimits['rate'], { amount, periodMs }: RateFraction): number {
  const unitMs = rate !== undefined && 'perMinute' in rate ? 60_000 : 1000;
  return Math.max(1, Math.min(MAX_BURST, Math.floor((amount * unitMs) / periodMs / DOCUMENTED.denominator)));
}

function isInteger(value: unknown, max: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max;
}
