import type { BatchSettings } from '../options/settings.ts';

/**
 * The events of an endpoint that this process has stored and not claimed yet, so that it knows when a batch is complete
 * without asking the store. Retries, and events from before a restart or of other processes, are not counted: they don't
 * wait for others.
 */
export class Gathering {
  #count = 0;
  #bytes = 0;
  /** When the oldest was stored, at the earliest. */
  #sinceMs = Infinity;

  /** An event was stored. `bytes`: in the body of a batch. */
  stored(bytes: number, nowMs: number): void {
    this.#count += 1;
    this.#bytes += bytes;
    this.#sinceMs = Math.min(this.#sinceMs, nowMs);
  }

  /**
   * Events were claimed.
   *
   * @param isAll - whether no event is left that can be claimed now.
   */
  claimed(count: number, bytes: number, isAll: boolean, nowMs: number): void {
    this.#count = isAll ? 0 : Math.max(0, this.#count - count);
    this.#bytes = this.#count === 0 ? 0 : Math.max(0, this.#bytes - bytes);
    // The others are at most as old.
    if (this.#count === 0) this.#sinceMs = Infinity;
    else this.#sinceMs = Math.min(nowMs, this.#sinceMs);
  }

  /** When a batch is complete or old enough, on the monotonic clock; 0 for now, also if nothing gathers. */
  readyAtMs({ maxEvents, maxDelayMs, maxBytes }: BatchSettings): number {
    if (this.#count === 0 || this.#count >= maxEvents || this.#bytes >= maxBytes) return 0;
    return this.#sinceMs + maxDelayMs;
  }

  /** For how many requests there are events: complete batches, or one more when the rest is old enough. */
  requests(batch: BatchSettings, nowMs: number): number {
    const { maxEvents, maxDelayMs, maxBytes } = batch;
    const full = Math.max(this.#count / maxEvents, this.#bytes / maxBytes);
    const isOld = nowMs - this.#sinceMs >= maxDelayMs;
    return Math.max(1, isOld ? Math.ceil(full) : Math.floor(full));
  }
}
