import type { Mode } from '../request/plan-request.ts';

/** How deliveries are received. `none`: without the middleware, with only the concurrency limited by hand. */
export type PlannedMode = Mode | 'none';

/** The options that the search changes. Absent: the default. */
export interface PlannedOptions {
  readonly capacity?: number;
  readonly maxWaitMs?: number;
  readonly highWaterMark?: number;
  readonly retryAfter?: { readonly maxSeconds: number };
}

/** A configuration that is simulated. */
export interface Configuration {
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
