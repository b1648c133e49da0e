import type { Favor } from '../delivery/favor.ts';
import type { Gate } from './gate.ts';

/** The answer to a delivery that arrives while the gate is closed: admitted, or the reason why not. */
export type ReserveAnswer = 'open' | 'shedding' | 'full';

/** Whether a queued delivery holds a place of the reserve, and on which ground. */
export type ReservePlace = 'none' | 'entitled' | 'small';

/** The queued deliveries of one key. */
export interface ReserveLine {
  readonly size: number;
  /** How many of them hold places of the reserve. */
  reserved: number;
  /** And how many of these because they are entitled to it. */
  entitled: number;
}

/** A queue in the unit of the gate, deliveries or bytes. The queue of an intake is one. */
export interface ReserveQueue {
  readonly size: number;
  readonly keys: number;
  lineOf(key: string): ReserveLine | undefined;
}

/** The most places of the reserve that are kept. */
const MOST_KEPT = 64;
/** The part of the reserve that one key with authentic deliveries may have while another key asks. */
const AUTHENTIC_PART = 0.8;
/** So that 0.8 × 15 = 12.000000000000002 is not the reason for a place more or less. */
const ROUNDING = 1e-9;

interface Reserving {
  readonly line: ReserveLine | null;
  reserve: ReservePlace;
}

/**
 * The reserve: the band from the high-water mark up to the effective capacity. While the gate is closed it is kept for
 * deliveries that are critical, are never retried, or arrive on their booked second, and up to half of it for keys that
 * hold so little that they are not part of the burst. Headers can be forged, so no key gets more than half of the
 * reserve while another key asks for it, or eight tenths if its deliveries are authentic, and no key with such deliveries
 * more than an equal share of the queue.
 */
export class Reserve<T extends Reserving> {
  readonly #queue: ReserveQueue;
  readonly #gate: Gate;
  /** Places of the reserve that are held by deliveries of small keys. */
  #small = 0;
  /** Keys whose entitled deliveries hold places of it. */
  #holders = 0;
  // Enough to know when another key than the present one last asked.
  #lastAsker: string | undefined;
  #lastAskedMs = -Infinity;
  #otherAskedMs = -Infinity;
  readonly #isKeeping: () => boolean;
  readonly #mostKept: number;

  /** @param isKeeping - whether the last places are kept for deliveries that must not be refused; see {@link kept}. */
  constructor(
    queue: ReserveQueue,
    gate: Gate,
    isKeeping: () => boolean = () => false,
    mostKept: number = MOST_KEPT,
  ) {
    this.#mostKept = mostKept;
    this.#queue = queue;
    this.#gate = gate;
    this.#isKeeping = isKeeping;
  }

  /** The last places of the reserve that entitled deliveries and small keys leave free: a quarter of it, at most 64. */
  get kept(): number {
    const { high, effectiveCapacity } = this.#gate;
    return this.#isKeeping() ? Math.min(this.#mostKept, Math.floor((effectiveCapacity - high) / 4)) : 0;
  }

  /**
   * Decides for a delivery of `key` while the gate is closed.
   *
   * @param isEntitled - it is critical, on time, or never retried.
   * @param memoryMs - how long a key that asked is taken to be asking.
   * @param favor - `authentic`: it is not forged, so its key may have more than half while others ask.
   */
  ask(
    key: string,
    isEntitled: boolean,
    nowMs: number,
    memoryMs: number,
    favor: Favor = 'none',
  ): ReserveAnswer {
    const { size, keys } = this.#queue;
    const { high, low, effectiveCapacity } = this.#gate;
    const line = this.#queue.lineOf(key);
    const isFull = size >= effectiveCapacity - this.kept;
    if (!isEntitled && !isSmall(line, keys, low)) return isFull ? 'full' : 'shedding';
    this.#remember(key, nowMs);
    if (isFull) return 'full';
    if (size < high) return 'open';

    // Half of a single place is that place.
    const half = Math.max(1, Math.floor((effectiveCapacity - high) / 2));
    // A place is held until its delivery leaves, even if the queue has become shorter: so no more places are held than
    // are in use.
    if (size - high < half) return 'open';
    if (!isEntitled && this.#small >= half) return 'shedding';
    const isAskedByOthers = nowMs - this.#otherAskedMs <= memoryMs;
    // Places are held while the queue becomes shorter, so ten keys with half each would hold all of the queue.
    const part =
      favor === 'authentic' ? Math.floor((effectiveCapacity - high) * AUTHENTIC_PART + ROUNDING) : half;
    const most = Math.min(
      Math.max(half, part),
      Math.max(1, Math.floor(effectiveCapacity / (this.#holders + 1))),
    );
    return isAskedByOthers && line !== undefined && line.reserved >= most ? 'full' : 'open';
  }

  /**
   * Whether there is a place for a delivery that must not be refused: as for an entitled one, or one of the kept places.
   * While another key asks, these are for keys that hold less than half of the reserve: otherwise a burst of such
   * deliveries would use the places of others.
   */
  keeps(key: string, nowMs: number, memoryMs: number): boolean {
    if (this.ask(key, true, nowMs, memoryMs) === 'open') return true;
    const { size } = this.#queue;
    const { high, effectiveCapacity } = this.#gate;
    if (size >= effectiveCapacity) return false;
    if (nowMs - this.#otherAskedMs > memoryMs) return true;
    return (this.#queue.lineOf(key)?.reserved ?? 0) < Math.floor((effectiveCapacity - high) / 2);
  }

  /** Whether a delivery may use the reserve at all. Unlike {@link ask}, it remembers nothing. */
  isOpenTo(key: string, isEntitled: boolean): boolean {
    return isEntitled || isSmall(this.#queue.lineOf(key), this.#queue.keys, this.#gate.low);
  }

  /** Takes a place for a delivery that {@link ask} admitted and that has joined the queue. */
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

  /** Returns the place of a delivery, if it holds one. The delivery must still be in the queue. */
  give(item: T): void {
    if (item.reserve === 'none' || item.line === null) return;
    item.line.reserved -= 1;
    if (item.reserve === 'small') this.#small -= 1;
    else if (--item.line.entitled === 0) this.#holders -= 1;
    item.reserve = 'none';
  }

  /** Returns up to `units` places of a line, where it is not known which deliveries hold them. */
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
 * Whether a key stays below half of an equal share of the low-water mark with one more delivery. If all keys do, they
 * hold less than half of that mark together. A sender that invents keys gets slightly more deliveries admitted, and can
 * keep the gate closed for at most the longest wait.
 */
function isSmall(line: ReserveLine | undefined, keys: number, low: number): boolean {
  const waiting = (line?.size ?? 0) + 1;
  const keysWaiting = line === undefined ? keys + 1 : keys;
  return waiting < low / keysWaiting / 2;
}
