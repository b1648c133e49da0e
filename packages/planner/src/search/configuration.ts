import type { Mode } from '../request/plan-request.ts';

/** How deliveries are received. `none`: without the middleware, with only the concurrency limited by hand. */
export type PlannedMode = Mode | 'none';

/** The options that the search changes. Absent: the default. */
export interface PlannedOptions {
  /** How many deliveries may be queued, or pending in the inbox. */
  readonly capacity?: number;
  /** The longest wait, in milliseconds. */
  readonly maxWaitMs?: number;
  /** The fraction of the capacity at which shedding begins. */
  readonly highWaterMark?: number;
  /** The longest Retry-After, in seconds. */
  readonly retryAfter?: { readonly maxSeconds: number };
}

/** A configuration that is simulated. */
export interface Configuration {
  /** Whether requests are held, stored, or not limited. */
  readonly mode: PlannedMode;
  /** The options that differ from the defaults. */
  readonly options: PlannedOptions;
  /** How many deliveries are handled concurrently. */
  readonly concurrency: number;
}

/** A text that is equal for equal configurations. */
export function identityOf({ mode, options, concurrency }: Configuration): string {
  const entries = Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([mode, concurrency, entries]);
}
