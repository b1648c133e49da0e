import type { DeliveryRef } from '../delivery/stored-delivery.ts';

/** The number of different deliveries whose consecutive failures are an outage. */
export const OUTAGE_STREAK = 10;

/**
 * Consecutive failures, as evidence that not the deliveries are at fault: each delivery counts once, and each key at most
 * a few times.
 */
export class FailureStreak {
  readonly #seen = new Map<string, Set<string>>();
  readonly #mostPerKey: number;
  #length = 0;

  constructor(mostPerKey: number) {
    this.#mostPerKey = mostPerKey;
  }

  get length(): number {
    return this.#length;
  }

  /** @param weight - how many failures it counts for. */
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
