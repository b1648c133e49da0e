/** By how much, as a share, the true latency may have moved between two readings. */
const DRIFT = 0.02;
/** A reading so many standard errors below is no chance: the baseline is too high. */
const FALL = 3.5;
/** A reading further above than this share, and than chance explains, is not of a downstream without a queue. */
const LIKENESS = 0.2;

/**
 * The latency of a downstream in which nothing queues: a slow average of readings taken while nothing did, each
 * weighted by its precision, which makes it a Kalman filter of one number. Whoever teaches it answers for that
 * condition. Errors are standard errors, as shares of the latency.
 */
export class LatencyBaseline {
  /** Milliseconds; 0 before the first reading. */
  ms = 0;
  #variance = 0;

  learn(ms: number, error: number): void {
    if (this.ms === 0) {
      this.replace(ms, error);
      return;
    }
    const variance = this.#variance + DRIFT * DRIFT;
    const gain = variance / (variance + error * error);
    this.ms += gain * (ms - this.ms);
    this.#variance = (1 - gain) * variance;
  }

  /** Forgets all readings but this one. */
  replace(ms: number, error: number): void {
    this.ms = ms;
    this.#variance = error * error;
  }

  /** Learns a reading, whatever it was taken of, if it is too low for the baseline to be right. */
  learnIfFallen(ms: number, error: number): void {
    const fall = 1 - ms / this.ms;
    if (fall < FALL * this.#doubt(error)) return;
    // What was known is wrong by this much, so little weight is left to it.
    this.#variance += fall * fall;
    this.learn(ms, error);
  }

  /** Whether a reading is somewhat above the baseline at most, even if chance made it too low. */
  isNear(ms: number, error: number): boolean {
    return ms * (1 + 2 * error) < this.ms * (1 + LIKENESS);
  }

  /** Whether a reading may be of a downstream without a queue: near the baseline, but for chance. */
  isLike(ms: number, error: number): boolean {
    return ms < this.ms * (1 + LIKENESS + 2 * this.#doubt(error));
  }

  /** Whether chance alone explains how far a reading is above the baseline. */
  isChance(ms: number, error: number): boolean {
    return ms < this.ms * (1 + 2 * this.#doubt(error));
  }

  isVaguerThan(error: number): boolean {
    return this.#variance > error * error;
  }

  /** The standard error of the ratio of a reading to the baseline. */
  #doubt(error: number): number {
    return Math.sqrt(this.#variance + DRIFT * DRIFT + error * error);
  }
}
