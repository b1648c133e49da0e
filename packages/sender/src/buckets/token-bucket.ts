import { checkClock, checkNames, type Clock, invalid, systemClock } from '@webhook-backpressure/base';
import { TokenLevel } from '@webhook-backpressure/fleet';
import { checkBurst } from '../options/limits.ts';
import { defaultBurst, fractionOfRate } from '../options/rates.ts';
import type { BucketLimit } from './buckets.ts';
import { TokenWaiters } from './token-waiters.ts';

/** The limit of a {@link tokenBucket}: either `perSecond` or `perMinute`. */
export interface TokenBucketLimit {
  /** Tokens per second: from 1 a day to 1,000,000 a second. */
  perSecond?: number | undefined;
  /** Tokens per minute: from 1 a day to 1,000,000 a second. */
  perMinute?: number | undefined;
  /** The most tokens that can be saved: an integer from 1 to 1,000,000. Default 5 s of the rate, at least 1. */
  burst?: number | undefined;
}

/** Options of {@link tokenBucket}. */
export interface TokenBucketOptions extends TokenBucketLimit {
  /** The clock. Default: the monotonic clock of the system. */
  clock?: Clock | undefined;
}

/** The result of {@link TokenBucket.take}. `waitMs`: until the tokens are there, if no other call takes them. */
export type TokensTaken = { readonly ok: true } | { readonly ok: false; readonly waitMs: number };

/**
 * A token bucket. It starts full, and never gives a token more than `burst` + rate × time, nor one less. Times are exact to
 * the microsecond.
 */
export interface TokenBucket {
  /**
   * Takes `count` tokens, or none. While calls of `wait` are waiting, tokens belong to them first.
   *
   * @param count - an integer from 1 to the burst. Default 1.
   * @param nowMs - milliseconds on the clock of the bucket. Default: its present reading. If a reading is below the previous
   * one, no time has passed between the two.
   * @throws BackpressureError `ERR_WBP_TOKENS` for an invalid argument.
   */
  take(count?: number, nowMs?: number): TokensTaken;
  /**
   * Resolves when `count` tokens were taken. Calls get their tokens in their order. A waiting call keeps the process alive.
   *
   * @param options - `signal`: ends the wait; the promise rejects with its reason.
   * @returns A promise that rejects with `ERR_WBP_TOKENS` for an invalid count, also if `update` lowers the burst below it.
   */
  wait(count?: number, options?: { signal?: AbortSignal | undefined }): Promise<void>;
  /**
   * Changes the limit. Saved tokens stay, up to the new burst.
   *
   * @throws BackpressureError `ERR_WBP_RATE` or `ERR_WBP_UNKNOWN_OPTION` for an invalid limit.
   */
  update(limit: TokenBucketLimit): void;
  /** Tokens that are there and belong to no waiting call, rounded down. */
  readonly tokens: number;
}

const LIMIT_NAMES = ['perSecond', 'perMinute', 'burst'];
const TAKEN: TokensTaken = Object.freeze({ ok: true });

/**
 * Creates a token bucket, for clients of any rate-limited API.
 *
 * @param options - see {@link TokenBucketOptions}.
 * @throws BackpressureError `ERR_WBP_RATE`, `ERR_WBP_CLOCK` or `ERR_WBP_UNKNOWN_OPTION` for an invalid option.
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  checkNames(options, 'options', [...LIMIT_NAMES, 'clock'], 'ERR_WBP_RATE');
  const { clock = systemClock, ...limit } = options;
  checkClock(clock);
  const level = new TokenLevel(limitOf(limit), clock.now());
  const waiters = new TokenWaiters(level, clock);
  return {
    take(count = 1, nowMs = clock.now()) {
      checkCount(count, level);
      if (!Number.isFinite(nowMs))
        throw invalid('ERR_WBP_TOKENS', 'nowMs', 'a number of milliseconds', nowMs);
      const needed = waiters.tokens + count;
      if (level.tokens(nowMs) < needed) return { ok: false, waitMs: level.waitMs(needed, nowMs) };
      level.take(count, nowMs);
      return TAKEN;
    },
    // Async, so that an invalid count rejects.
    async wait(count = 1, { signal } = {}) {
      checkCount(count, level);
      await waiters.wait(count, signal);
    },
    update(next) {
      checkNames(next, 'update()', LIMIT_NAMES, 'ERR_WBP_RATE');
      level.set(limitOf(next), clock.now());
      waiters.limitChanged((count) => {
        checkCount(count, level);
      });
    },
    get tokens() {
      return Math.max(0, level.tokens(clock.now()) - waiters.tokens);
    },
  };
}

function limitOf({ burst, ...rate }: TokenBucketLimit): BucketLimit {
  const fraction = fractionOfRate(rate, 'the rate');
  checkBurst(burst, 'burst');
  return { ...fraction, burst: burst ?? defaultBurst(fraction) };
}

function checkCount(count: number, { size }: TokenLevel): void {
  if (Number.isInteger(count) && count >= 1 && count <= size) return;
  const rule = `an integer from 1 to the burst, ${size.toLocaleString('en')}`;
  throw invalid('ERR_WBP_TOKENS', 'The number of tokens', rule, count);
}
