/** Where their own turns are more than half of the starts, so many of these are held against them later. */
const MOST_AHEAD = 16;

/**
 * The lines of deliveries that cannot be repeated, which get more than their turns while deliveries are shed: a sender
 * that repeats loses time by waiting for longer, and one that never repeats loses the delivery.
 *
 * They get half of the starts at the most, their own turns included, so that the others are halved and never stopped,
 * however many deliveries come that claim to be of such a sender.
 */
export class FavoredLines<L> {
  /** Whether deliveries are being shed. */
  isOn = false;
  /** In the order of their next start. */
  readonly #lines = new Set<L>();
  /** Starts of these lines less those of all others, lately: from -1 to {@link MOST_AHEAD}. */
  #balance = 0;

  get size(): number {
    return this.#lines.size;
  }

  has(line: L): boolean {
    return this.#lines.has(line);
  }

  add(line: L): void {
    this.#lines.add(line);
  }

  delete(line: L): void {
    this.#lines.delete(line);
  }

  /** The line that is to start one beside its turns, or null when the turns decide. */
  next(): L | null {
    if (!this.isOn || this.#balance >= 0) return null;
    for (const line of this.#lines) return line;
    return null;
  }

  /** A delivery of the line starts. */
  started(line: L): void {
    if (!this.#lines.delete(line)) {
      this.#balance = Math.max(-1, this.#balance - 1);
      return;
    }
    this.#balance = Math.min(MOST_AHEAD, this.#balance + 1);
    this.#lines.add(line);
  }
}
