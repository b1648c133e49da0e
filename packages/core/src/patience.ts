import type { Delivery } from './delivery.ts';
import type { DrainMeter } from './drain-meter.ts';
import type { FairShares } from './fair-shares.ts';
import { LearnedPatience } from './learned-patience.ts';
import type { Place } from './place.ts';

/**
 * How long a delivery may still wait that could wait for `waitMs`, and that comes to light in a turn of the event loop
 * that is late by `lagMs`: it may have waited for so long already. Half of its time it has in any case, since on
 * average it came in the middle of the lag, and since a timer that a runtime has lost looks the same.
 *
 * @param ageMs - how long it is known to have waited already, such as for its body.
 */
export function patienceMs(waitMs: number, lagMs: number, ageMs = 0): number {
  return Math.max(0, waitMs - Math.max(ageMs, Math.min(waitMs / 2, lagMs)));
}

/** What the patience of a delivery is compared with. */
interface Pace {
  readonly drain: DrainMeter;
  readonly shares: FairShares<Place>;
}

/** How long deliveries may wait: as their senders say, as they were seen to, and no longer than `maxWaitMs`. */
export class Patience {
  readonly #pace: Pace;
  readonly #learned = new LearnedPatience();

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** How long the delivery may wait from now on, at most `longestMs`, in milliseconds. */
  leftMs(delivery: Delivery, key: string, longestMs: number, now: number): number {
    const { maxWaitMs = this.#learnedMs(delivery, key, now), ageMs } = delivery;
    return patienceMs(Math.min(longestMs, maxWaitMs), this.#pace.drain.lagMs(now), ageMs);
  }

  /** Whether the delivery would have to wait longer than its sender does, or than `longestMs` for its own key alone. */
  isExceeded(delivery: Delivery, key: string, longestMs: number, now: number): boolean {
    const { drain, shares } = this.#pace;
    const { maxWaitMs = this.#learnedMs(delivery, key, now), ageMs = 0 } = delivery;
    const lagMs = drain.lagMs(now);
    // The gate knows what all workers complete in the longest wait, and not how few of them this key may have.
    if (maxWaitMs === Infinity && lagMs === 0 && ageMs === 0) return shares.ownWaitMs(key) > longestMs;
    const leftMs = patienceMs(maxWaitMs === Infinity ? longestMs : maxWaitMs, lagMs, ageMs);
    const rate = drain.rate(now);
    return rate !== null && shares.waitMs(key, rate) > leftMs;
  }

  /** The sender of a delivery has hung up. */
  gone({ delivery: { ageMs = 0 }, key, admittedAtMs }: Place, now: number): void {
    this.#learned.gone(key, now - admittedAtMs + ageMs, now);
  }

  /** A delivery has been handled, and its sender is still there. */
  stayed({ delivery: { ageMs = 0 }, key, admittedAtMs }: Place, now: number): void {
    this.#learned.stayed(key, now - admittedAtMs + ageMs);
  }

  /** A sender that never repeats has nothing from being refused in time, and something from being handled late. */
  #learnedMs({ retries }: Delivery, key: string, now: number): number {
    return retries === false ? Infinity : this.#learned.of(key, this.#pace.shares.handlingMs(key), now);
  }
}
