/** A start may be made up for this long after it was due, and no longer, or a pause would end in a clump. */
const CATCH_UP_US = 100_000;
/** Rates are kept in starts per 1,000,000 s, so that 0.5/s and 33.3/s are whole numbers too. */
const RATE_SCALE = 1_000_000;
const US_PER_S = 1_000_000;
const US_PER_MS = 1000;

/**
 * Spaces starts evenly: a leaky bucket. Time is counted in whole microseconds and the remainder of each interval
 * is carried over, so that a rate of 3/s makes exactly three starts a second after days as well.
 */
export class Pacer {
  /** Starts per second, or undefined when nothing is paced. */
  readonly rate: number | undefined;
  readonly #scaledRate: number;
  /** The last start was due, or when it could not have been made up for, was made, at this time. */
  #startedUs = -Infinity;
  #dueUs = -Infinity;
  #remainder = 0;

  /** @param before - whose place it takes: the first start keeps its distance from the last one there. */
  constructor(rate: number | undefined, before?: Pacer) {
    this.rate = rate;
    this.#scaledRate = rate === undefined ? 0 : Math.max(1, Math.round(rate * RATE_SCALE));
    if (before !== undefined && this.#scaledRate > 0) this.#space(before.#startedUs);
  }

  /** Milliseconds until the next start is due; 0 when one is due now. */
  delayMs(nowMs: number): number {
    if (this.#scaledRate === 0) return 0;
    return Math.max(0, (this.#dueUs - Math.floor(nowMs * US_PER_MS)) / US_PER_MS);
  }

  /**
   * Notes a start.
   *
   * @param isTimed - whether it had to wait for this pace, and for nothing else. Then one that came late, because
   * timers do, moves the next one closer; a start after a pause does not.
   */
  started(nowMs: number, isTimed: boolean): void {
    if (this.#scaledRate === 0) return;
    const nowUs = Math.floor(nowMs * US_PER_MS);
    this.#space(Math.max(this.#dueUs, isTimed ? nowUs - CATCH_UP_US : nowUs));
  }

  #space(startedUs: number): void {
    const interval = US_PER_S * RATE_SCALE + this.#remainder;
    this.#remainder = interval % this.#scaledRate;
    this.#startedUs = startedUs;
    this.#dueUs = startedUs + Math.floor(interval / this.#scaledRate);
  }
}
