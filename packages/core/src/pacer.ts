/** A start may be made up for this long after it was due, and no longer, or a pause would end in a clump. */
const CATCH_UP_US = 100_000;
/** Rates are kept in starts per 1,000 s, so that 0.5/s and 33.3/s are whole numbers too. */
const RATE_SCALE = 1000;
const US_PER_MS = 1000;

/**
 * Spaces starts evenly: a leaky bucket. Time is counted in whole microseconds and the remainder of each interval
 * is carried over, so that a rate of 3/s makes exactly three starts a second after days as well.
 */
export class Pacer {
  /** Starts per second, or undefined when nothing is paced. */
  readonly rate: number | undefined;
  readonly #scaledRate: number;
  /** The next start is due at this time. */
  #dueUs = 0;
  #remainder = 0;

  constructor(rate: number | undefined) {
    this.rate = rate;
    this.#scaledRate = rate === undefined ? 0 : Math.max(1, Math.round(rate * RATE_SCALE));
  }

  /** Milliseconds until the next start is due; 0 when one is due now. */
  delayMs(nowMs: number): number {
    if (this.#scaledRate === 0) return 0;
    return Math.max(0, (this.#dueUs - Math.floor(nowMs * US_PER_MS)) / US_PER_MS);
  }

  /**
   * Notes a start.
   *
   * @param waited - whether it had been waiting for its turn. Then a start that came late, because timers do,
   * moves the next one closer; a start after a pause does not.
   */
  started(nowMs: number, waited: boolean): void {
    if (this.#scaledRate === 0) return;
    const nowUs = Math.floor(nowMs * US_PER_MS);
    const interval = 1_000_000 * RATE_SCALE + this.#remainder;
    const wholeUs = Math.floor(interval / this.#scaledRate);
    this.#remainder = interval % this.#scaledRate;
    this.#dueUs = Math.max(this.#dueUs, waited ? nowUs - CATCH_UP_US : nowUs) + wholeUs;
  }
}
