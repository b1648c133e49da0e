import type { DeliveryRef } from '../delivery/stored-delivery.ts';

/**
 * Failures in a row, as evidence that something else than the deliveries is at fault: each delivery counts once, and no
 * key counts for more than a few.
 */
export class Streak {
  readonly #seen = new Map<string, Set<string>>();
  readonly #mostPerKey: number;
  #length = 0;

  constructor(mostPerKey: number) {
    this.#mostPerKey = mostPerKey;
  }

  get length(): number {
    return this.#length;
  }

  /** @param weight - for how many others it counts. */
  add({ key, id }: DeliveryRef, weight = 1): void {
    let ids = this.#seen.get(key);
    if (ids === undefined) {
      ids = new Set();
      this.#seen.set(key, ids);
    }
    if (ids.size >= this.#mostPerKey || ids.has(id)) return;
    ids.add(id);
    this.#length += weight;
  }

  clear(): void {
    if (this.#length === 0) return;
    this.#seen.clear();
    this.#length = 0;
  }
}
