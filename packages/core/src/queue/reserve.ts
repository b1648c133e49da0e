import type { Gate } from './gate.ts';
import { turnsPer, type QueuedKeys } from './turns.ts';

/** The answer to a delivery that arrives while the gate is closed: admitted, or the reason why not. */
export type ReserveAnswer = 'open' | 'shedding' | 'full';

/** The most places of the reserve that are kept. */
const MAX_KEPT = 64;

/** A queue in the unit of the gate, deliveries or bytes. The queue of an intake is one. */
export interface ReserveQueue extends QueuedKeys {
  readonly size: number;
  /** Deliveries that are never retried. Absent where deliveries are verified before, as in an inbox. */
  readonly unrepeated?: number;
  lineOf(key: string): { readonly size: number } | undefined;
}

/**
 * The reserve: the band from the high-water mark up to the effective capacity. While the gate is closed it is open to
 * entitled deliveries, and to keys that hold so little that they are not part of the burst. Entitled are deliveries that are
 * critical, never retried, handshakes, retries on time, or from a sender that is about to disable the endpoint.
 *
 * Headers can be forged and keys invented. So a key that holds an equal share of the queue, or as much as half of the
 * reserve, gets only the lower quarter while another key asks, and the upper quarter is for entitled deliveries alone.
 */
export class Reserve {
  readonly #queue: ReserveQueue;
  readonly #gate: Gate;
  // Enough to know when another key than the present one last asked.
  #lastAsker: string | undefined;
  #lastAskedMs = -Infinity;
  #otherAskedMs = -Infinity;
  /** When a delivery that is retried last asked. */
  #repeatedAskedMs = -Infinity;

  constructor(queue: ReserveQueue, gate: Gate) {
    this.#queue = queue;
    this.#gate = gate;
  }

  /**
   * Decides for a delivery of `key` while the gate is closed.
   *
   * @param memoryMs - how long a key that asked is taken to be asking.
   * @param isKeeping - whether the upper quarter, at most 64 places, is kept for deliveries whose refusal is deferred, or
   *   that are near.
   * @param isNear - one more failure would endanger its sender: it gets the lower half, and the kept places.
   * @param isUnrepeated - whether the delivery is never retried.
   */
  ask(
    key: string,
    isEntitled: boolean,
    nowMs: number,
    memoryMs: number,
    isKeeping = false,
    isNear = false,
    isUnrepeated = false,
  ): ReserveAnswer {
    const { size, keys } = this.#queue;
    const { high, effectiveCapacity } = this.#gate;
    const quarter = Math.max(1, Math.floor((effectiveCapacity - high) / 4));
    const isFull = size >= effectiveCapacity - (isKeeping ? Math.min(MAX_KEPT, quarter) : 0);
    if (!this.isOpenTo(key, isEntitled)) return isFull ? 'full' : 'shedding';
    if (key !== this.#lastAsker) {
      this.#otherAskedMs = this.#lastAskedMs;
      this.#lastAsker = key;
    }
    this.#lastAskedMs = nowMs;
    if (!isUnrepeated) this.#repeatedAskedMs = nowMs;
    if (isFull) return isNear && size < effectiveCapacity ? 'open' : 'full';
    if (size - high < (isNear ? 2 : 1) * quarter) return 'open';
    // However many keys claim never to retry: together they are treated as one that holds half of the queue.
    if (isUnrepeated && (this.#queue.unrepeated ?? 0) >= effectiveCapacity / 2)
      if (nowMs - this.#repeatedAskedMs <= memoryMs) return 'full';
    const large = Math.min(2 * quarter, effectiveCapacity / (keys + 1));
    if ((this.#queue.lineOf(key)?.size ?? 0) >= large)
      return nowMs - this.#otherAskedMs <= memoryMs ? 'full' : 'open';
    return isEntitled || size - high < 3 * quarter ? 'open' : 'shedding';
  }

  /**
   * Whether a delivery may use the reserve at all: also one of a key that stays below half of an equal share of the
   * low-water mark with it. If all keys do, they hold less than half of that mark together. A sender that invents keys gets
   * slightly more deliveries admitted, and can keep the gate closed for at most the longest wait.
   */
  isOpenTo(key: string, isEntitled: boolean): boolean {
    if (isEntitled) return true;
    const line = this.#queue.lineOf(key);
    const turns = turnsPer(this.#queue, line === undefined, false);
    return (line?.size ?? 0) + 1 < this.#gate.low / turns / 2;
  }
}
