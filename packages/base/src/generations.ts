/**
 * A map that keeps the entries that were set last, at least `size` and at most twice as many: in two generations, of which
 * the older one is forgotten as a whole. Finding the oldest entry of a Map that shrinks at its front is slow.
 */
export class Generations<V> {
  readonly #size: number;
  #latest = new Map<string, V>();
  #older = new Map<string, V>();

  constructor(size: number) {
    this.#size = size;
  }

  get isEmpty(): boolean {
    return this.#latest.size === 0 && this.#older.size === 0;
  }

  get(key: string): V | undefined {
    return this.#latest.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: V): void {
    if (this.#latest.size >= this.#size) {
      this.#older = this.#latest;
      this.#latest = new Map();
    }
    this.#latest.set(key, value);
  }

  delete(key: string): void {
    this.#latest.delete(key);
    this.#older.delete(key);
  }
}
