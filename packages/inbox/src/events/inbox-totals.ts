import type { PromiseCounts, RefusalCounts } from '@webhook-backpressure/core';

/** Counts since the inbox was created. */
export interface InboxTotals {
  /** Requests received, whatever their answer was or will be. */
  readonly arrivals: number;
  /** Deliveries stored and acknowledged. */
  readonly stored: number;
  /** Deliveries answered as duplicates. */
  readonly duplicate: number;
  /** Acknowledged as a duplicate, although the body differs from that of the first delivery with this id. */
  readonly conflict: number;
  /** Stored as a dead letter because of `overflow: 'dead-letter'`. */
  readonly overflow: number;
  /** In a dry run these were accepted nevertheless. */
  readonly refused: RefusalCounts;
  /** The same, by status and reason. */
  readonly refusedByStatus: Readonly<Record<429 | 503, RefusalCounts>>;
  /**
   * Retries of refused deliveries that arrived in their booked time, each counted at its first arrival: `kept` if it was
   * acknowledged, `missed` if it was refused again. Only deliveries with an id are recognized as retries.
   */
  readonly promises: PromiseCounts;
  /** Refused although the sender never retries. */
  readonly lossRisk: number;
  /** Requests refused with 401. */
  readonly unverified: number;
  /** Requests refused with 413. */
  readonly tooLarge: number;
  /** Attempts that were started. */
  readonly started: number;
  /** Deliveries that were completed. */
  readonly completed: number;
  /** Attempts that failed, including last and overdue ones. */
  readonly failed: number;
  /** Handlers that exceeded `maxHandlingMs`. */
  readonly overdue: number;
  /** Deliveries whose last attempt failed. */
  readonly dead: number;
  /** Last attempts that failed while the dead-letter queue was full, and are repeated. */
  readonly shelfFull: number;
  /** Dead letters that were deleted because they were older than `maxShelvedAgeMs`. */
  readonly discarded: number;
  /** Claims that another process took over while their handlers ran. */
  readonly lost: number;
  /** Outages that began: of a key, or of everything. */
  readonly outages: number;
  /** Calls of the store that failed. */
  readonly storeFailures: number;
}
