import { BackpressureError, invalid, isRecord, show } from '@webhook-backpressure/base';
import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { Rate } from '@webhook-backpressure/observe';

/** A rate as a fraction of integers: `amount` tokens in `periodMs`, reduced. */
export type RateFraction = Omit<BucketLimit, 'burst'>;

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

/** How many tokens are saved if the options don't say it: those of 5 s, at least 1. */
export function defaultBurst({ amount, periodMs }: RateFraction): number {
  return Math.max(1, Math.floor((BURST_SECONDS * 1000 * amount) / periodMs));
}

/** `numerator` ÷ `denominator` of a rate, exactly. */
export function scaled(
  { amount, periodMs }: RateFraction,
  numerator: number,
  denominator: number,
): RateFraction {
  return reduced(amount * numerator, periodMs * denominator);
}

/** A rate that was checked, such as one that an operator has set. */
export function limitOf(rate: Rate, burst?: number): BucketLimit {
  const fraction = fractionOfRate(rate);
  return { ...fraction, burst: burst ?? defaultBurst(fraction) };
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
  const divisor = greatestCommonDivisor(amount, periodMs);
  return { amount: amount / divisor, periodMs: periodMs / divisor };
}

function greatestCommonDivisor(a: number, b: number): number {
  let [greater, smaller] = [a, b];
  while (smaller > 0) [greater, smaller] = [smaller, greater % smaller];
  return greater;
}
