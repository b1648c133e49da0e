const BIN_MS = 10_000;
const BINS = 6;
/** If shedding begins again within this time, it is still the same burst. */
const QUIET_MS = 60_000;
/** Shedding this long ago is still reported to other receivers: a beat may be missed. */
const RECENT_MS = 5000;
/** The time constant of the comparison between retries and the bookings that came due … */
const RETURN_TAU_S = 30;
/** … and its step: within a single second, noise is as large as a low rate of retries. */
const COMPARED_S = 5;
/** Fewer due bookings than this say nothing about how many are kept. */
const ENOUGH_DUE = 100;
/** Above this share of kept bookings, the rest is noise. */
const ALL_RETURN = 0.6;
const LEAST_SHARE = 0.25;

/**
 * The share of the drain rate that is left for retries: what first attempts do not use. A booking cannot be revoked, so
 * the share must be known during the burst, from the rate of first attempts before it: a trimmed mean of six bins of
 * 10 s, which leaves out the onset of the burst.
 */
export class ReturningShare {
  /** Arrivals in the current bin, and in the previous bins, latest first. */
  #filling = 0;
  readonly #filled: number[] = [];
  #bin = -1;
  /** A bin with more arrivals is not kept. */
  #mostPerBin = Infinity;
  #freshPerS: number | null = null;
  #shedMs = -Infinity;
  #ownShedMs = -Infinity;
  /** When the current burst began. */
  #burstMs = Infinity;
  /** When a booking last came due. */
  #dueMs = -Infinity;
  /** Arrivals and due bookings since the last comparison. */
  #arrived = 0;
  #newlyDue = 0;
  /** Deliveries that have arrived here, and bookings that came due, in all. */
  arrivedEver = 0;
  dueEver = 0;
  /** First attempts per second at the other receivers of a fleet. */
  #othersFreshPerS = 0;
  #comparedMs = 0;
  // Retries and due bookings, with the same decay.
  #returned = 0;
  #due = 0;

  /**
   * Notes an arrival.
   *
   * @param mostPerS - more arrivals per second than this are a burst, and not the usual traffic. A large queue takes minutes
   * to fill: by then every bin holds the burst.
   */
  noteArrival(nowMs: number, mostPerS?: number): void {
    this.#mostPerBin = ((mostPerS ?? Infinity) * BIN_MS) / 1000;
    const bin = Math.floor(nowMs / BIN_MS);
    if (bin !== this.#bin) this.#turnTo(bin);
    this.#filling += 1;
    this.#arrived += 1;
    this.arrivedEver += 1;
  }

  /**
   * Notes that shedding begins or continues.
   *
   * @param isBooked - whether bookings are still ahead: then this is the same burst, as it is within a minute of the
   * last due booking, and arrivals may be retries.
   */
  shed(nowMs: number, isBooked: boolean): void {
    this.#ownShedMs = nowMs;
    this.shedAnywhere(nowMs, isBooked);
  }

  /** The same, when another receiver of the fleet sheds. */
  shedAnywhere(nowMs: number, isBooked: boolean): void {
    if (!isBooked && nowMs - Math.max(this.#shedMs, this.#dueMs) >= QUIET_MS) {
      this.#turnTo(Math.floor(nowMs / BIN_MS));
      this.#freshPerS = freshRate(this.#filled);
      this.#burstMs = nowMs;
    }
    this.#shedMs = nowMs;
  }

  /** Whether deliveries were shed here in the last seconds. */
  isShedding(nowMs: number): boolean {
    return nowMs - this.#ownShedMs < RECENT_MS;
  }

  /** The age of the burst, in seconds. */
  burstS(nowMs: number): number {
    return Math.max(0, nowMs - this.#burstMs) / 1000;
  }

  /** The share of the drain rate for retries: 1 − first attempts ÷ drain rate, from 0.25 to 1; 1 without history. */
  shareForRetries(drainRate: number): number {
    return Math.min(1, Math.max(LEAST_SHARE, 1 - (this.#freshPerS ?? 0) / drainRate));
  }

  /** First attempts per second before the burst; 0 while unknown. */
  get freshPerS(): number {
    return this.#freshPerS ?? 0;
  }

  /** Notes what has arrived and come due at the other receivers of a fleet: a retry may reach any of them. */
  noteOthers(arrived: number, due: number, freshPerS: number): void {
    this.#arrived += arrived;
    this.#newlyDue += due;
    this.#othersFreshPerS = freshPerS;
  }

  /** Notes how many bookings came due since the last call. */
  noteDue(nowMs: number, count: number): void {
    this.#newlyDue += count;
    this.dueEver += count;
    if (count > 0) this.#dueMs = nowMs;
    const seconds = (nowMs - this.#comparedMs) / 1000;
    if (seconds < COMPARED_S) return;
    const came = this.#arrived - ((this.#freshPerS ?? 0) + this.#othersFreshPerS) * seconds;
    const kept = Math.exp(-seconds / RETURN_TAU_S);
    this.#due = this.#due * kept + this.#newlyDue;
    // Arrivals beyond the due bookings are not retries: otherwise a flood would hide missing retries for a minute.
    this.#returned = this.#returned * kept + Math.min(this.#newlyDue, Math.max(0, came));
    this.#arrived = this.#newlyDue = 0;
    this.#comparedMs = nowMs;
  }

  /**
   * The share of recently due bookings that were kept, 0.25 to 1. Load tests never retry, and some senders ignore
   * Retry-After; capacity kept free for them is lost to all others.
   */
  shareKept(): number {
    if (this.#due < ENOUGH_DUE) return 1;
    const share = this.#returned / this.#due;
    return share >= ALL_RETURN ? 1 : Math.max(LEAST_SHARE, share);
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
 * First attempts per second from counts of 10 s, plus one standard deviation, since retries booked too densely are
 * refused again. The largest and the smallest count are left out: one may contain the onset of the burst.
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
