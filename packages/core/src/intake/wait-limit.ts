import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { favorOf } from '../delivery/favor.ts';
import type { DrainMeter } from '../workers/drain-meter.ts';
import type { FairShares } from '../workers/fair-shares.ts';
import { LearnedTimeouts } from './learned-timeouts.ts';

/** A sender whose delivery was queued for less did not disconnect because of the queue. */
const QUEUED_MS = 100;
/** Nor did one whose delivery is handled for this many times the mean of its key. */
const SLOW = 1.5;

/** What a delivery may wait depends on how fast the queue is drained. */
interface Workload {
  readonly drain: DrainMeter;
  readonly shares: FairShares<AdmittedDelivery>;
}

/** How long deliveries may be queued: for less than their sender's timeout, given or learned, and at most `maxWaitMs`. */
export class WaitLimit {
  readonly #workload: Workload;
  readonly #learned = new LearnedTimeouts();

  constructor(workload: Workload) {
    this.#workload = workload;
  }

  /** How long the delivery may be queued from now on, at most `longestMs`, in milliseconds. */
  leftMs(delivery: Delivery, key: string, longestMs: number, now: number): number {
    const { maxWaitMs = this.#learnedMs(delivery, key, now), ageMs } = delivery;
    const lagMs = this.#workload.drain.lagMs(now);
    // The time that its body took counts against the sender's timeout, and not against `maxWaitMs`.
    return Math.min(remainingMs(longestMs, lagMs), remainingMs(maxWaitMs, lagMs, ageMs));
  }

  /** Whether the delivery would be queued for longer than its sender waits, or than `longestMs` for its own key alone. */
  isExceeded(delivery: Delivery, key: string, longestMs: number, now: number): boolean {
    const { drain, shares } = this.#workload;
    // The gate knows what all workers complete in the longest wait, and not how few of them this key may have.
    if (delivery.retries !== false && shares.ownWaitMs(key) > longestMs) return true;
    const { maxWaitMs = this.#learnedMs(delivery, key, now), ageMs } = delivery;
    const lagMs = drain.lagMs(now);
    if (maxWaitMs === Infinity && lagMs === 0) return false;
    const leftMs =
      maxWaitMs === Infinity ? remainingMs(longestMs, lagMs) : remainingMs(maxWaitMs, lagMs, ageMs);
    const rate = drain.rate(now);
    return rate !== null && shares.waitMs(key, rate, favorOf(delivery)) > leftMs;
  }

  /** Whether a delivery at the end of its key's line would start before its deadline. */
  isInTime({ key, expiresAtMs }: AdmittedDelivery, now: number): boolean {
    const { drain, shares } = this.#workload;
    const rate = drain.rate(now);
    return rate === null || shares.waitMs(key, rate) <= expiresAtMs - now;
  }

  /** The sender of a delivery has disconnected, because of a long wait or for another reason. */
  gone(
    { delivery: { ageMs = 0 }, key, admittedAtMs, startedAtMs, state }: AdmittedDelivery,
    now: number,
  ): void {
    const handledMs = state === 'active' ? now - startedAtMs : 0;
    if (now - admittedAtMs - handledMs < QUEUED_MS) return;
    // It has waited for its handler.
    if (handledMs > SLOW * this.#workload.shares.handlingMs(key)) return;
    this.#learned.gone(key, now - admittedAtMs + ageMs, now);
  }

  /** A delivery has been handled, and its sender is still connected. */
  stayed({ delivery: { ageMs = 0 }, key, admittedAtMs }: AdmittedDelivery, now: number): void {
    this.#learned.stayed(key, now - admittedAtMs + ageMs);
  }

  /** A sender that never retries gains nothing from an early refusal, and something from a late start. */
  #learnedMs({ retries }: Delivery, key: string, now: number): number {
    return retries === false ? Infinity : this.#learned.of(key, this.#workload.shares.handlingMs(key), now);
  }
}

/**
 * How much is left of a wait of `waitMs` for a delivery that is read in a turn of the event loop that is `lagMs` late: it
 * may have waited for that long already. At least half is left, since on average a delivery arrived in the middle of the
 * lag, and since a timer that a runtime has lost looks the same.
 *
 * @param ageMs - how long it is known to have waited, such as for its body.
 */
export function remainingMs(waitMs: number, lagMs: number, ageMs = 0): number {
  if (waitMs === Infinity) return Infinity;
  return Math.max(0, waitMs - Math.max(ageMs, Math.min(waitMs / 2, lagMs)));
}
