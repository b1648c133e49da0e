const BIN_S = 10;
const BINS = 6;
/** If shedding begins again within this time, it is still the same burst. */
const QUIET_MS = 60_000;
/** Shedding this long ago is still reported to the other receivers of a fleet: a beat may be missed. */
const RECENT_MS = 5000;
const MIN_SHARE = 0.25;

/**
 * The rate of first attempts, and with it the share of the drain rate that is left for retries. During a burst, arrivals
 * may be retries. So the rate is that of the six bins of 10 s before the burst, without the largest, which may contain
 * the onset of the burst, and the smallest. A burst ends when nothing has been shed for a minute and no retry is booked.
 */
export class FirstAttempts {
  /** Per second, as measured before the last burst; 0 before the first one. */
  perSecond = 0;
  /** Arrivals in the present bin and in the bins before, latest first. */
  #filling = 0;
  readonly #filled: number[] = [];
  #bin = -1;
  #mostPerBin = Infinity;
  #shedMs = -Infinity;
  /** When the present burst began. */
  #burstMs = Infinity;
  #ownShedMs = -Infinity;

  /**
   * Notes an arrival.
   *
   * @param mostPerS - more arrivals per second than this are a burst: a large queue takes minutes to fill, and by then
   * every bin contains the burst.
   */
  note(nowMs: number, mostPerS?: number): void {
    this.#mostPerBin = (mostPerS ?? Infinity) * BIN_S;
    this.#turnTo(Math.floor(nowMs / 1000 / BIN_S));
    this.#filling += 1;
  }

  /**
   * Notes that shedding begins or continues.
   *
   * @param isBooked - whether retries are ahead: then this is the same burst.
   * @param isOwn - whether it is this receiver that sheds, and not another one of its fleet.
   */
  shed(nowMs: number, isBooked: boolean, isOwn = true): void {
    if (isOwn) this.#ownShedMs = nowMs;
    if (!isBooked && nowMs - this.#shedMs >= QUIET_MS) {
      this.#turnTo(Math.floor(nowMs / 1000 / BIN_S));
      this.perSecond = rateOf(this.#filled);
      this.#burstMs = nowMs;
    }
    this.#shedMs = nowMs;
  }

  /** Whether this receiver has shed deliveries in the last seconds. */
  isShedding(nowMs: number): boolean {
    return nowMs - this.#ownShedMs < RECENT_MS;
  }

  /** The age of the burst, in seconds. */
  burstS(nowMs: number): number {
    return Math.max(0, nowMs - this.#burstMs) / 1000;
  }

  /** The share of the drain rate for retries: 1 − first attempts ÷ drain rate, from 0.25 to 1. */
  shareForRetries(drainRate: number): number {
    return Math.min(1, Math.max(MIN_SHARE, 1 - this.perSecond / drainRate));
  }

  #turnTo(bin: number): void {
    if (bin === this.#bin) return;
    if (this.#bin >= 0) {
      if (this.#filling <= this.#mostPerBin) this.#filled.unshift(this.#filling);
      const empty = Math.min(BINS, bin - this.#bin - 1);
      for (let i = 0; i < empty; i += 1) this.#filled.unshift(0);
      this.#filled.length = Math.min(BINS, this.#filled.length);
    }
    this.#bin = bin;
    this.#filling = 0;
  }
}

/**
 * The rate of counts of 10 s without the largest and the smallest, plus one standard error: retries that are booked too
 * densely are refused again.
 */
function rateOf(counts: readonly number[]): number {
  if (counts.length === 0) return 0;
  const sorted = counts.toSorted((a, b) => a - b);
  const middle = sorted.length > 2 ? sorted.slice(1, -1) : sorted;
  const mean = middle.reduce((sum, count) => sum + count, 0) / middle.length;
  return (mean + Math.sqrt(mean / counts.length)) / BIN_S;
}
