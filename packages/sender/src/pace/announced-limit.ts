import type { BucketLimit } from '../buckets/buckets.ts';
import type { RateHints } from '../answers/outcome.ts';
import { perSecondOf } from '../options/settings.ts';

/**
 * The limit that an endpoint announces in the headers of any answer. Nothing left: requests wait until the reset. Less
 * left than would be used until the reset: the remainder is spread over that time.
 */
export class AnnouncedLimit {
  /** Nothing is left until then; 0 for none. */
  waitUntilMs = 0;
  /** The remainder, spread; undefined if it does not bind. */
  limit: BucketLimit | undefined;
  #untilMs = 0;
  #startedAtMs = -Infinity;

  /** @param rate - the present limit without announcements. */
  note(startedAtMs: number, hints: RateHints, rate: BucketLimit, nowMs: number): void {
    // An older request was counted earlier: its remainder is no longer true.
    if (startedAtMs < this.#startedAtMs) return;
    this.#startedAtMs = startedAtMs;
    const resetMs = Math.ceil(hints.resetMs);
    this.waitUntilMs = 0;
    this.limit = undefined;
    if (resetMs <= 0) return;
    this.#untilMs = nowMs + resetMs;
    const remaining = Math.floor(hints.remaining);
    if (remaining <= 0) this.waitUntilMs = this.#untilMs;
    // The places of a queue become free all the time; the in-flight cap sees to them.
    else if (hints.fill === undefined && remaining < (perSecondOf(rate) * resetMs) / 1000) {
      this.limit = { amount: remaining, periodMs: resetMs, burst: 1 };
    }
  }

  pass(nowMs: number): void {
    if (this.#untilMs > nowMs) return;
    this.waitUntilMs = 0;
    this.limit = undefined;
  }
}
