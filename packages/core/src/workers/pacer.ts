/** A late start is made up for within this time only, or a pause would end in a burst. */
const CATCH_UP_US = 100_000;
/** Rates are kept in starts per 1,000,000 s, so that 0.5/s and 33.3/s are whole numbers too. */
const RATE_SCALE = 1_000_000;
const US_PER_S = 1_000_000;
const US_PER_MS = 1000;

/**
 * Spaces starts evenly: a leaky bucket. Time is counted in whole microseconds, and the remainder of each interval is
 * carried over, so that a rate of 3/s is exactly three starts a second even after days.
 */
export class Pacer {
  /** Starts per second. */
  readonly rate: number;
  readonly #scaledRate: number;
  /** When the last start was due, or was made if it was too late to be made up for. */
  #startedUs = -Infinity;
  #dueUs = -Infinity;
  #remainder = 0;

  /** @param before - the pacer that this one replaces: the first start keeps its distance from the last one there. */
  constructor(rate: number, before: Pacer | null = null) {
    this.rate = rate;
    this.#scaledRate = Math.max(1, Math.round(rate * RATE_SCALE));
    if (before !== null) this.#space(before.#startedUs);
  }

  /** Milliseconds until the next start is due; 0 when one is due now. */
  delayMs(nowMs: number): number {
    return Math.max(0, (this.#dueUs - Math.floor(nowMs * US_PER_MS)) / US_PER_MS);
  }

  /**
   * Notes a start.
   *
   * @param isTimed - whether only the pace delayed it. Then a late start, since timers are late, brings the next one
   * forward; a start after a pause does not.
   */
  started(nowMs: number, isTimed: boolean): void {
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
