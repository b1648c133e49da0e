/** If their own turns are more than half of the starts, at most this many are offset later. */
const MOST_AHEAD = 16;

/**
 * The lines of senders that never retry, which get more than their turns while shedding: a sender that retries loses
 * time by a longer wait, one that never retries loses the delivery. Before them come the lines of senders that would
 * disable the endpoint without a success.
 *
 * They get at most half of the starts, including their own turns. So the others get at least half, however many
 * deliveries claim to be from such a sender.
 */
export class FavoredLines<L> {
  /** Whether the intake sheds. */
  isOn = false;
  /** In the order of their next start. */
  readonly #lines = new Set<L>();
  /** The lines whose next delivery starts before those of all others, in the order in which they were hurried. */
  readonly #hurried = new Set<L>();
  /** Recent starts of these lines minus those of all others: from -1 to {@link MOST_AHEAD}. */
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
    this.#hurried.delete(line);
  }

  /** The next delivery of the line starts as soon as the share of these lines allows. */
  hurry(line: L): void {
    this.#hurried.add(line);
  }

  isHurried(line: L): boolean {
    return this.#hurried.has(line);
  }

  /** The line that may start a delivery beyond its turns, or null if the turns decide. */
  next(): L | null {
    if (this.#balance >= 0) return null;
    for (const line of this.#hurried) return line;
    if (!this.isOn) return null;
    for (const line of this.#lines) return line;
    return null;
  }

  /** A delivery of the line starts. */
  started(line: L): void {
    const isFavored = this.#lines.delete(line);
    if (!this.#hurried.delete(line) && !isFavored) {
      this.#balance = Math.max(-1, this.#balance - 1);
      return;
    }
    this.#balance = Math.min(MOST_AHEAD, this.#balance + 1);
    if (isFavored) this.#lines.add(line);
  }
}
