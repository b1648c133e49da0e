import { Gate } from '../../queue/gate.ts';
import { Reserve, type ReserveAnswer, type ReserveLine, type ReservePlace } from '../../queue/reserve.ts';

/** A key that asked for the reserve counts as asking for so long. */
const ASKING_MS = 60_000;

/** What a key has by one measure. */
export class Holding implements ReserveLine {
  size = 0;
  reserved = 0;
  entitled = 0;
}

interface Place {
  readonly line: Holding;
  reserve: ReservePlace;
}

/** How full the inbox is by one measure, deliveries or bytes: its marks, and who holds what of its reserve. */
export class Measure {
  readonly gate: Gate = new Gate();
  /** Stored and unfinished. */
  stored = 0;
  /** On its way into the store. */
  coming = 0;
  readonly #holdings: { readonly size: number; of(key: string): Holding | undefined };
  readonly #reserve: Reserve<Place>;

  /** @param holdings - of all keys that have anything. */
  constructor(holdings: { readonly size: number; of(key: string): Holding | undefined }) {
    this.#holdings = holdings;
    this.#reserve = new Reserve<Place>(this, this.gate);
  }

  get size(): number {
    return this.stored + this.coming;
  }

  get keys(): number {
    return this.#holdings.size;
  }

  get isFull(): boolean {
    return this.size >= this.gate.effectiveCapacity;
  }

  /** How much more there may be without the gate closing, or, with `low`, with room left for what arrives. */
  room(mark: 'low' | 'high'): number {
    const { low, high } = this.gate;
    // A gate may have no room below its mark at all; then one delivery at a time.
    const most = mark === 'low' ? low : high - 1;
    return this.size === 0 ? Math.max(1, most) : most - this.size;
  }

  lineOf(key: string): Holding | undefined {
    return this.#holdings.of(key);
  }

  /** Whether a delivery of this key could be let in, by the gate or into the reserve. */
  isOpenTo(key: string, isEntitled: boolean): boolean {
    return !this.gate.shedding || this.#reserve.isOpenTo(key, isEntitled);
  }

  /** Whether it is. The key counts as one that asked. */
  ask(key: string, isEntitled: boolean, nowMs: number): ReserveAnswer {
    return this.gate.shedding ? this.#reserve.ask(key, isEntitled, nowMs, ASKING_MS) : 'open';
  }

  /** Something is being put. Whether it holds a place of the reserve. */
  begin(line: Holding, units: number, isEntitled: boolean): boolean {
    this.coming += units;
    line.size += units;
    if (!this.gate.shedding) return false;
    const place: Place = { line, reserve: 'none' };
    this.#reserve.take(place, isEntitled, units);
    return place.reserve !== 'none';
  }

  /** It has not been put. */
  undo(line: Holding, units: number, isReserved: boolean): void {
    if (isReserved) this.#reserve.giveAny(line, units);
    this.leave(line, units);
  }

  /**
   * Something of a key has left. Nobody knows whether that held a place of the reserve, but within a key deliveries
   * leave in the order in which they came, so those in the reserve leave last.
   */
  leave(line: Holding, units: number): void {
    line.size = Math.max(0, line.size - units);
    this.#reserve.giveAny(line, Math.max(0, line.reserved - line.size));
  }

  /** Opens or closes the gate. Whether it has opened: then nothing is left in the reserve. */
  judge(): boolean {
    return this.gate.judge(this.size) && !this.gate.shedding;
  }

  /** Gives all places of a key back. */
  empty(line: Holding): void {
    this.#reserve.giveAny(line, line.reserved);
  }
}
