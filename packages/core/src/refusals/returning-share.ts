const BIN_MS = 10_000;
const BINS = 6;
/** Shedding that begins sooner after the last one is the same burst going on. */
const QUIET_MS = 60_000;
/** Over so many seconds returns are compared with the bookings that came due, … */
const RETURN_TAU_S = 30;
/** … so many at a time: in a single second chance is as large as a small rate of returns. */
const COMPARED_S = 5;
/** Fewer bookings than this say nothing about whether they are kept. */
const ENOUGH_DUE = 100;
/** Above this share of returns the rest is noise. */
const ALL_RETURN = 0.6;
const LEAST_SHARE = 0.25;

/**
 * What share of the drain returning deliveries can count on. A booked second cannot be called back, so it has to
 * be judged during the burst, from what was seen before it: what is left beside the fresh arrivals. Their rate is
 * a trimmed mean of six bins of 10 s, so that the onset of the burst does not count.
 */
export class Arrivals {
  /** Arrivals in the bin that is being filled, and in those before it, the latest first. */
  #filling = 0;
  readonly #filled: number[] = [];
  #bin = -1;
  #freshPerS: number | null = null;
  #shedMs = -Infinity;
  /** Since when it is the same burst. */
  #burstMs = Infinity;
  /** When a booking came due last. */
  #dueMs = -Infinity;
  /** Arrivals, and bookings that came due, since they were last compared. */
  #arrived = 0;
  #newlyDue = 0;
  #comparedMs = 0;
  // Returns, and bookings that came due, fading alike.
  #returned = 0;
  #due = 0;

  note(nowMs: number): void {
    const bin = Math.floor(nowMs / BIN_MS);
    if (bin !== this.#bin) this.#turnTo(bin);
    this.#filling += 1;
    this.#arrived += 1;
  }

  /**
   * Shedding begins, or goes on.
   *
   * @param isBooked - whether returns are still to come: then it is the same burst, and they are not fresh. Nor are
   * those that came in the last minute.
   */
  shed(nowMs: number, isBooked: boolean): void {
    if (!isBooked && nowMs - Math.max(this.#shedMs, this.#dueMs) >= QUIET_MS) {
      this.#turnTo(Math.floor(nowMs / BIN_MS));
      this.#freshPerS = freshRate(this.#filled);
      this.#burstMs = nowMs;
    }
    this.#shedMs = nowMs;
  }

  /** For how many seconds the burst has been going on. */
  burstS(nowMs: number): number {
    return Math.max(0, nowMs - this.#burstMs) / 1000;
  }

  /** The share of the drain rate μ for returns: 1 − fresh ÷ μ, from 0.25 to 1; 1 without history. */
  shareOfReturns(drainRate: number): number {
    return Math.min(1, Math.max(LEAST_SHARE, 1 - (this.#freshPerS ?? 0) / drainRate));
  }

  /** Notes that so many bookings came due since the last time. */
  noteDue(nowMs: number, count: number): void {
    this.#newlyDue += count;
    if (count > 0) this.#dueMs = nowMs;
    const seconds = (nowMs - this.#comparedMs) / 1000;
    if (seconds < COMPARED_S) return;
    const came = this.#arrived - (this.#freshPerS ?? 0) * seconds;
    const kept = Math.exp(-seconds / RETURN_TAU_S);
    this.#due = this.#due * kept + this.#newlyDue;
    // More than came due are others. A flood would make up for all those who do not come for a minute after it.
    this.#returned = this.#returned * kept + Math.min(this.#newlyDue, Math.max(0, came));
    this.#arrived = this.#newlyDue = 0;
    this.#comparedMs = nowMs;
  }

  /**
   * Of the bookings that came due lately, the share that came back: 0.25 to 1. Load tests never come back, nor do
   * senders that ignore Retry-After, and time kept free for them is lost to the others.
   */
  shareKept(): number {
    if (this.#due < ENOUGH_DUE) return 1;
    const share = this.#returned / this.#due;
    return share >= ALL_RETURN ? 1 : Math.max(LEAST_SHARE, share);
  }

  #turnTo(bin: number): void {
    if (bin === this.#bin) return;
    if (this.#bin >= 0) {
      this.#filled.unshift(this.#filling);
      const empty = Math.min(BINS, bin - this.#bin - 1);
      for (let i = 0; i < empty; i += 1) this.#filled.unshift(0);
      this.#filled.length = Math.min(BINS, this.#filled.length);
    }
    this.#bin = bin;
    this.#filling = 0;
  }
}

/**
 * Fresh arrivals per second, from counts of 10 s, and one standard deviation more, since what is booked too densely
 * is refused a second time. The largest and the smallest count are left out: one may hold the onset of the burst.
 */
function freshRate(counts: readonly number[]): number | null {
  if (counts.length === 0) return null;
  const sorted = counts.toSorted((a, b) => a - b);
  const middle = sorted.length > 2 ? sorted.slice(1, -1) : sorted;
  let sum = 0;
  for (const count of middle) sum += count;
  const perBin = sum / middle.length;
  return (perBin + Math.sqrt(perBin / counts.length)) / (BIN_MS / 1000);
}
