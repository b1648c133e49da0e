/** Shorter durations count as this long; they are below the clock's resolution. */
const SHORTEST_MS = 0.01;
/** Each bucket is 2 % wider than the one below, so a percentile is accurate to 2 %. */
const LOG_WIDTH = Math.log(1.02);
/** Buckets up to 24 h, the maximum handling time. The last bucket also holds longer durations. */
const BUCKETS = Math.ceil(Math.log(86_400_000 / SHORTEST_MS) / LOG_WIDTH);

/**
 * Percentiles of the durations added since the last `clear()`, from a histogram with logarithmic buckets: 1 ms and
 * 1 min have the same relative error. `add()` is O(1) and allocates nothing; the histogram takes 5 KiB.
 */
export class PercentileWindow {
  /** The number of durations added. */
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
   * The duration, in milliseconds, that the given fraction (0 to 1) of durations does not exceed, interpolated
   * within a bucket. NaN for an empty window.
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
   * The relative standard error of a percentile times √count: how much single durations scatter around it. Taken
   * from the durations one standard error of rank below and above.
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
