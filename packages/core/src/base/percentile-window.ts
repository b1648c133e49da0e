/** What is shorter counts as this long: a handler faster than the clock's own step. */
const SHORTEST_MS = 0.01;
/** Each bucket is 2 % wider than the one below it, so a percentile is right within 2 %. */
const LOG_WIDTH = Math.log(1.02);
/** Buckets up to 24 h, the longest that a delivery may be handled. What is longer is in the last one. */
const BUCKETS = Math.ceil(Math.log(86_400_000 / SHORTEST_MS) / LOG_WIDTH);

/**
 * The percentiles of durations noted since it was last cleared: a histogram whose buckets are spaced by their
 * logarithm, so that 1 ms and 1 min are read with the same relative error. Noting one is O(1) and allocates
 * nothing; 5 KiB, however many are noted.
 */
export class PercentileWindow {
  /** How many were noted. */
  count = 0;
  readonly #buckets: Uint32Array = new Uint32Array(BUCKETS);
  #lowest = BUCKETS;
  #highest = -1;

  add(ms: number): void {
    const place = ms > SHORTEST_MS ? Math.floor(Math.log(ms / SHORTEST_MS) / LOG_WIDTH) : 0;
    const bucket = Math.min(place, BUCKETS - 1);
    this.#buckets[bucket] = (this.#buckets[bucket] as number) + 1;
    this.count += 1;
    if (bucket < this.#lowest) this.#lowest = bucket;
    if (bucket > this.#highest) this.#highest = bucket;
  }

  /**
   * The duration, in milliseconds, that a `fraction` from 0 to 1 of those noted did not exceed. Inside a bucket
   * it is interpolated. NaN when nothing was noted.
   */
  percentile(fraction: number): number {
    if (this.count === 0) return NaN;
    let left = fraction * this.count;
    let bucket = this.#lowest;
    for (; bucket < this.#highest; bucket += 1) {
      const here = this.#buckets[bucket] as number;
      if (left <= here && here > 0) break;
      left -= here;
    }
    const inside = Math.min(1, left / (this.#buckets[bucket] as number));
    return SHORTEST_MS * Math.exp((bucket + inside) * LOG_WIDTH);
  }

  /**
   * How far apart single durations lie around a percentile, as a share of it: divided by the square root of the
   * count it is the standard error of that percentile. From the durations one standard error of rank below and
   * above.
   */
  spread(fraction: number): number {
    const rankError = Math.sqrt((fraction * (1 - fraction)) / this.count);
    const above = this.percentile(Math.min(1, fraction + rankError));
    const below = this.percentile(Math.max(0, fraction - rankError));
    return (Math.sqrt(this.count) * (above - below)) / 2 / this.percentile(fraction);
  }

  clear(): void {
    if (this.count === 0) return;
    this.#buckets.fill(0, this.#lowest, this.#highest + 1);
    this.count = 0;
    this.#lowest = BUCKETS;
    this.#highest = -1;
  }
}
