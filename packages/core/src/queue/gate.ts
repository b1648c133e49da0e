// Lets 0.55 × 100 be 55, and not 55.00000000000001, when it is rounded up.
const ROUNDING = 1e-9;

/**
 * The gate with hysteresis: it closes when the queue reaches the high-water mark and opens again when the queue
 * has fallen to the low-water mark, so that it does not flap between single deliveries. It judges deliveries
 * that wait, never those that are being handled.
 */
export class Gate {
  shedding = false;
  /** Deliveries; the upper end of the reserve. Nothing is admitted at or above it. */
  effectiveCapacity = 0;
  /** Deliveries; at this depth the gate closes. */
  high = 0;
  /** Deliveries; at this depth it opens again. */
  low = 0;

  /**
   * Places the marks for a queue of `effectiveCapacity`. Marks that move past the depth take effect at the next
   * {@link judge}: moving them decides nothing by itself.
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

  /** Whether it sheds, once it has judged this depth. */
  wouldShed(depth: number): boolean {
    return this.shedding ? depth > this.low : depth >= this.high;
  }

  /** Opens or closes for `depth` waiting deliveries. Returns true when that changed something. */
  judge(depth: number): boolean {
    const sheds = this.wouldShed(depth);
    if (sheds === this.shedding) return false;
    this.shedding = sheds;
    return true;
  }
}

/**
 * How many deliveries may wait so that the last of them still starts in time: longest wait × drain rate, the
 * mission's sizing formula, applied all the time. Never below 2, so that there are two marks, unless the
 * capacity itself is; the capacity while the drain rate is unknown.
 */
export function effectiveCapacity(capacity: number, maxWaitMs: number, drainRate: number | null): number {
  if (drainRate === null) return capacity;
  return Math.min(capacity, Math.max(2, Math.floor((maxWaitMs / 1000) * drainRate + ROUNDING)));
}
