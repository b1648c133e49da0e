import { BackpressureError, checkUpTo, invalid, isRecord, show } from '@webhook-backpressure/base';
import type { BucketLimit } from './buckets.ts';

/** A rate as a fraction of integers: `amount` tokens in `periodMs`, reduced. */
export type RateFraction = Omit<BucketLimit, 'burst'>;

const MAX_BURST = 1_000_000;
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
 * A limit in integers, with the burst of 5 s, at least 1, if none is given.
 *
 * @param path - of the options in messages.
 * @throws BackpressureError `ERR_WBP_RATE`
 */
export function limitOf(rate: unknown, burst?: number, path = ''): BucketLimit {
  const { amount, periodMs } = fractionOfRate(rate, `${path}rate`);
  if (burst !== undefined) checkUpTo('ERR_WBP_RATE', `${path}burst`, burst, MAX_BURST);
  const defaultBurst = Math.max(1, Math.floor((BURST_SECONDS * 1000 * amount) / periodMs));
  return { amount, periodMs, burst: burst ?? defaultBurst };
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
    if (Math.abs(amount - near) <= near * ROUNDING) return reduced(near, unitMs * factor);
  }
  // No such fraction, so there are fewer than 5,800 a second: the product of a higher rate with the last factor is within
  // the rounding. The period is rounded up, by less than a hundred-thousandth.
  const perMs = value / unitMs;
  const amount = Math.max(1, Math.min(1_000_000, Math.floor(perMs * 100_000_000)));
  return reduced(amount, Math.ceil(amount / perMs));
}

/** The same rate in the smallest integers. */
export function reduced(amount: number, periodMs: number): RateFraction {
  let [divisor, rest] = [amount, periodMs];
  while (rest > 0) [divisor, rest] = [rest, divisor % rest];
  return { amount: amount / divisor, periodMs: periodMs / divisor };
}
