const PER_SECOND = 10;
const AT_ONCE = 5;

/**
 * How many handshakes are let in as critical: 10 a second and 5 at once, of all senders together. A handshake is
 * told by a header, and headers can be forged; beyond this it is an ordinary delivery.
 */
export class Handshakes {
  #open = 0;
  #left = PER_SECOND;
  #filledMs = 0;

  /** Whether one more may pass. It counts as open until {@link end}. */
  tryBegin(nowMs: number): boolean {
    this.#left = Math.min(PER_SECOND, this.#left + ((nowMs - this.#filledMs) / 1000) * PER_SECOND);
    this.#filledMs = nowMs;
    if (this.#open >= AT_ONCE || this.#left < 1) return false;
    this.#open += 1;
    this.#left -= 1;
    return true;
  }

  end(): void {
    this.#open -= 1;
  }
}
