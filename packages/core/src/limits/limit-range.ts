/** Latency alone lowers the limit to this share of the last sound one, and no further. */
const FLOOR_SHARE = 0.4;

/** The range of an adaptive `concurrency`. */
export interface ConcurrencyRange {
  /** The limit at the start. Integer, from `min` to `max`. */
  readonly initial: number;
  /** The lowest limit. Integer ≥ 1. */
  readonly min: number;
  /** The highest limit. Integer ≥ `initial`. */
  readonly max: number;
}

/** A limit within its bounds, and the last one that proved sound. */
export class LimitRange {
  limit: number;
  /** The last limit in use under which the latency was about the baseline. Below it, growth is quick. */
  sound: number;
  /** The lowest limit that latency alone can set. */
  floor = 0;
  max: number;
  #min: number;

  constructor({ initial, min, max }: ConcurrencyRange) {
    this.limit = this.sound = initial;
    this.#min = min;
    this.max = max;
  }

  /** Takes new bounds, and moves `limit` between them. */
  retune({ min, max }: ConcurrencyRange, limit: number = this.limit): void {
    this.#min = min;
    this.max = max;
    this.limit = this.clamp(limit);
    this.sound = this.clamp(this.sound);
  }

  /** Returns whether the limit changed. */
  moveTo(limit: number): boolean {
    const before = this.limit;
    this.limit = this.clamp(limit);
    return this.limit !== before;
  }

  setSound(): void {
    this.sound = this.limit;
    this.floor = Math.ceil(FLOOR_SHARE * this.limit);
  }

  clamp(limit: number): number {
    return Math.min(this.max, Math.max(this.#min, limit));
  }
}
