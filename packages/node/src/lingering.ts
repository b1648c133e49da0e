/** A body that its sender has not ended so long after the refusal is cut off, at the latest. */
const LINGER_MS = 2000;

/**
 * Requests whose refusal has been written and whose body is still on its way. One timer for all: each sweep cuts
 * what was there at the sweep before, so nothing lingers longer than {@link LINGER_MS}.
 */
export class Lingering<T> {
  readonly #cut: (item: T) => void;
  #newer = new Set<T>();
  #older = new Set<T>();
  #timer: NodeJS.Timeout | undefined;

  constructor(cut: (item: T) => void) {
    this.#cut = cut;
  }

  add(item: T): void {
    this.#newer.add(item);
    this.#timer ??= setInterval(this.#sweep, LINGER_MS / 2).unref();
  }

  delete(item: T): void {
    if (!this.#newer.delete(item)) this.#older.delete(item);
  }

  readonly #sweep = (): void => {
    const due = this.#older;
    this.#older = this.#newer;
    this.#newer = new Set();
    for (const item of due) this.#cut(item);
    if (this.#older.size + this.#newer.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
