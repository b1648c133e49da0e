/** A smaller difference is not corrected: the clocks of servers differ by less when they are kept, and a reply takes time. */
const MIN_MS = 1000;

/**
 * How far the server's clock is ahead of this machine's. Times are stored by the server's clock, so that machines with
 * different clocks agree on when a delivery is due and a lease ends.
 */
export class ClockSkew {
  #aheadMs = 0;
  readonly #corrected: (aheadMs: number) => void;
  readonly #now: () => number;

  /** @param corrected - called when times begin to be corrected. */
  constructor(corrected: (aheadMs: number) => void = () => undefined, now: () => number = Date.now) {
    this.#corrected = corrected;
    this.#now = now;
  }

  /** This machine's time, for `note`. */
  now(): number {
    return this.#now();
  }

  /** Learns from a reply with the server's time. */
  note(serverMs: number, sentAtMs: number): void {
    const repliedAtMs = this.#now();
    const uncertainMs = (repliedAtMs - sentAtMs) / 2;
    // The clock has been set meanwhile, or the reply says too little.
    if (uncertainMs < 0 || uncertainMs > MIN_MS / 2) return;
    const aheadMs = serverMs - (sentAtMs + repliedAtMs) / 2;
    if (Math.abs(aheadMs - this.#aheadMs) > MIN_MS + uncertainMs) {
      const isFirst = this.#aheadMs === 0;
      this.#aheadMs = Math.round(aheadMs);
      if (isFirst) this.#corrected(this.#aheadMs);
    } else if (Math.abs(aheadMs) < MIN_MS / 2) this.#aheadMs = 0;
  }

  toServer(ms: number): number {
    return ms + this.#aheadMs;
  }

  fromServer(ms: number): number {
    return ms - this.#aheadMs;
  }
}
