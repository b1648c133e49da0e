import { endangeringRun, hurryingRun, type SwitchOffWatch } from '../../refusals/switch-off.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { IncomingDelivery } from './incoming-delivery.ts';

/** How many deliveries of one key are kept concurrently at most. Before they are verified, they may be forged. */
const MOST_PENDING = 16;

/**
 * Keeps senders below the failures after which they disable the endpoint: some failures before the limit, one delivery
 * is stored instead of refused, in the places that the reserve keeps, and right before the limit all of them are, until
 * one is acknowledged.
 */
export class KeptDeliveries {
  readonly #watch: SwitchOffWatch;
  readonly #level: FillLevel;

  constructor(watch: SwitchOffWatch, level: FillLevel) {
    this.#watch = watch;
    this.#level = level;
  }

  /**
   * Whether a delivery that is to be refused is stored instead. It is kept until {@link end}.
   *
   * @param isVerified - whether its key may count as asking for the reserve.
   */
  keeps(incoming: IncomingDelivery, key: string, isVerified: boolean, nowMs: number): boolean {
    const { profile } = incoming.delivery;
    if (profile?.switchOff === undefined || this.#level.isFull) return false;
    const { runs } = this.#watch;
    const { inARow = Infinity } = profile.switchOff;
    const { failures = 0, pending = 0 } = runs.find(profile.name, key) ?? {};
    const isLast = failures >= endangeringRun(inARow) - 1 || this.#watch.isWindowNear(profile, nowMs);
    if (isVerified && !this.#level.keeps(key, nowMs)) return false;
    if (incoming.keptFor !== null) return true;
    const isNext = failures >= hurryingRun(inARow) && pending === 0;
    if (pending >= MOST_PENDING || !(isLast || isNext)) return false;
    incoming.keptFor = runs.open(profile.name, key);
    incoming.keptFor.pending += 1;
    return true;
  }

  /** A delivery has been answered. */
  end(incoming: IncomingDelivery): void {
    const { keptFor } = incoming;
    if (keptFor === null) return;
    incoming.keptFor = null;
    keptFor.pending -= 1;
    this.#watch.runs.forget(keptFor);
  }
}
