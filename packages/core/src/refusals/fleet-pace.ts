/** The time constant of the rates of bookings: two beats. */
const TAU_S = 4;
/** The same, of the bookings since the last beat. */
const NOW_TAU_S = 1;
/** A rate of bookings in all that says nothing about the shares, per second. */
const FEW = 1;
/** After this time without a beat, the part of this receiver is not known any more. */
export const STALE_MS = 5000;

/**
 * How fast this receiver may book: its share of the fleet's rate, by its part of the recent bookings. Those of others are
 * known a beat later, and each beat corrects what was booked with a wrong share.
 */
export class FleetPace {
  members = 1;
  /** Retries per second that the other members can handle. */
  othersRate = 0;
  /** Bookings per second, own and in all, and those in all between the last two beats. */
  #own = 0;
  #all = 0;
  #latest = 0;
  #newlyBooked = 0;
  #learnedMs = -Infinity;

  noteBooking(): void {
    this.#newlyBooked += 1;
  }

  isStale(nowMs: number): boolean {
    return nowMs - this.#learnedMs > STALE_MS;
  }

  /** @param booked - new bookings of all other members. */
  learn(booked: number, nowMs: number): void {
    const seconds = Math.max(0.1, (nowMs - this.#learnedMs) / 1000);
    const kept = Math.exp(-seconds / TAU_S);
    const own = seconds === Infinity ? 0 : this.#newlyBooked / seconds;
    this.#latest = seconds === Infinity ? 0 : own + booked / seconds;
    this.#own = this.#own * kept + own * (1 - kept);
    this.#all = this.#all * kept + this.#latest * (1 - kept);
    this.#newlyBooked = 0;
    this.#learnedMs = nowMs;
  }

  /**
   * The part of the fleet's rate that this receiver may book at: at least half of an equal share. An equal share while
   * there are no bookings, and while the registry does not answer.
   */
  share(nowMs: number): number {
    const equal = 1 / this.members;
    if (this.isStale(nowMs)) return equal;
    const seconds = (nowMs - this.#learnedMs) / 1000;
    const own = (this.#own * NOW_TAU_S + this.#newlyBooked) / (NOW_TAU_S + seconds);
    const known = Math.max(this.#all, this.#latest);
    // If it books more than all did until now, the burst has just begun, and the others book as much.
    const all = own <= known ? known : known + (own - known) * this.members;
    return Math.min(1, Math.max(0.5 * equal, (own + FEW * equal) / (all + FEW)));
  }

  /** There are no other members any more. */
  leave(): void {
    this.members = 1;
    this.othersRate = 0;
    this.#all = this.#latest = this.#own;
  }
}
