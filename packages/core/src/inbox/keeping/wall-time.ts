/** A step ahead of this size is believed immediately: it is shorter than any lease, and leases are renewed before. */
const SMALL_STEP_MS = 5000;
/** A longer step is believed when the wall clock has kept to it for so long. */
const HELD_MS = 3_600_000;

/**
 * The time of day, for what is stored: leases, due times and the memory of completed ids.
 *
 * It follows the wall clock forward, but a step ahead of more than a few seconds only after the wall clock has kept to
 * it for an hour of the monotonic clock. Until then it goes on with the monotonic clock: a clock that is wrong for a
 * while, by a bad time server or by hand, would otherwise forget all completed ids and take over all leases. It never
 * goes back while the process lives: a clock that is set back by an hour would make every retry wait an hour longer.
 *
 * A sleep of the machine that the monotonic clock counts is no step. One that it does not count is believed after an
 * hour: retries that became due meanwhile come later than they could, and nothing is forgotten too early.
 */
export class WallTime {
  readonly #wallClock: () => number;
  readonly #now: () => number;
  /** What the believed time, and the wall clock as it was read last, are ahead of the monotonic clock. */
  #believedMs: number;
  #readMs: number;
  /** Since when, by the monotonic clock, the wall clock has made no step in either direction. */
  #steadySinceMs: number;

  constructor(wallClock: () => number, now: () => number) {
    this.#wallClock = wallClock;
    this.#now = now;
    this.#steadySinceMs = now();
    this.#believedMs = this.#readMs = wallClock() - this.#steadySinceMs;
  }

  /** The wall clock, whatever it says: when a delivery was received is a fact that no later belief changes. */
  rawMs(): number {
    const wallMs = this.#wallClock();
    return Number.isFinite(wallMs) ? Math.floor(wallMs) : this.believedMs();
  }

  /** The time that is believed. It never goes back. */
  believedMs(): number {
    const nowMs = this.#look();
    return Math.floor(nowMs + this.#believedMs);
  }

  /**
   * Until when ids are old by their age: neither the believed time nor the wall clock, if one of the two is behind; and
   * 0, so that nothing is old, until the wall clock has been steady for an hour, also after a start. What is forgotten
   * too early is handled twice.
   */
  agedMs(): number {
    const nowMs = this.#look();
    if (nowMs - this.#steadySinceMs < HELD_MS) return 0;
    return Math.floor(nowMs + Math.min(this.#believedMs, this.#readMs));
  }

  #look(): number {
    const nowMs = this.#now();
    const aheadMs = this.#wallClock() - nowMs;
    // A clock of the user's may say anything, and a comparison with NaN would end all belief.
    if (!Number.isFinite(aheadMs)) return nowMs;
    if (Math.abs(aheadMs - this.#readMs) > SMALL_STEP_MS) this.#steadySinceMs = nowMs;
    this.#readMs = aheadMs;
    const isHeld = nowMs - this.#steadySinceMs >= HELD_MS;
    const stepMs = aheadMs - this.#believedMs;
    if (stepMs > 0 && (stepMs <= SMALL_STEP_MS || isHeld)) this.#believedMs = aheadMs;
    return nowMs;
  }
}
