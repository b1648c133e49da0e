import type { Gate } from './gate.ts';

/** The answer to a delivery that arrives while the gate is closed: admitted, or the reason why not. */
export type ReserveAnswer = 'open' | 'shedding' | 'full';

/** The most places of the reserve that are kept. */
const MOST_KEPT = 64;

/** A queue in the unit of the gate, deliveries or bytes. The queue of an intake is one. */
export interface ReserveQueue {
  readonly size: number;
  readonly keys: number;
  lineOf(key: string): { readonly size: number } | undefined;
}

/**
 * The reserve: the band from the high-water mark up to the effective capacity. While the gate is closed it is open to
 * entitled deliveries, which are critical, never retried, or retries on time, and to keys that hold so little that they are
 * not part of the burst. Headers can be forged and keys invented, so a key that holds an equal share of the queue, or as
 * much as half of the reserve, gets no place in the upper half while another key asks for it, and the last quarter is for
 * entitled deliveries alone.
 */
export class Reserve {
  readonly #queue: ReserveQueue;
  readonly #gate: Gate;
  // Enough to know when another key than the present one last asked.
  #lastAsker: string | undefined;
  #lastAskedMs = -Infinity;
  #otherAskedMs = -Infinity;

  constructor(queue: ReserveQueue, gate: Gate) {
    this.#queue = queue;
    this.#gate = gate;
  }

  /**
   * Decides for a delivery of `key` while the gate is closed.
   *
   * @param memoryMs - how long a key that asked is taken to be asking.
   * @param isKeeping - whether a quarter of the reserve, at most 64 places, is kept for deliveries that do not ask.
   */
  ask(
    key: string,
    isEntitled: boolean,
    nowMs: number,
    memoryMs: number,
    isKeeping = false,
  ): ReserveAnswer {
    const { size } = this.#queue;
    const { high, effectiveCapacity } = this.#gate;
    const kept = isKeeping ? Math.min(MOST_KEPT, Math.floor((effectiveCapacity - high) / 4)) : 0;
    const isFull = size >= effectiveCapacity - kept;
    if (!this.isOpenTo(key, isEntitled)) return isFull ? 'full' : 'shedding';
    if (key !== this.#lastAsker) {
      this.#otherAskedMs = this.#lastAskedMs;
      this.#lastAsker = key;
    }
    this.#lastAskedMs = nowMs;
    if (isFull) return 'full';
    // Half of a single place is that place.
    const half = Math.max(1, Math.floor((effectiveCapacity - high) / 2));
    if (size - high < half) return 'open';
    const share = Math.min(half, effectiveCapacity / (this.#queue.keys + 1));
    if ((this.#queue.lineOf(key)?.size ?? 0) >= share)
      return nowMs - this.#otherAskedMs <= memoryMs ? 'full' : 'open';
    return isEntitled || size - high < 1.5 * half ? 'open' : 'shedding';
  }

  /**
   * Whether a delivery may use the reserve at all: also one of a key that stays below half of an equal share of the
   * low-water mark with it. If all keys do, they hold less than half of that mark together. A sender that invents keys gets
   * slightly more deliveries admitted, and can keep the gate closed for at most the longest wait.
   */
  isOpenTo(key: string, isEntitled: boolean): boolean {
    if (isEntitled) return true;
    const line = this.#queue.lineOf(key);
    const keys = line === undefined ? this.#queue.keys + 1 : this.#queue.keys;
    return (line?.size ?? 0) + 1 < this.#gate.low / keys / 2;
  }
}
