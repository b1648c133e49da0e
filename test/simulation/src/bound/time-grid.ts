/** Buckets of one second, and later of this part of the time before them. */
const PRECISION = 1 / 1000;
const SECOND_MS = 1000;

/** The time of a run from 0, in buckets. The last one is endless. */
export class TimeGrid {
  /** The beginnings of the buckets. */
  readonly #fromMs: number[] = [];

  /**
   * @param fineMs - until then, buckets are one second long. Later, longer ones are precise enough.
   * @param endMs - the beginning of the endless bucket, at least.
   */
  constructor(fineMs: number, endMs: number) {
    let atMs = 0;
    while (atMs < endMs) {
      this.#fromMs.push(atMs);
      atMs += Math.max(SECOND_MS, (atMs - fineMs) * PRECISION);
    }
    this.#fromMs.push(atMs);
  }

  get size(): number {
    return this.#fromMs.length;
  }

  fromMs(bucket: number): number {
    return this.#fromMs[bucket] as number;
  }

  /** Infinity for the endless bucket. */
  toMs(bucket: number): number {
    return this.#fromMs[bucket + 1] ?? Infinity;
  }

  /** The bucket that contains a time. */
  at(ms: number): number {
    let low = 0;
    let high = this.size - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#fromMs[middle] as number) <= ms) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The last bucket that contains a time before this one. */
  before(ms: number): number {
    const bucket = this.at(ms);
    return bucket > 0 && this.fromMs(bucket) === ms ? bucket - 1 : bucket;
  }
}
