import type { ClaimedDelivery } from '../store/inbox-store.ts';

/** Claimed deliveries that wait are suspects if the process dies, and each has its body in memory. */
const MOST = 256;
const MOST_BYTES = 16 * 1024 * 1024;
/** The rate and the time of a claim vary. */
const MARGIN = 4;

/**
 * How many deliveries are claimed beyond the free workers: as many as these finish while a claim takes place, so that they
 * never wait for one. With slow handlers, or with a store in this process, that is none or one.
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

  /** @param perSecond - how many deliveries the handlers finish. */
  count(perSecond: number | null): number {
    const finished = ((perSecond ?? 0) * this.#claimMs * MARGIN) / 1000;
    return Math.floor(Math.min(finished, MOST, MOST_BYTES / this.#bytesEach));
  }
}
