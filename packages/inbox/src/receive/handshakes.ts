const PER_SECOND = 10;
const CONCURRENT = 5;

/**
 * Limits how many handshakes are admitted as critical: 10 per second and 5 concurrently, of all senders together. A
 * handshake is identified by a header, which can be forged, so any more are ordinary deliveries.
 */
export class Handshakes {
  #open = 0;
  #left = PER_SECOND;
  #filledMs = 0;

  /** Whether one more is admitted as critical. It is open until {@link end}. */
  tryBegin(nowMs: number): boolean {
    this.#left = Math.min(PER_SECOND, this.#left + ((nowMs - this.#filledMs) / 1000) * PER_SECOND);
    this.#filledMs = nowMs;
    if (this.#open >= CONCURRENT || this.#left < 1) return false;
    this.#open += 1;
    this.#left -= 1;
    return true;
  }

  end(): void {
    this.#open -= 1;
  }
}
