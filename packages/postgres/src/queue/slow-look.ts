/** Visiting more index entries than this takes more than 2 ms. */
const MANY = 5000;
const AGAIN_MS = 5000;

/**
 * When the next delivery is due, for a receiver without workers. It looks twice a second, and while a transaction is open,
 * a look passes the index entries of all claimed deliveries. An owner that claims has its plan instead.
 */
export class SlowLook {
  #found: { readonly dueMs: number; readonly untilMs: number } | undefined;
  #hasEnded = false;

  /** What the last look has found, if it was slow and is recent. */
  get dueMs(): number | undefined {
    const found = this.#found;
    return found !== undefined && performance.now() < found.untilMs ? found.dueMs : undefined;
  }

  note(dueMs: number, visited: number): void {
    const isSlow = !this.#hasEnded && visited > MANY;
    this.#found = isSlow ? { dueMs, untilMs: performance.now() + AGAIN_MS } : undefined;
  }

  /** This owner claims. */
  end(): void {
    this.#hasEnded = true;
    this.#found = undefined;
  }
}
