import type { Delivery } from '../delivery/delivery.ts';
import type { DrainMeter } from '../workers/drain-meter.ts';
import type { FairShares } from '../workers/fair-shares.ts';
import { LearnedPatience } from './learned-patience.ts';
import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';

/**
 * How long a delivery may still wait that could wait for `waitMs`, and that comes to light in a turn of the event loop
 * that is late by `lagMs`: it may have waited for so long already. Half of its time it has in any case, since on
 * average it came in the middle of the lag, and since a timer that a runtime has lost looks the same.
 *
 * @param ageMs - how long it is known to have waited already, such as for its body.
 */
export function patienceMs(waitMs: number, lagMs: number, ageMs = 0): number {
  if (waitMs === Infinity) return Infinity;
  return Math.max(0, waitMs - Math.max(ageMs, Math.min(waitMs / 2, lagMs)));
}

/** A delivery that was queued for less did not lose its sender by that. */
const QUEUED_MS = 100;
/** Nor did one that is being handled for so many times its key's mean. */
const SLOW = 1.5;

/** What the patience of a delivery is compared with. */
interface Pace {
  readonly drain: DrainMeter;
  readonly shares: FairShares<AdmittedDelivery>;
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
    const lagMs = this.#pace.drain.lagMs(now);
    // How long its body took counts for its sender, and not for the queue.
    return Math.min(patienceMs(longestMs, lagMs), patienceMs(maxWaitMs, lagMs, ageMs));
  }

  /** Whether the delivery would have to wait longer than its sender does, or than `longestMs` for its own key alone. */
  isExceeded(delivery: Delivery, key: string, longestMs: number, now: number): boolean {
    const { drain, shares } = this.#pace;
    // The gate knows what all workers complete in the longest wait, and not how few of them this key may have.
    if (delivery.retries !== false && shares.ownWaitMs(key) > longestMs) return true;
    const { maxWaitMs = this.#learnedMs(delivery, key, now), ageMs } = delivery;
    const lagMs = drain.lagMs(now);
    if (maxWaitMs === Infinity && lagMs === 0) return false;
    const leftMs =
      maxWaitMs === Infinity ? patienceMs(longestMs, lagMs) : patienceMs(maxWaitMs, lagMs, ageMs);
    const rate = drain.rate(now);
    return rate !== null && shares.waitMs(key, rate) > leftMs;
  }

  /** The sender of a delivery has hung up: when it had waited too long, or for some reason of its own. */
  gone(
    { delivery: { ageMs = 0 }, key, admittedAtMs, startedAtMs, state }: AdmittedDelivery,
    now: number,
  ): void {
    const handledMs = state === 'active' ? now - startedAtMs : 0;
    if (now - admittedAtMs - handledMs < QUEUED_MS) return;
    // It has waited for its handler.
    if (handledMs > SLOW * this.#pace.shares.handlingMs(key)) return;
    this.#learned.gone(key, now - admittedAtMs + ageMs, now);
  }

  /** A delivery has been handled, and its sender is still there. */
  stayed({ delivery: { ageMs = 0 }, key, admittedAtMs }: AdmittedDelivery, now: number): void {
    this.#learned.stayed(key, now - admittedAtMs + ageMs);
  }

  /** A sender that never repeats has nothing from being refused in time, and something from being handled late. */
  #learnedMs({ retries }: Delivery, key: string, now: number): number {
    return retries === false ? Infinity : this.#learned.of(key, this.#pace.shares.handlingMs(key), now);
  }
}
