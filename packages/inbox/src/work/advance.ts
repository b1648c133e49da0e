import type { ClaimedDelivery } from '../store/inbox-store.ts';

/** Claimed deliveries that wait are suspects if the process dies, and each has its body in memory. */
const MOST = 256;
const MOST_BYTES = 16 * 1024 * 1024;
/** The rate and the time of a claim vary. */
const MARGIN = 4;

/**
 * How many deliveries are claimed beyond the free workers: as many as these finish while a few claims take place, so that
 * they never wait for one. With slow handlers, or with a store in this process, that is none or few.
 */
export class Advance {
  #claimMs = 0;
  #bytesEach = 0;

  /** A claim has returned some. */
  note(claimed: readonly ClaimedDelivery[], tookMs: number): void {
    if (claimed.length === 0) return;
    this.#claimMs = tookMs;
    this.#bytesEach = Math.max(...claimed.map(({ rawBody }) => rawBody.byteLength));
  }

  /**
   * How many more deliveries to claim.
   *
   * @param free - how many workers are free; negative if more are claimed.
   * @param perSecond - how many deliveries the handlers finish.
   */
  room(free: number, workers: number, perSecond: number | null): number {
    const advance = this.#count(perSecond);
    // Small claims cost more for each delivery.
    if (2 * free <= -advance) return 0;
    // By halves: the results of some are stored while others are claimed.
    return Math.min(free + advance, Math.max(free, Math.ceil((workers + advance) / 2)));
  }

  #count(perSecond: number | null): number {
    // The rate is infinite while handlers take no time that the clock can measure.
    if (perSecond === null || this.#claimMs === 0) return 0;
    const finished = (perSecond * this.#claimMs * MARGIN) / 1000;
    return Math.floor(Math.min(finished, MOST, MOST_BYTES / this.#bytesEach));
  }
}
