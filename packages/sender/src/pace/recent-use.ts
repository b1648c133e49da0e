/**
 * The most requests in flight during this round trip and the one before. A round ends when a request succeeds that was
 * started after the round began. Single requests do not show the use: of ten that were started together and are answered
 * together, the first one started alone, and the last one ends alone.
 */
export class RecentUse {
  #roundFromMs = -Infinity;
  #most = 0;
  #mostBefore = 0;

  /** @returns the recent use. */
  note(startedAtMs: number, inFlight: number, nowMs: number): number {
    if (startedAtMs >= this.#roundFromMs) {
      this.#roundFromMs = nowMs;
      this.#mostBefore = this.#most;
      this.#most = inFlight;
    } else {
      this.#most = Math.max(this.#most, inFlight);
    }
    return Math.max(this.#most, this.#mostBefore);
  }
}
