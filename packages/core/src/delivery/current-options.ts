/**
 * The tunable options of an intake that are in force, complete and as plain JSON data, as the live page and a log need
 * them. `null` means none.
 */
export interface CurrentOptions {
  /** How many deliveries may be queued; in an inbox, stored and unfinished. */
  readonly capacity: number;
  /** Where shedding begins, as a fraction of the effective capacity. */
  readonly highWaterMark: number;
  /** Where shedding ends, as a fraction of the effective capacity. */
  readonly lowWaterMark: number;
  /** How many deliveries are handled concurrently, or the range in which that is learned. */
  readonly concurrency: number | { readonly initial: number; readonly min: number; readonly max: number };
  /** How many deliveries of one key are handled concurrently, or below 1 a fraction of `concurrency`. */
  readonly maxConcurrencyPerKey: number | null;
  /** How many deliveries start per second at most, or the range in which that is learned. */
  readonly maxStartsPerSecond:
    number | { readonly min: number; readonly max: number; readonly targetP99Ms: number } | null;
  /** The longest acceptable wait in the queue, in milliseconds. */
  readonly maxWaitMs: number;
  /** How long a delivery may be handled, in milliseconds. */
  readonly maxHandlingMs: number;
  /** What happens above the high-water mark. */
  readonly overflow: 'refuse' | 'drop-oldest';
  /** The status of a refusal. */
  readonly statusCode: 'auto' | 429 | 503;
  /** How Retry-After is computed, and its bounds in seconds. */
  readonly retryAfter: {
    readonly strategy: 'booked' | 'depth';
    readonly minSeconds: number;
    readonly maxSeconds: number;
  };
  /** The keys that are switched off. */
  readonly shed: readonly string[];
}
