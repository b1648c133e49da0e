import {
  BackpressureError,
  type BackpressureErrorCode,
  checkNames,
  invalid,
  isRecord,
  show,
} from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
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

/** A rate as a fraction of integers: `amount` tokens in `periodMs`, reduced. */
export type RateFraction = Omit<BucketLimit, 'burst'>;

const NAMES = ['rate', 'burst', 'maxInFlight'];
const DEFAULT_RATE = { perSecond: 10 };
const DEFAULT_IN_FLIGHT = 10;
const MAX_BURST = 1_000_000;
const MAX_IN_FLIGHT = 10_000;
/** A documented limit is undercut by a fifth: other clients and clocks take a part of it. */
const DOCUMENTED_PARTS = 5;

const MAX_PER_SECOND = 1_000_000;
/** A slower rate is a mistake in the unit: the second request would wait for more than a day. */
const SLOWEST_MS = 86_400_000;
const UNIT_MS = { perSecond: 1000, perMinute: 60_000 } as const;
/** By so much a period is extended until the amount in it is an integer. */
const FACTORS = [1, 10, 60, 100, 1000, 3600, 10_000, 86_400];
/** How far from an integer the product of a decimal fraction may be, because it has no exact binary form. */
const ROUNDING = 1e-9;
/** How many seconds of the rate are saved by default. */
const BURST_SECONDS = 5;

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
  checkBurst(burst, 'burst');
  const set = rate === undefined ? defaults.limit : limitOf(rate);
  if (!isDocumented) return { ...set, burst: burst ?? set.burst };
  // Four fifths are the rate; the burst is the rest of the amount in the second or minute that the receiver counts.
  const unitMs = rate !== undefined && 'perMinute' in rate ? UNIT_MS.perMinute : UNIT_MS.perSecond;
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

/** @throws BackpressureError with this code for anything but an integer from 1 to `max`. */
export function checkUpTo(code: BackpressureErrorCode, option: string, value: unknown, max: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max) return;
  throw invalid(code, option, `an integer from 1 to ${max.toLocaleString('en')}`, value);
}

/**
 * A limit in integers, with the burst of 5 s, at least 1, if none is given.
 *
 * @param path - of the options in messages.
 * @throws BackpressureError `ERR_WBP_RATE`
 */
export function limitOf(rate: unknown, burst?: number, path = ''): BucketLimit {
  const { amount, periodMs } = fractionOfRate(rate, `${path}rate`);
  checkBurst(burst, `${path}burst`);
  const defaultBurst = Math.max(1, Math.floor((BURST_SECONDS * 1000 * amount) / periodMs));
  return { amount, periodMs, burst: burst ?? defaultBurst };
}

/** The rate of a limit, in tokens per second. */
export function perSecondOf({ amount, periodMs }: BucketLimit): number {
  return (amount * 1000) / periodMs;
}

function checkBurst(burst: unknown, option: string): void {
  if (burst !== undefined) checkUpTo('ERR_WBP_RATE', option, burst, MAX_BURST);
}

/**
 * The rate as integers, never above the given one.
 *
 * @throws BackpressureError `ERR_WBP_RATE`
 */
export function fractionOfRate(rate: unknown, option = 'rate'): RateFraction {
  const given = isRecord(rate) ? Object.entries(rate).filter(([, value]) => value !== undefined) : [];
  const [[unit, value] = []] = given;
  if (given.length !== 1 || (unit !== 'perSecond' && unit !== 'perMinute')) {
    throw invalid('ERR_WBP_RATE', option, '{ perSecond } or { perMinute }', rate);
  }
  const unitMs = UNIT_MS[unit];
  const isFinite = typeof value === 'number' && Number.isFinite(value);
  if (!isFinite || value < unitMs / SLOWEST_MS || value > (MAX_PER_SECOND * unitMs) / 1000) {
    throw new BackpressureError(
      'ERR_WBP_RATE',
      `${option}.${unit} must be a number of requests from 1 a day to 1,000,000 a second, but was ${show(value)}.`,
    );
  }
  return fractionOf(value, unitMs);
}

function fractionOf(value: number, unitMs: number): RateFraction {
  for (const factor of FACTORS) {
    const amount = value * factor;
    const near = Math.round(amount);
    if (near >= 1 && Math.abs(amount - near) <= near * ROUNDING) return reduced(near, unitMs * factor);
  }
  // No such fraction. The period is rounded up, by less than a hundred-thousandth.
  const perMs = value / unitMs;
  const most = Math.max(1_000_000, Math.floor(perMs * 100_000));
  const amount = Math.max(1, Math.min(most, Math.floor(perMs * 100_000_000)));
  return reduced(amount, Math.ceil(amount / perMs));
}

function reduced(amount: number, periodMs: number): RateFraction {
  let [divisor, rest] = [amount, periodMs];
  while (rest > 0) [divisor, rest] = [rest, divisor % rest];
  return { amount: amount / divisor, periodMs: periodMs / divisor };
}
