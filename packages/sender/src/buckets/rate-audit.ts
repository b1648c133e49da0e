import { type BucketLimit, TokenLevel } from '@webhook-backpressure/fleet';
import type { RateAudit } from '@webhook-backpressure/observe';

const SLOT_MS = 50;
const SLOTS = 1000 / SLOT_MS;

/**
 * Checks from the starts alone whether an endpoint's limit was kept. It shares no state with the bucket, so it reports tokens
 * that a bucket gave too many, and requests that were started without one.
 *
 * Constant memory: any window of any length is checked by a second bucket at the highest limits so far, which only counts
 * the starts that find it empty. The most starts in a second are counted in steps of 50 ms, so the true figure of any second
 * can be higher by the starts of 50 ms.
 */
export class RateAuditor {
  #limit: BucketLimit;
  #level: TokenLevel;
  #excess = 0;
  #mostInFlight = 0;
  #mostInASecond = 0;
  #inThisSecond = 0;
  #slot = -Infinity;
  /** Starts of the last 20 slots, each at its number modulo 20. Made for the second start within a second. */
  #counts: Uint32Array | undefined;

  constructor(limit: BucketLimit, nowMs: number) {
    this.#limit = limit;
    this.#level = new TokenLevel(limit, nowMs);
  }

  /** @param inFlight - requests in flight, this one included. */
  started(limit: BucketLimit, inFlight: number, nowMs: number): void {
    this.#raise(limit, nowMs);
    if (this.#level.take(1, nowMs) === 0) this.#excess += 1;
    this.#mostInFlight = Math.max(this.#mostInFlight, inFlight);
    this.#count(Math.floor(nowMs / SLOT_MS));
  }

  report(): RateAudit {
    const { amount, periodMs, burst } = this.#limit;
    return {
      mostInASecond: this.#mostInASecond,
      allowedInASecond: burst + Math.floor((amount * 1000) / periodMs),
      excess: this.#excess,
      mostInFlight: this.#mostInFlight,
    };
  }

  /** A rate that is higher now may have been so for a while. A lower one was perhaps not known at the last start. */
  #raise(limit: BucketLimit, nowMs: number): void {
    const last = this.#limit;
    const isFaster = limit.amount * last.periodMs > last.amount * limit.periodMs;
    if (!isFaster && limit.burst <= last.burst) return;
    const { amount, periodMs } = isFaster ? limit : last;
    this.#limit = { amount, periodMs, burst: Math.max(limit.burst, last.burst) };
    this.#level = new TokenLevel(this.#limit, nowMs);
  }

  #count(slot: number): void {
    const passed = slot - this.#slot;
    if (passed >= SLOTS || passed < 0) {
      this.#counts?.fill(0);
      this.#inThisSecond = 0;
    } else {
      const counts = (this.#counts ??= this.#firstCounts());
      for (let at = this.#slot + 1; at <= slot; at += 1) {
        this.#inThisSecond -= counts[at % SLOTS] as number;
        counts[at % SLOTS] = 0;
      }
    }
    this.#slot = slot;
    this.#inThisSecond += 1;
    if (this.#counts !== undefined) this.#counts[slot % SLOTS] = (this.#counts[slot % SLOTS] as number) + 1;
    this.#mostInASecond = Math.max(this.#mostInASecond, this.#inThisSecond);
  }

  #firstCounts(): Uint32Array {
    const counts = new Uint32Array(SLOTS);
    counts[this.#slot % SLOTS] = this.#inThisSecond;
    return counts;
  }
}
