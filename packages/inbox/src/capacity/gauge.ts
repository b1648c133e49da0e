import { Gate, Reserve, type ReserveAnswer } from '@webhook-backpressure/core/extend';

/** How long a key counts as asking for the reserve. */
const ASKING_MS = 60_000;

/** What one key uses of a measure. */
export class KeyUsage {
  size = 0;
}

/** How full the inbox is by one measure, deliveries or bytes: the gate with its marks, and the reserve above them. */
export class Gauge {
  readonly gate: Gate = new Gate();
  /** The amount that is stored and unfinished. */
  stored = 0;
  /** The amount that is being stored. */
  incoming = 0;
  readonly #usages: { readonly size: number; of(key: string): KeyUsage | undefined };
  readonly #reserve: Reserve = new Reserve(this, this.gate);

  /** @param usages - the usage of every key. */
  constructor(usages: { readonly size: number; of(key: string): KeyUsage | undefined }) {
    this.#usages = usages;
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
  ask(key: string, isEntitled: boolean, nowMs: number, isKeeping: boolean, isNear: boolean): ReserveAnswer {
    if (!this.gate.shedding) return 'open';
    return this.#reserve.ask(key, isEntitled, nowMs, ASKING_MS, isKeeping, isNear);
  }

  /** A delivery is being stored. */
  begin(line: KeyUsage, units: number): void {
    this.incoming += units;
    line.size += units;
  }

  /** A delivery of a key is finished, or was not stored. */
  leave(line: KeyUsage, units: number): void {
    line.size = Math.max(0, line.size - units);
  }
}
