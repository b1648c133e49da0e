/** The recent answers whose median is compared. */
const RECENT = 16;
/** The fewest answers that have a useful median. */
const FEWEST = 8;
/** A reading for the least median contains at first 8, in the end so many answers. */
const LARGEST_READING = 64;
/** How far a lower reading lowers the least: chance makes single readings too low. */
const GAIN = 0.25;
/** A least that was confirmed by a reading up to this factor above it is still right. */
const LIKE = 1.25;
/** The least counts as at least so much: below, differences come from the two event loops, not from a queue. */
const NOISE_MS = 25;

/**
 * How long the answers of an endpoint take: the median of the last 16, and the least median so far. The median, because
 * large payloads and single slow answers are no queue; the least of medians and not of answers, because times vary: the
 * fastest of many answers is far below what is usual, without any queue.
 */
export class AnswerTimes {
  /** The median of recent answers, in milliseconds; 0 while there are too few. */
  recentMs = 0;
  /** The least median; 0 before the first reading. */
  leastMs = 0;
  /** When a reading was last as low as the least. */
  confirmedAtMs = 0;
  readonly #ring: Float64Array = new Float64Array(RECENT);
  readonly #sorted: Float64Array = new Float64Array(RECENT);
  #count = 0;
  #reading: number[] = [];
  #readingSize = FEWEST;

  /** How many times the least the recent answers take; 1 while that is unknown. */
  get factor(): number {
    if (this.recentMs === 0 || this.leastMs === 0) return 1;
    return Math.max(1, this.recentMs / Math.max(this.leastMs, NOISE_MS));
  }

  /** Whether there is something to compare, or nothing was ever noted. */
  get isKnown(): boolean {
    return this.recentMs > 0 || this.leastMs === 0;
  }

  note(tookMs: number, nowMs: number): void {
    this.#ring[this.#count % RECENT] = tookMs;
    this.#count += 1;
    if (this.#count >= FEWEST) {
      const sorted = this.#sorted.subarray(0, Math.min(RECENT, this.#count));
      sorted.set(this.#ring.subarray(0, sorted.length));
      this.recentMs = middle(sorted.sort());
    }
    this.#reading.push(tookMs);
    if (this.#reading.length >= this.#readingSize) this.#read(nowMs);
  }

  /** Drops recent answers, because they were made under other limits. */
  clear(): void {
    this.#count = 0;
    this.recentMs = 0;
    this.#reading = [];
  }

  /** So long is usual now. */
  replaceLeast(ms: number, nowMs: number): void {
    this.leastMs = ms;
    this.confirmedAtMs = nowMs;
  }

  #read(nowMs: number): void {
    const ms = medianOf(this.#reading);
    this.#reading = [];
    this.#readingSize = Math.min(LARGEST_READING, 2 * this.#readingSize);
    if (this.leastMs === 0) this.leastMs = ms;
    else if (ms < this.leastMs) this.leastMs += GAIN * (ms - this.leastMs);
    if (ms <= LIKE * Math.max(this.leastMs, NOISE_MS)) this.confirmedAtMs = nowMs;
  }
}

export function medianOf(values: readonly number[]): number {
  return middle(Float64Array.from(values).sort());
}

/** The median of sorted values: of two in the middle the lower one. */
function middle(sorted: Float64Array): number {
  return sorted[(sorted.length - 1) >> 1] as number;
}
