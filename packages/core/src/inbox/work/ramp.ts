/** A step lasts so long at least: a database that has just started has neither its caches nor its connections. */
const STEP_MS = 1000;
/** Then the usual limits apply again, whatever has been seen. */
const LONGEST_MS = 30_000;
/** Of the attempts of a step: with so many successes the next step is twice as wide, with so few half as wide. */
const WIDEN_SHARE = 0.4;
const NARROW_SHARE = 0.25;

/**
 * How many attempts may run side by side after an outage: one, then two, four and so on, as long as they succeed. What
 * has gathered meanwhile must not knock down what has just come up.
 */
export class Ramp {
  limit = 1;
  readonly endsAtMs: number;
  #stepBeganMs: number;
  #successes = 0;
  #failures = 0;

  constructor(nowMs: number) {
    this.endsAtMs = nowMs + LONGEST_MS;
    this.#stepBeganMs = nowMs;
  }

  isOver(nowMs: number, workers: number): boolean {
    return this.limit >= workers || nowMs >= this.endsAtMs;
  }

  note(isSuccess: boolean, nowMs: number): void {
    if (isSuccess) this.#successes += 1;
    else this.#failures += 1;
    const count = this.#successes + this.#failures;
    if (nowMs - this.#stepBeganMs < STEP_MS || count < this.limit) return;
    const share = this.#successes / count;
    if (share >= WIDEN_SHARE) this.limit *= 2;
    else if (share < NARROW_SHARE) this.limit = Math.max(1, this.limit / 2);
    this.#stepBeganMs = nowMs;
    this.#successes = 0;
    this.#failures = 0;
  }
}
