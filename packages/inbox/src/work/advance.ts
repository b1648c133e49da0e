import type { ClaimedDelivery } from '../store/inbox-store.ts';

/** Claimed deliveries that wait are suspects if the process dies, and each has its body in memory. */
const MOST = 256;
const MOST_BYTES = 16 * 1024 * 1024;
/** The times of claims vary, and workers also wait for results to be stored. */
const MARGIN = 4;

/**
 * How many deliveries are claimed beyond the free workers: as many as these finish while a few claims take place, so that
 * they never wait for one. With slow handlers, or with a store in this process, that is none or few.
 */
export class Advance {
  #claimMs = 0;
  #bytesEach = 0;
  #perMs = 0;
  #endedMs = -Infinity;
  #finished = 0;

  /**
   * A claim has returned some.
   *
   * @param finished - how many attempts have ended, ever.
   */
  note(claimed: readonly ClaimedDelivery[], beganMs: number, endedMs: number, finished: number): void {
    if (claimed.length === 0) return;
    this.#claimMs = endedMs - beganMs;
    this.#bytesEach = Math.max(...claimed.map(({ rawBody }) => rawBody.byteLength));
    this.#perMs = (finished - this.#finished) / (endedMs - this.#endedMs);
    this.#endedMs = endedMs;
    this.#finished = finished;
  }

  /**
   * How many more deliveries to claim.
   *
   * @param free - how many workers are free; negative if more are claimed.
   */
  room(free: number, workers: number): number {
    const advance = this.#count;
    // Small claims cost more for each delivery.
    if (2 * free <= -advance) return 0;
    // By halves: some are handled while others are claimed.
    return Math.min(free + advance, Math.max(free, Math.ceil((workers + advance) / 2)));
  }

  get #count(): number {
    // A clock that did not advance measures no rate.
    if (this.#claimMs === 0) return 0;
    return Math.floor(Math.min(this.#perMs * this.#claimMs * MARGIN, MOST, MOST_BYTES / this.#bytesEach));
  }
}
