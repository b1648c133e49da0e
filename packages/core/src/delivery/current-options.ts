/**
 * The tunable options of an intake that are in force, complete and as plain JSON data. Units and effects are those of the
 * options of the same names. `null` means none.
 */
export interface CurrentOptions {
  readonly capacity: number;
  readonly highWaterMark: number;
  readonly lowWaterMark: number;
  readonly concurrency: number | { readonly initial: number; readonly min: number; readonly max: number };
  readonly maxConcurrencyPerKey: number | null;
  readonly drainRate:
    number | { readonly min: number; readonly max: number; readonly targetP99Ms: number } | null;
  readonly maxWaitMs: number;
  readonly maxHandlingMs: number;
  readonly overflow: 'refuse' | 'drop-oldest';
  readonly statusCode: 'auto' | 429 | 503;
  readonly retryAfter: {
    readonly strategy: 'booked' | 'depth';
    readonly minSeconds: number;
    readonly maxSeconds: number;
  };
  /** The keys that are switched off. */
  readonly shed: readonly string[];
}
