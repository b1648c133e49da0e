const WINDOW_MS = 1000;
/** A 99th percentile allows one slow delivery in this many. */
const DELIVERIES_PER_SLOW_ONE = 100;
const DECREASE = 0.75;
/** As a share of the maximum. */
const INCREASE = 0.05;
/** In starts per second, for a maximum of which 5 % is less. */
const MIN_INCREASE = 1;

/** The range and the target of an adaptive `maxStartsPerSecond`. */
export interface RateRange {
  /** The lowest rate, in starts per second, from 0.001. */
  readonly min: number;
  /** The highest rate and the initial one, in starts per second, from `min` to 1,000,000. */
  readonly max: number;
  /** The handling time that 99 of 100 deliveries should not exceed, in milliseconds, from 1 to 86,400,000. */
  readonly targetP99Ms: number;
}

/**
 * How many deliveries to start per second: additive increase while the downstream is fast, multiplicative decrease
 * while it is slow (Chiu and Jain, 1989). At most once a second, the rate is adjusted by the completions since: if the
 * 99th percentile of the handling time is above the target, the rate falls to three quarters, but not below `min`;
 * otherwise it rises by 5 % of `max`, at least 1/s, but not above `max`.
 *
 * - The rate starts at `max`, the user's estimate for a healthy downstream. If that is too high, the rate falls after
 *   one second and is halved after three. Starting at `min` would refuse the first burst after each deployment: with
 *   max 200 and min 20 for 18 seconds.
 * - Without completions the rate stays. An idle downstream proves nothing, and a stalled one must not be rewarded. So a
 *   gap of any length counts as one adjustment.
 * - One slow delivery among fewer than a hundred says nothing about the 99th percentile. The adjustment waits for a
 *   second slow delivery, or for the hundredth.
 * - The rate keeps falling while deliveries started before the first decrease are still slow. They are the queue inside
 *   the downstream, and only a rate below the downstream's own rate drains it.
 */
export class AdaptiveRate {
  #rate: number;
  #range: RateRange;
  #opensAtMs: number | undefined;
  #completions = 0;
  #slow = 0;

  constructor(range: RateRange) {
    this.#range = range;
    this.#rate = range.max;
  }

  /** Starts per second, from `min` to `max`; not always an integer. */
  get rate(): number {
    return this.#rate;
  }

  /** Sets a new range and moves the rate into it. Drops the completions so far: the target may be new. */
  retune(range: RateRange): void {
    this.#range = range;
    this.#rate = this.#clamp(this.#rate);
    this.#opensAtMs = undefined;
    this.#completions = this.#slow = 0;
  }

  /**
   * Notes a completion or a failure. O(1).
   *
   * @param nowMs - from a monotonic clock.
   * @param serviceMs - the handling time.
   * @returns whether the rate changed.
   */
  observe(nowMs: number, serviceMs: number): boolean {
    this.#opensAtMs ??= nowMs;
    this.#completions += 1;
    if (serviceMs > this.#range.targetP99Ms) this.#slow += 1;
    if (nowMs - this.#opensAtMs < WINDOW_MS) return false;
    if (this.#slow === 1 && this.#completions < DELIVERIES_PER_SLOW_ONE) return false;

    const isSlow = this.#slow > Math.floor(this.#completions / DELIVERIES_PER_SLOW_ONE);
    const step = Math.max(MIN_INCREASE, INCREASE * this.#range.max);
    const before = this.#rate;
    this.#rate = this.#clamp(isSlow ? before * DECREASE : before + step);
    this.#opensAtMs = nowMs;
    this.#completions = this.#slow = 0;
    return this.#rate !== before;
  }

  #clamp(rate: number): number {
    return Math.min(this.#range.max, Math.max(this.#range.min, rate));
  }
}
