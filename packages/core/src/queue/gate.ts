// So that 0.55 × 100 = 55.00000000000001 is rounded up to 55.
const ROUNDING = 1e-9;

/** The most work between the marks, in seconds. */
const SPAN_S = 10;

/** The options that the marks of a gate of deliveries depend on. */
export interface MarkSettings {
  readonly capacity: number;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  readonly maxWaitMs: number;
}

/** Where the marks of a gate are. */
export interface Marks {
  readonly effectiveCapacity: number;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  /** How far the marks may be apart, at least 1, see {@link longestSpan}. */
  readonly span: number;
}

/**
 * The gate with hysteresis: it closes when the queue reaches the high-water mark and opens when the queue is back at the
 * low-water mark, so that it does not flap between single deliveries. Only queued deliveries matter to it.
 */
export class Gate {
  shedding = false;
  /** The upper end of the reserve, in deliveries. Above it, only refusals that are deferred are queued. */
  effectiveCapacity = 0;
  /** The depth at which the gate closes, in deliveries. */
  high = 0;
  /** The depth at which it opens again, in deliveries: `lowest`, or higher where that is too far from `high`. */
  low = 0;
  /** The low-water mark of the options, in deliveries. */
  lowest = 0;
  #highWaterMark = 0;
  #lowWaterMark = 0;
  #span = 0;

  /** Moves the marks to where the drain rate puts them. */
  follow({ capacity, maxWaitMs, highWaterMark, lowWaterMark }: MarkSettings, drainRate: number | null): void {
    this.resize({
      effectiveCapacity: effectiveCapacity(capacity, maxWaitMs, drainRate),
      highWaterMark,
      lowWaterMark,
      span: longestSpan(drainRate),
    });
  }

  /** Moves the marks. Those that pass the depth take effect at the next {@link judge}. */
  resize({ effectiveCapacity, highWaterMark, lowWaterMark, span }: Marks): void {
    if (
      effectiveCapacity === this.effectiveCapacity &&
      highWaterMark === this.#highWaterMark &&
      lowWaterMark === this.#lowWaterMark &&
      span === this.#span
    )
      return;
    this.effectiveCapacity = effectiveCapacity;
    this.#highWaterMark = highWaterMark;
    this.#lowWaterMark = lowWaterMark;
    this.#span = span;
    this.high = Math.max(1, Math.ceil(highWaterMark * effectiveCapacity - ROUNDING));
    this.lowest = Math.min(this.high - 1, Math.floor(lowWaterMark * effectiveCapacity + ROUNDING));
    this.low = Math.max(this.lowest, Math.ceil(this.high - span));
  }

  /** Whether {@link judge} would shed at this depth. */
  wouldShed(depth: number): boolean {
    return this.shedding ? depth > this.low : depth >= this.high;
  }

  /** Opens or closes at `depth` queued deliveries. Returns whether that changed anything. */
  judge(depth: number): boolean {
    const sheds = this.wouldShed(depth);
    if (sheds === this.shedding) return false;
    this.shedding = sheds;
    return true;
  }
}

/**
 * How many deliveries may be queued so that the last one still starts in time: longest wait × drain rate, and at most
 * the capacity. At least 2, if the capacity allows, so that there are two marks. The capacity while the drain rate is
 * unknown.
 */
export function effectiveCapacity(capacity: number, maxWaitMs: number, drainRate: number | null): number {
  if (drainRate === null) return capacity;
  return Math.min(capacity, Math.max(2, Math.floor((maxWaitMs / 1000) * drainRate + ROUNDING)));
}

/**
 * How far the marks of a gate may be apart, in deliveries or bytes: 10 s of work, and at least one delivery. While a gate
 * is closed, its senders fail continuously. From 80 to 50 % of an inbox of 100,000 deliveries, at 100 per second, that
 * would be five minutes, after which many senders disable the endpoint. Infinity while the drain rate is unknown.
 *
 * @param drainRate - deliveries per second, or null.
 * @param unit - the size of a delivery in the unit of the gate.
 */
export function longestSpan(drainRate: number | null, unit = 1): number {
  return drainRate === null ? Infinity : Math.max(1, SPAN_S * drainRate) * unit;
}
