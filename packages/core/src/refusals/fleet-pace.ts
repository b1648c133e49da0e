/** The time constant of the shares of new bookings: a few beats. */
const TAU_S = 6;

/**
 * How fast this receiver may book: its share of the fleet's rate, by its part of the recent bookings. Its own bookings
 * are known immediately and those of others a beat later, so the share is only used until the next beat corrects what
 * was booked with it.
 */
export class FleetPace {
  members = 1;
  /** Retries per second that the other members can handle. */
  othersRate = 0;
  /** Bookings per second, own and of all others, when the last beat succeeded. */
  #own = 0;
  #others = 0;
  #newlyBooked = 0;
  #learnedMs = 0;
  #hasLearned = false;

  noteBooking(): void {
    this.#newlyBooked += 1;
  }

  /** @param booked - new bookings of all other members. */
  learn(booked: number, nowMs: number): void {
    const seconds = Math.max(0.1, (nowMs - this.#learnedMs) / 1000);
    const kept = this.#hasLearned ? Math.exp(-seconds / TAU_S) : 0;
    this.#own = this.#own * kept + (this.#newlyBooked / seconds) * (1 - kept);
    this.#others = this.#others * kept + (booked / seconds) * (1 - kept);
    this.#hasLearned = true;
    this.#newlyBooked = 0;
    this.#learnedMs = nowMs;
  }

  /** The part of the fleet's rate that this receiver may book at: at least half of an equal share. */
  share(nowMs: number): number {
    const seconds = Math.max(0, (nowMs - this.#learnedMs) / 1000);
    const kept = Math.exp(-seconds / TAU_S);
    const own = this.#own * kept + this.#newlyBooked / TAU_S;
    const all = own + this.#others;
    return Math.min(1, Math.max(0.5 / this.members, all > 0 ? own / all : 1 / this.members));
  }

  /** There are no other members any more. */
  leave(): void {
    this.members = 1;
    this.othersRate = 0;
    this.#others = 0;
  }
}
