// So that 0.55 × 100 = 55.00000000000001 is rounded up to 55.
const ROUNDING = 1e-9;

/**
 * The gate with hysteresis: it closes when the queue reaches the high-water mark and opens when the queue is back at the
 * low-water mark, so that it does not flap between single deliveries. Only queued deliveries matter to it.
 */
export class Gate {
  shedding = false;
  /** The upper end of the reserve, in deliveries. None is admitted at or above it. */
  effectiveCapacity = 0;
  /** The depth at which the gate closes, in deliveries. */
  high = 0;
  /** The depth at which it opens again, in deliveries. */
  low = 0;

  /**
   * Moves the marks to a queue of `effectiveCapacity`. Marks that pass the depth take effect at the next {@link judge}.
   */
  resize(effectiveCapacity: number, highWaterMark: number, lowWaterMark: number): void {
    if (
      effectiveCapacity === this.effectiveCapacity &&
      highWaterMark === this.#highWaterMark &&
      lowWaterMark === this.#lowWaterMark
    )
      return;
    this.effectiveCapacity = effectiveCapacity;
    this.#highWaterMark = highWaterMark;
    this.#lowWaterMark = lowWaterMark;
    this.high = Math.max(1, Math.ceil(highWaterMark * effectiveCapacity - ROUNDING));
    this.low = Math.min(this.high - 1, Math.floor(lowWaterMark * effectiveCapacity + ROUNDING));
  }

  #highWaterMark = 0;
  #lowWaterMark = 0;

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
