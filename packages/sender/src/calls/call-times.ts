import type { BucketLimit } from '@webhook-backpressure/fleet';

/** So many starts count as measured before the first: one that is late by chance says little. */
const PRIOR = 16;
/** After so many starts, older ones count half. */
const RECENT = 64;
/** Chance makes the wait of a `RetryAfter` shorter by up to this share: a call that is early waits in this process. */
const EARLY = 0.2;
/** A named time of a call that may never be repeated is counted no longer than this. */
const MAX_BOOKED_MS = 3_600_000;
const MAX_SECONDS = 86_400;

/** What the time of a `RetryAfter` follows from. */
export interface Waits {
  /** How long there is no room. */
  readonly waitMs: number;
  /** How long the API wants no call. Chance does not shorten it. */
  readonly leastMs: number;
  readonly intervalMs: number;
  /** How long a call may wait in this process: at most half of it because it is early. */
  readonly maxWaitMs: number;
}

/** How fast the calls of a bucket start, and the times that were named to calls that are to be repeated. */
export class CallTimes {
  /** The last start. */
  lastStartMs = 0;
  /** The starts that were measured while calls waited, and the time from each to the next. */
  #starts = 0;
  #startsMs = 0;
  #hasWaiting = false;
  /** The last time that a `RetryAfter` has named. */
  #bookedUntilMs = 0;

  /** @param hasWaiting - whether calls still wait. */
  started(count: number, hasWaiting: boolean, nowMs: number): void {
    if (this.#hasWaiting) {
      this.#starts += count;
      this.#startsMs += nowMs - this.lastStartMs;
      if (this.#starts > RECENT) {
        this.#starts /= 2;
        this.#startsMs /= 2;
      }
    }
    if (!hasWaiting) this.#starts = this.#startsMs = 0;
    this.lastStartMs = nowMs;
    this.#hasWaiting = hasWaiting;
  }

  /** The time to the next start is no usual one. */
  paused(): void {
    this.#hasWaiting = false;
  }

  /** The time from one start of this process to the next: as it was lately, and at first with an equal part of the rate. */
  intervalMs({ amount, periodMs }: BucketLimit, processes: number): number {
    const tokenMs = periodMs / amount;
    const measuredMs = (this.#startsMs + PRIOR * processes * tokenMs) / (this.#starts + PRIOR);
    return Math.max(tokenMs, measuredMs);
  }

  /**
   * The seconds of a `RetryAfter`. Each gets its own time, one after the other: calls with the same one would find no room
   * again.
   *
   * @param early - from 0 to 1, by chance.
   */
  book({ waitMs, leastMs, intervalMs, maxWaitMs }: Waits, early: number, nowMs: number): number {
    const bookedMs = Math.max(waitMs, this.#bookedUntilMs + intervalMs - nowMs);
    const ownMs = Math.min(bookedMs, waitMs + MAX_BOOKED_MS);
    this.#bookedUntilMs = nowMs + ownMs;
    const earlyMs = early * Math.min(EARLY * ownMs, maxWaitMs / 2, Math.max(0, ownMs - leastMs));
    return Math.min(MAX_SECONDS, Math.ceil(ownMs - earlyMs) / 1000);
  }
}
