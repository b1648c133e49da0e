/** A call of the store should not take longer than about this: nothing else is stored meanwhile. */
const TARGET_MS = 10;
/** What is removed is read and written by the byte. */
export const PART_BYTES: number = 8 * 1024 * 1024;
const FIRST = 50;
const LEAST = 10;
const MOST = 1000;

/** How many deliveries one call of the store moves: as many as it has lately moved within the time that a call may take. */
export class PartSize {
  #count = FIRST;

  get count(): number {
    return this.#count;
  }

  /** Notes how long a call took that was asked for `count`. */
  note(tookMs: number): void {
    const factor = tookMs <= 0 ? 2 : Math.min(2, Math.max(0.25, TARGET_MS / tookMs));
    this.#count = Math.min(MOST, Math.max(LEAST, Math.floor(this.#count * factor)));
  }
}
