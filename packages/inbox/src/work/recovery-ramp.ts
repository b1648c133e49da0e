/** The shortest step: a database that has just started lacks its caches and connections. */
const STEP_MS = 1000;
/** The longest ramp. After it the usual limits apply. */
const LONGEST_MS = 30_000;
/** Shares of successful attempts of a step: from the first one the limit doubles, below the second one it halves. */
const WIDEN_SHARE = 0.4;
const NARROW_SHARE = 0.25;

/**
 * The limit of concurrent attempts after an outage: 1, then 2, 4 and so on while they succeed, because the backlog must
 * not overload a service that has just recovered.
 */
export class RecoveryRamp {
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
