import type { BucketLimit } from '@webhook-backpressure/fleet';

/** Checked batch options. */
export interface BatchSettings {
  readonly maxEvents: number;
  readonly maxDelayMs: number;
  readonly maxBytes: number;
}

/** Checked settings of one endpoint. */
export interface EndpointSettings {
  /** Without credentials and fragment. */
  readonly url: URL;
  /** The newest first; empty: unsigned. */
  readonly secrets: readonly string[];
  /** After `documented`. */
  readonly limit: BucketLimit;
  readonly maxInFlight: number;
  readonly batch: BatchSettings | undefined;
  readonly isOrdered: boolean;
}

/** The rate of a limit, in tokens per second. */
export function perSecondOf({ amount, periodMs }: BucketLimit): number {
  return (amount * 1000) / periodMs;
}
