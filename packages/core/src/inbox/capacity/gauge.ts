import type { Favor } from '../../delivery/favor.ts';
import { Gate } from '../../queue/gate.ts';
import { Reserve, type ReserveAnswer, type ReserveLine, type ReservePlace } from '../../queue/reserve.ts';

/** How long a key counts as asking for the reserve. */
const ASKING_MS = 60_000;

/** What one key uses of a measure. */
export class KeyUsage implements ReserveLine {
  size = 0;
  reserved = 0;
  entitled = 0;
}

interface Place {
  readonly line: KeyUsage;
  reserve: ReservePlace;
}

/**
 * How full the inbox is by one measure, deliveries or bytes: the gate with its marks, and the reserve above the high-water
 * mark with the part of it that each key uses.
 */
export class Gauge {
  readonly gate: Gate = new Gate();
  /** The amount that is stored and unfinished. */
  stored = 0;
  /** The amount that is being stored. */
  incoming = 0;
  readonly #usages: { readonly size: number; of(key: string): KeyUsage | undefined };
  readonly #reserve: Reserve<Place>;

  /**
   * @param usages - the usage of every key.
   * @param isKeeping - whether the reserve keeps places for deliveries that must not be refused.
   * @param mostKept - how many.
   */
  constructor(
    usages: { readonly size: number; of(key: string): KeyUsage | undefined },
    isKeeping: () => boolean,
    mostKept?: number,
  ) {
    this.#usages = usages;
    this.#reserve = new Reserve<Place>(this, this.gate, isKeeping, mostKept);
  }

  get size(): number {
    return this.stored + this.incoming;
  }

  get keys(): number {
    return this.#usages.size;
  }

  get isFull(): boolean {
    return this.size >= this.gate.effectiveCapacity;
  }

  /** How much may be added below a mark: `high` keeps the gate open, `low` leaves room for new deliveries. */
  room(mark: 'low' | 'high'): number {
    const { lowest, high } = this.gate;
    // Even if there is no room below the mark, one delivery at a time is allowed.
    const most = mark === 'low' ? lowest : high - 1;
    return this.size === 0 ? Math.max(1, most) : most - this.size;
  }

  lineOf(key: string): KeyUsage | undefined {
    return this.#usages.of(key);
  }

  /** Whether a delivery of this key could be accepted, by the gate or into the reserve. */
  isOpenTo(key: string, isEntitled: boolean): boolean {
    return !this.gate.shedding || this.#reserve.isOpenTo(key, isEntitled);
  }

  /** Whether a delivery of this key is accepted. The key counts as asking for the reserve. */
  ask(key: string, isEntitled: boolean, nowMs: number, favor?: Favor): ReserveAnswer {
    return this.gate.shedding ? this.#reserve.ask(key, isEntitled, nowMs, ASKING_MS, favor) : 'open';
  }

  /** Whether a delivery of this key that must not be refused is accepted. See `Reserve.keeps`. */
  keeps(key: string, nowMs: number): boolean {
    return !this.gate.shedding || this.#reserve.keeps(key, nowMs, ASKING_MS);
  }

  /** A delivery is being stored. Returns whether it uses the reserve. */
  begin(line: KeyUsage, units: number, isEntitled: boolean): boolean {
    this.incoming += units;
    line.size += units;
    if (!this.gate.shedding) return false;
    const place: Place = { line, reserve: 'none' };
    this.#reserve.take(place, isEntitled, units);
    return place.reserve !== 'none';
  }

  /** The delivery was not stored. */
  undo(line: KeyUsage, units: number, isReserved: boolean): void {
    if (isReserved) this.#reserve.giveAny(line, units);
    this.leave(line, units);
  }

  /**
   * A delivery of a key is finished. Whether it used the reserve is not recorded, but the deliveries of a key finish in
   * the order of arrival, so those in the reserve finish last.
   */
  leave(line: KeyUsage, units: number): void {
    line.size = Math.max(0, line.size - units);
    this.#reserve.giveAny(line, Math.max(0, line.reserved - line.size));
  }

  /** Opens or closes the gate. Returns whether it has opened: then the reserve is unused. */
  judge(): boolean {
    return this.gate.judge(this.size) && !this.gate.shedding;
  }

  /** Releases the reserve that a key uses. */
  empty(line: KeyUsage): void {
    this.#reserve.giveAny(line, line.reserved);
  }
}
