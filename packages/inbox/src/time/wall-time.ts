/** A smaller step ahead is trusted immediately: it is shorter than a lease, which is renewed earlier. */
const SMALL_STEP_MS = 5000;
/** A larger step is trusted after the wall clock has run steadily for this time. */
const STEADY_MS = 3_600_000;

/**
 * The time of day for stored data: leases, due times and the retention of completed ids.
 *
 * This time follows the wall clock forward, but a step of more than a few seconds only after an hour of the monotonic
 * clock in which the wall clock made no other step. Until then it advances with the monotonic clock: a clock that is
 * wrong for a while, because of a bad time server or an operator, would otherwise forget all completed ids and take
 * over all leases. It never goes back while the process lives: with a clock set back by an hour, every retry would wait
 * an hour longer.
 *
 * A sleep of the machine is no step if the monotonic clock counts it. Otherwise the step is trusted after an hour:
 * retries that became due meanwhile start late, and no id is forgotten too early.
 */
export class WallTime {
  readonly #wallClock: () => number;
  readonly #now: () => number;
  /** How far the trusted time, and the wall clock when last read, are ahead of the monotonic clock. */
  #trustedAheadMs: number;
  #wallAheadMs: number;
  /** When the wall clock last made a step in either direction, on the monotonic clock. */
  #steadySinceMs: number;

  constructor(wallClock: () => number, now: () => number) {
    this.#wallClock = wallClock;
    this.#now = now;
    this.#steadySinceMs = now();
    this.#trustedAheadMs = this.#wallAheadMs = wallClock() - this.#steadySinceMs;
  }

  /** The unfiltered wall clock, for the time when a delivery was received. */
  rawMs(): number {
    const wallMs = this.#wallClock();
    return Number.isFinite(wallMs) ? Math.floor(wallMs) : this.trustedMs();
  }

  /** The trusted time. Never goes back. */
  trustedMs(): number {
    const nowMs = this.#update();
    return Math.floor(nowMs + this.#trustedAheadMs);
  }

  /**
   * The time against which ages are measured: the earlier of the trusted time and the wall clock. 0, so that nothing is
   * old, until the wall clock has been steady for an hour, also after a start: a delivery whose id is forgotten too
   * early is processed twice.
   */
  agedMs(): number {
    const nowMs = this.#update();
    if (nowMs - this.#steadySinceMs < STEADY_MS) return 0;
    return Math.floor(nowMs + Math.min(this.#trustedAheadMs, this.#wallAheadMs));
  }

  #update(): number {
    const nowMs = this.#now();
    const aheadMs = this.#wallClock() - nowMs;
    // A user's clock may return anything, and with NaN no comparison would be true again.
    if (!Number.isFinite(aheadMs)) return nowMs;
    if (Math.abs(aheadMs - this.#wallAheadMs) > SMALL_STEP_MS) this.#steadySinceMs = nowMs;
    this.#wallAheadMs = aheadMs;
    const isSteady = nowMs - this.#steadySinceMs >= STEADY_MS;
    const stepMs = aheadMs - this.#trustedAheadMs;
    if (stepMs > 0 && (stepMs <= SMALL_STEP_MS || isSteady)) this.#trustedAheadMs = aheadMs;
    return nowMs;
  }
}
