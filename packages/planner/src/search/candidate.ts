/** A way to receive: `none` handles without the middleware, with the concurrency limited by hand. */
export type Way = 'none' | 'hold' | 'inbox';

/** The options that the search changes. Absent: the default. */
export interface Options {
  readonly capacity?: number;
  readonly maxWaitMs?: number;
  readonly highWaterMark?: number;
  readonly lowWaterMark?: number;
  readonly retryAfter?: { readonly maxSeconds: number };
}

/** A configuration that is simulated. */
export interface Candidate {
  readonly way: Way;
  readonly options: Options;
  /** How many deliveries are handled concurrently. */
  readonly concurrency: number;
}

/** A text that is equal for equal candidates. */
export function identityOf({ way, options, concurrency }: Candidate): string {
  const entries = Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([way, concurrency, entries]);
}
