import {
  checkClock,
  checkNames,
  type Clock,
  holdTimer,
  invalid,
  systemClock,
} from '@webhook-backpressure/base';
import { type BucketLimit, limitOf, TokenLevel } from '@webhook-backpressure/fleet';

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
  return new WaitingBucket(bucketLimit(limit), clock);
}

function bucketLimit({ burst, ...rate }: TokenBucketLimit): BucketLimit {
  return limitOf(rate, burst);
}

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** A bucket with calls that wait in their order: a large one is not overtaken for ever by small ones. */
class WaitingBucket implements TokenBucket {
  readonly #level: TokenLevel;
  readonly #clock: Clock;
  /** A set keeps its order, and an aborted waiter leaves it in constant time. */
  readonly #waiting = new Set<Waiter>();
  /** Tokens that the waiting calls want. */
  #wanted = 0;
  #timer: unknown;
  #isTimerSet = false;

  constructor(limit: BucketLimit, clock: Clock) {
    this.#level = new TokenLevel(limit, clock.now());
    this.#clock = clock;
  }

  get tokens(): number {
    return Math.max(0, this.#level.tokens(this.#clock.now()) - this.#wanted);
  }

  take(count = 1, nowMs: number = this.#clock.now()): TokensTaken {
    this.#check(count);
    if (!Number.isFinite(nowMs)) throw invalid('ERR_WBP_TOKENS', 'nowMs', 'a number of milliseconds', nowMs);
    const needed = this.#wanted + count;
    if (this.#level.tokens(nowMs) < needed) return { ok: false, waitMs: this.#level.waitMs(needed, nowMs) };
    this.#level.take(count, nowMs);
    return TAKEN;
  }

  // Async, so that an invalid count rejects.
  async wait(count = 1, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    this.#check(count);
    signal?.throwIfAborted();
    let abort = (): void => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiter: Waiter = { count, resolve, reject };
        abort = () => {
          this.#remove(waiter);
          waiter.reject(signal?.reason);
          this.#serve();
        };
        signal?.addEventListener('abort', abort);
        this.#waiting.add(waiter);
        this.#wanted += count;
        // Only the first one has a timer.
        if (!this.#isTimerSet) this.#serve();
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  update(limit: TokenBucketLimit): void {
    checkNames(limit, 'update()', LIMIT_NAMES, 'ERR_WBP_RATE');
    this.#level.set(bucketLimit(limit), this.#clock.now());
    for (const waiter of [...this.#waiting]) {
      try {
        this.#check(waiter.count);
      } catch (error) {
        this.#remove(waiter);
        waiter.reject(error);
      }
    }
    this.#serve();
  }

  #check(count: number): void {
    const { size } = this.#level;
    if (Number.isInteger(count) && count >= 1 && count <= size) return;
    const rule = `an integer from 1 to the burst, ${size.toLocaleString('en')}`;
    throw invalid('ERR_WBP_TOKENS', 'The number of tokens', rule, count);
  }

  #serve(): void {
    if (this.#isTimerSet) this.#clock.clearTimeout(this.#timer);
    this.#isTimerSet = false;
    const nowMs = this.#clock.now();
    for (const waiter of this.#waiting) {
      const waitMs = this.#level.waitMs(waiter.count, nowMs);
      if (waitMs > 0) {
        this.#isTimerSet = true;
        this.#timer = this.#clock.setTimeout(() => {
          this.#serve();
        }, waitMs);
        // The process would exit while something awaits the promise.
        holdTimer(this.#timer);
        return;
      }
      this.#level.take(waiter.count, nowMs);
      this.#remove(waiter);
      waiter.resolve();
    }
  }

  #remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#wanted -= waiter.count;
  }
}
