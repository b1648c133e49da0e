/** The target duration of a store call, during which nothing else is stored. */
const TARGET_MS = 10;
/** The most bytes that one call removes, because removing reads and rewrites them. */
export const PART_BYTES: number = 8 * 1024 * 1024;
const FIRST = 50;
const LEAST = 10;
const MOST = 1000;

/** How many deliveries one store call moves: adapts to how many recent calls moved within the target duration. */
export class PartSize {
  #count = FIRST;

  /** How many items to take next. */
  get count(): number {
    return this.#count;
  }

  /** Learns from the duration of a call with `count`. */
  note(tookMs: number): void {
    const factor = tookMs <= 0 ? 2 : Math.min(2, Math.max(0.25, TARGET_MS / tookMs));
    this.#count = Math.min(MOST, Math.max(LEAST, Math.floor(this.#count * factor)));
  }
}
