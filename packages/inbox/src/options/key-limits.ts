import {
  checkBoolean,
  checkNames,
  checkNumber,
  checkOneOf,
  checkUpTo,
  isThenable,
} from '@webhook-backpressure/base';
import { BackpressureError, invalidResult, thrownText } from '@webhook-backpressure/base';
import { type BucketLimit, fractionOfRate } from '@webhook-backpressure/fleet';

/** How deliveries of one key may be started: what {@link InboxTunable.limits} returns. Absent fields limit nothing. */
export interface KeyLimits {
  /** Starts per second: from 1 a day to 1,000,000 a second. Either this or `perMinute`. Default: no rate. */
  perSecond?: number | undefined;
  /** Starts per minute: from 1 a day to 1,000,000 a second. */
  perMinute?: number | undefined;
  /**
   * How many may start immediately after a quiet time: an integer from 1 to 1,000,000. In any time t at most `burst` +
   * rate × t start. Default a fifth of a second of the rate, at least 1. Needs a rate.
   */
  burst?: number | undefined;
  /**
   * How many handlers may run concurrently, of all processes on the store: an integer from 1 to 10,000. Default: no limit.
   */
  maxConcurrent?: number | undefined;
  /**
   * How many deliveries the turn of the key has while there are more due deliveries than free workers: an integer from 1
   * to 1,000. Default 1.
   */
  weight?: number | undefined;
  /**
   * While there are more due deliveries than free workers, all keys that are `critical` start before the `normal` ones, and
   * those before `bulk`. Of a hundred starts, ten are left to `normal` keys and one to `bulk` keys that have something due.
   * Default `normal`.
   */
  priority?: KeyPriority | undefined;
  /**
   * The share of the key's starts that goes to the delivery that arrived last and was never tried, from 0 to 0.9, so that new
   * deliveries do not wait behind a backlog. The others start in the order of arrival. Not with `ordered`. Default 0.
   */
  freshShare?: number | undefined;
  /**
   * Whether a `RetryAfter` that a handler throws delays all deliveries of the key, and not only its own: nothing of the key
   * starts before. In this process; with shared buckets and a rate, in all processes. Default true.
   */
  holdOnRetryAfter?: boolean | undefined;
}

/** Which keys start first. */
export type KeyPriority = 'critical' | 'normal' | 'bulk';

/** All priorities, the first one first. */
export const PRIORITIES: readonly KeyPriority[] = ['critical', 'normal', 'bulk'];

/** Returns the limits of a key; undefined: none. */
export type LimitsOfKey = (key: string) => KeyLimits | undefined;

/** The limits of a key, checked and complete. */
export interface KeyLimit {
  readonly rate: BucketLimit | undefined;
  readonly maxConcurrent: number;
  readonly weight: number;
  /** An index of {@link PRIORITIES}. */
  readonly rank: number;
  readonly freshShare: number;
  readonly isHeldOnRetryAfter: boolean;
}

const CODE = 'ERR_WBP_LIMITS';
const NAMES = [
  'perSecond',
  'perMinute',
  'burst',
  'maxConcurrent',
  'weight',
  'priority',
  'freshShare',
  'holdOnRetryAfter',
];
const MAX_BURST = 1_000_000;
const MAX_CONCURRENT = 10_000;
const MAX_WEIGHT = 1000;
/** The rest empties the backlog. */
const MAX_FRESH_SHARE = 0.9;
const NORMAL = PRIORITIES.indexOf('normal');
/** The default burst, as a part of a second of the rate: claims may be late by that much without a token being lost. */
const BURST_PARTS = 5;

export const UNLIMITED: KeyLimit = {
  rate: undefined,
  maxConcurrent: Infinity,
  weight: 1,
  rank: NORMAL,
  freshShare: 0,
  isHeldOnRetryAfter: false,
};

/** The limits of a key of which nothing valid is known: slow enough for most APIs, and still its deliveries are handled. */
export const CAUTIOUS: KeyLimit = {
  rate: { amount: 1, periodMs: 1000, burst: 1 },
  maxConcurrent: 1,
  weight: 1,
  rank: NORMAL,
  freshShare: 0,
  isHeldOnRetryAfter: true,
};

/**
 * Asks for the limits of a key.
 *
 * @returns the limits, or the sentence that says why there are none: the function threw, or its result is invalid.
 */
export function askLimits(limits: LimitsOfKey, key: string, isOrdered: boolean): KeyLimit | string {
  try {
    return checkKeyLimits(limits(key), isOrdered);
  } catch (error) {
    return thrownText(error);
  }
}

/** @throws BackpressureError `ERR_WBP_LIMITS`, `ERR_WBP_RATE` or `ERR_WBP_UNKNOWN_OPTION` */
function checkKeyLimits(given: unknown, isOrdered: boolean): KeyLimit {
  if (given === undefined) return UNLIMITED;
  if (isThenable(given)) throw invalidResult(CODE, 'limits', 'an object or undefined, synchronously', given);
  checkNames(given, 'limits(key)', NAMES, CODE);
  const {
    perSecond,
    perMinute,
    burst,
    maxConcurrent,
    weight = 1,
    priority = 'normal',
    freshShare = 0,
    holdOnRetryAfter = true,
  } = given as KeyLimits;
  const rate = rateOf(perSecond, perMinute, burst);
  if (maxConcurrent !== undefined)
    checkUpTo(CODE, 'limits(key).maxConcurrent', maxConcurrent, MAX_CONCURRENT);
  checkUpTo(CODE, 'limits(key).weight', weight, MAX_WEIGHT);
  checkOneOf(CODE, 'limits(key).priority', priority, PRIORITIES);
  checkNumber(CODE, 'limits(key).freshShare', freshShare, 0, MAX_FRESH_SHARE, 'starts');
  if (isOrdered && freshShare > 0)
    throw new BackpressureError(CODE, 'limits(key).freshShare cannot be combined with ordered.');
  checkBoolean(CODE, 'limits(key).holdOnRetryAfter', holdOnRetryAfter);
  return {
    rate,
    maxConcurrent: maxConcurrent ?? Infinity,
    weight,
    rank: PRIORITIES.indexOf(priority),
    freshShare,
    isHeldOnRetryAfter: holdOnRetryAfter,
  };
}

function rateOf(perSecond: unknown, perMinute: unknown, burst: unknown): BucketLimit | undefined {
  if (perSecond === undefined && perMinute === undefined && burst === undefined) return undefined;
  const { amount, periodMs } = fractionOfRate({ perSecond, perMinute }, 'limits(key)');
  if (burst !== undefined) checkUpTo(CODE, 'limits(key).burst', burst, MAX_BURST);
  const most = Math.max(1, Math.floor((1000 * amount) / periodMs / BURST_PARTS));
  return { amount, periodMs, burst: (burst as number | undefined) ?? most };
}
