/** Counts of a sender, in this process since it was created. */
export interface SenderTotals {
  /** Events that were stored. */
  readonly accepted: number;
  /** Calls of `send` whose id was known, with the same body or another one. */
  readonly duplicate: number;
  /** Of `duplicate`: those with another body. */
  readonly conflict: number;
  /** Calls of `send` that were refused because the outbox was full. */
  readonly refused: number;
  /** Requests that were started. */
  readonly attempts: number;
  /** Events that were delivered. */
  readonly delivered: number;
  /** Requests after which the endpoint asked to wait. */
  readonly limited: number;
  /** Requests that failed otherwise. */
  readonly failed: number;
  /** Of `failed`: those without an answer within the timeout. */
  readonly timedOut: number;
  /** Events that moved to the dead-letter queue. */
  readonly dead: number;
  /** Dead letters that were deleted because of their age. */
  readonly discarded: number;
  /** Requests that contained more than one event. */
  readonly batches: number;
  /** Events whose claim another process took over. */
  readonly lost: number;
  /** Values of Retry-After that were invalid, negative, in the past or too long, and were replaced. */
  readonly clampedRetryAfter: number;
  /** How often endpoints were disabled. */
  readonly disabled: number;
  /** Calls of `endpoint` that failed. */
  readonly endpointFailures: number;
  /** Calls of the store that failed. */
  readonly storeFailures: number;
}
