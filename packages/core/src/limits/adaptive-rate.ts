const WINDOW_MS = 1000;
/** Of so many deliveries one may be slow: that is what a 99th percentile is. */
const DELIVERIES_PER_SLOW_ONE = 100;
const DECREASE = 0.75;
/** Of the maximum. */
const INCREASE = 0.05;
/** Starts per second, also where 5 % of the maximum are less. */
const LEAST_INCREASE = 1;

/** Starts per second, `0 < min ≤ max`, and the handling time in milliseconds that 99 of 100 should not exceed. */
export interface RateRange {
  readonly min: number;
  readonly max: number;
  readonly targetP99Ms: number;
}

/**
 * How many deliveries to start per second: additive increase while the downstream is quick, multiplicative
 * decrease when it is slow (Chiu and Jain, 1989). Judged at most once a second, on what completed since: if the
 * 99th percentile of the handling time is above the target, the rate goes to three quarters, but not below `min`;
 * otherwise it goes up by 5 % of `max`, at least 1/s, but not above `max`.
 *
 * - It starts at `max`, which is what the user trusts a healthy downstream with. If that is too much, it is known
 *   after a second and halved after three. Starting at `min` would refuse the first burst after each deployment,
 *   from max 200 and min 20 for 18 seconds.
 * - Without completions it holds. Nothing is known of a downstream that was asked nothing, and one that stands
 *   still must not be rewarded for it. So a gap counts as one judgement, however long.
 * - One slow delivery among fewer than a hundred says nothing about the 99th percentile. The rate holds, and the
 *   judgement waits for a second slow one, or for the hundred.
 * - The rate goes on falling while the deliveries of before the first decrease are still slow. They are the queue
 *   in the downstream, and only a rate below its own works that off.
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

  /** Starts per second, from `min` to `max`; not always whole. */
  get rate(): number {
    return this.#rate;
  }

  /** Takes a new range and moves the rate into it. What completed so far is forgotten: the target may be new. */
  retune(range: RateRange): void {
    this.#range = range;
    this.#rate = this.#clamp(this.#rate);
    this.#opensAtMs = undefined;
    this.#completions = this.#slow = 0;
  }

  /**
   * Notes one completion, also a failed one. O(1).
   *
   * @param nowMs - from a clock that never goes back.
   * @param serviceMs - how long the delivery was handled.
   * @returns whether the rate changed.
   */
  observe(nowMs: number, serviceMs: number): boolean {
    this.#opensAtMs ??= nowMs;
    this.#completions += 1;
    if (serviceMs > this.#range.targetP99Ms) this.#slow += 1;
    if (nowMs - this.#opensAtMs < WINDOW_MS) return false;
    if (this.#slow === 1 && this.#completions < DELIVERIES_PER_SLOW_ONE) return false;

    const isSlow = this.#slow > Math.floor(this.#completions / DELIVERIES_PER_SLOW_ONE);
    const step = Math.max(LEAST_INCREASE, INCREASE * this.#range.max);
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
