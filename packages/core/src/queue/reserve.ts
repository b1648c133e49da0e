import type { Gate } from './gate.ts';

/** What a delivery that comes while the gate is closed is told: in, or why not. */
export type ReserveAnswer = 'open' | 'shedding' | 'full';

/** How a waiting delivery holds a place of the reserve, if it does. */
export type ReservePlace = 'none' | 'entitled' | 'small';

/** What one key has waiting. */
export interface ReserveLine {
  readonly size: number;
  /** How much of it holds places of the reserve. */
  reserved: number;
  /** And how much of this because it is entitled to it. */
  entitled: number;
}

/** What waits, in the unit of the gate: deliveries, or bytes. the queue of an intake is one. */
export interface ReserveQueue {
  readonly size: number;
  readonly keys: number;
  lineOf(key: string): ReserveLine | undefined;
}

interface Reserving {
  readonly line: ReserveLine | null;
  reserve: ReservePlace;
}

/**
 * The reserve: the band from the high-water mark up to the effective capacity. While the gate is closed it is
 * kept for deliveries that cannot come back or must not wait, and, up to its half, for keys that hold so little
 * that they have no part in the burst. Headers can be forged, so no key gets more than half of it while another
 * asks for it, and of many such keys none gets more than an equal share of the queue.
 */
export class Reserve<T extends Reserving> {
  readonly #queue: ReserveQueue;
  readonly #gate: Gate;
  /** Places of the reserve that deliveries of small keys hold. */
  #small = 0;
  /** Keys whose other deliveries hold places of it. */
  #holders = 0;
  // Enough to tell when somebody else asked than the key that asks now.
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
   * @param isEntitled - it is critical, or its sender never tries again.
   * @param memoryMs - for how long a key that asked counts as asking.
   */
  ask(key: string, isEntitled: boolean, nowMs: number, memoryMs: number): ReserveAnswer {
    const { size, keys } = this.#queue;
    const { high, low, effectiveCapacity } = this.#gate;
    const line = this.#queue.lineOf(key);
    const isFull = size >= effectiveCapacity;
    if (!isEntitled && !isSmall(line, keys, low)) return isFull ? 'full' : 'shedding';
    this.#remember(key, nowMs);
    if (isFull) return 'full';
    if (size < high) return 'open';

    // Half of a single place is that place.
    const half = Math.max(1, Math.floor((effectiveCapacity - high) / 2));
    // A place stays counted until its delivery leaves, also when the queue has fallen since: so many can only be
    // held while as many are taken.
    if (size - high < half) return 'open';
    if (!isEntitled && this.#small >= half) return 'shedding';
    const isAskedByOthers = nowMs - this.#otherAskedMs <= memoryMs;
    // Places stay counted when the queue falls, so ten keys with half each would leave nothing of the whole queue.
    const most = Math.min(half, Math.max(1, Math.floor(effectiveCapacity / (this.#holders + 1))));
    return isAskedByOthers && line !== undefined && line.reserved >= most ? 'full' : 'open';
  }

  /** Whether a delivery may use the reserve at all. Other than {@link ask}, it remembers nothing. */
  isOpenTo(key: string, isEntitled: boolean): boolean {
    return isEntitled || isSmall(this.#queue.lineOf(key), this.#queue.keys, this.#gate.low);
  }

  /** Counts the place of a delivery that {@link ask} let in and that has joined the queue. */
  take(item: T, isEntitled: boolean, units = 1): void {
    const { line } = item;
    if (this.#queue.size <= this.#gate.high || line === null) return;
    item.reserve = isEntitled ? 'entitled' : 'small';
    line.reserved += units;
    if (!isEntitled) {
      this.#small += units;
      return;
    }
    if (line.entitled === 0) this.#holders += 1;
    line.entitled += units;
  }

  /** Gives the place back, if it held one. To be called while the delivery is still in the queue. */
  give(item: T): void {
    if (item.reserve === 'none' || item.line === null) return;
    item.line.reserved -= 1;
    if (item.reserve === 'small') this.#small -= 1;
    else if (--item.line.entitled === 0) this.#holders -= 1;
    item.reserve = 'none';
  }

  /** Gives up to so many places of a line back, where nobody knows which deliveries hold them. */
  giveAny(line: ReserveLine, units: number): void {
    const given = Math.min(units, line.reserved);
    const small = Math.min(given, line.reserved - line.entitled);
    line.reserved -= given;
    this.#small -= small;
    if (given === small) return;
    line.entitled -= given - small;
    if (line.entitled === 0) this.#holders -= 1;
  }

  #remember(key: string, nowMs: number): void {
    if (key !== this.#lastAsker) {
      this.#otherAskedMs = this.#lastAskedMs;
      this.#lastAsker = key;
    }
    this.#lastAskedMs = nowMs;
  }
}

/**
 * Whether a key, with one more delivery waiting, stays below half of an equal share of the low-water mark. When all
 * keys do, they hold less than half of that mark together. Whoever invents keys one after another gets a little more
 * in, and can keep the gate closed for as long as a delivery may wait, but no longer.
 */
function isSmall(line: ReserveLine | undefined, keys: number, low: number): boolean {
  const waiting = (line?.size ?? 0) + 1;
  const keysWaiting = line === undefined ? keys + 1 : keys;
  return waiting < low / keysWaiting / 2;
}
