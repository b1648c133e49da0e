/** A demand falls by this factor in this time. Long enough that the pauses of a bursty sender don't move shares. */
const FALL_MS = 8000;
/** Smaller changes than this part of the limit are not reported: each moves the shares of all members. */
const STEP = 1 / 32;
/** Less than half a delivery is none. */
const LEAST = 0.5;

/** How many deliveries a member could handle concurrently: rises immediately and falls slowly. */
export class SmoothedDemand {
  #level = 0;
  #atMs = -Infinity;
  #reported = 0;

  note(wanted: number, nowMs: number): void {
    const kept = Math.exp((this.#atMs - nowMs) / FALL_MS);
    this.#level = Math.max(wanted, kept * this.#level + (1 - kept) * wanted);
    this.#atMs = nowMs;
  }

  /** What the member reports: an integer from 0 to `most`. */
  report(most: number, limit: number): number {
    const step = Math.max(1, Math.round(limit * STEP));
    // A level that falls to nothing never reaches it.
    const level = this.#level < LEAST ? 0 : Math.min(this.#level, most);
    if (level > this.#reported || level <= this.#reported - step)
      this.#reported = Math.ceil(level / step) * step;
    this.#reported = Math.min(this.#reported, most);
    return this.#reported;
  }
}
