import type { BucketLimit } from '@webhook-backpressure/fleet';

/** The part of the last measurement that a new one replaces. */
const GAIN = 1 / 8;
/** Chance makes the wait of a `RetryAfter` so much shorter or longer, so that calls do not come back together. */
export const JITTER = 0.2;
/** Times that were named to calls that may not come back are not counted for longer than so. */
const MAX_BOOKED_MS = 3_600_000;
const MAX_SECONDS = 86_400;

/** How fast the calls of a bucket start, and the times that were named to those that have to come back. */
export class CallTimes {
  /** The last start. */
  lastStartMs = 0;
  /** The measured time from one start to the next while calls wait; 0 while unknown. */
  #stepMs = 0;
  #hasWaiting = false;
  /** The last time that a `RetryAfter` has named. */
  #bookedUntilMs = 0;

  /** @param hasWaiting - whether calls still wait. */
  started(count: number, hasWaiting: boolean, nowMs: number): void {
    const stepMs = (nowMs - this.lastStartMs) / count;
    if (!hasWaiting) this.#stepMs = 0;
    else if (this.#hasWaiting) this.#stepMs += this.#stepMs === 0 ? stepMs : (stepMs - this.#stepMs) * GAIN;
    this.lastStartMs = nowMs;
    this.#hasWaiting = hasWaiting;
  }

  /** The time to the next start is no usual one. */
  paused(): void {
    this.#hasWaiting = false;
  }

  /** The time from one start of this process to the next: as it was lately, else with an equal part of the rate. */
  intervalMs({ amount, periodMs }: BucketLimit, processes: number): number {
    const tokenMs = periodMs / amount;
    return this.#stepMs > 0 ? Math.max(tokenMs, this.#stepMs) : tokenMs * processes;
  }

  /**
   * The seconds of a `RetryAfter`. Each gets its own time, one after the other: calls with the same one would find no room
   * again.
   *
   * @param waitMs - how long there is no room.
   * @param leastMs - how long the API wants no call. Chance does not shorten it.
   */
  book(waitMs: number, leastMs: number, intervalMs: number, nowMs: number, random: number): number {
    const bookedMs = Math.max(waitMs, this.#bookedUntilMs + intervalMs - nowMs);
    const ownMs = Math.min(bookedMs, waitMs + MAX_BOOKED_MS);
    this.#bookedUntilMs = nowMs + ownMs;
    const jitteredMs = ownMs * (1 - JITTER + 2 * JITTER * random);
    return Math.min(MAX_SECONDS, Math.ceil(Math.max(leastMs, jitteredMs)) / 1000);
  }
}
