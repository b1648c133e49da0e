/** The assumed relative drift of the true latency between two readings. */
const DRIFT = 0.02;
/** A reading this many standard errors below the baseline proves that the baseline is too high. */
const FALL = 3.5;
/** A reading above the baseline by more than this share plus chance is not from a downstream without a queue. */
const LIKENESS = 0.2;

/**
 * The latency of a downstream without a queue: a slow average of readings weighted by precision, that is, a
 * one-dimensional Kalman filter. The caller of `learn` ensures that there was no queue. Errors are relative standard
 * errors.
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

  /** Drops all readings but this one. */
  replace(ms: number, error: number): void {
    this.ms = ms;
    this.#variance = error * error;
  }

  /** Learns any reading that is too low for the baseline to be correct. */
  learnIfFallen(ms: number, error: number): void {
    const fall = 1 - ms / this.ms;
    if (fall < FALL * this.#doubt(error)) return;
    // The baseline was wrong by this much, so it keeps little weight.
    this.#variance += fall * fall;
    this.learn(ms, error);
  }

  /** Whether a reading is at most slightly above the baseline, even if chance made it too low. */
  isNear(ms: number, error: number): boolean {
    return ms * (1 + 2 * error) < this.ms * (1 + LIKENESS);
  }

  /** Whether a reading may be from a downstream without a queue: near the baseline, allowing for chance. */
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
