import type { AlarmEvent, PromiseCounts, RefusalCounts, RefusalReason } from '@webhook-backpressure/core';

/** The attempt that an event is about. */
export interface EventAttempt {
  /** The key of the delivery. */
  readonly key: string;
  /** The name of the recognized sender; undefined if its sender was not recognized. */
  readonly sender: string | undefined;
  /** The id of the delivery, given or generated. */
  readonly id: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The name of the handler of the option `on` or of `Inbox.on`. Absent: `process`, or not known yet. */
  readonly handler?: string;
}

/** An event of an inbox: a plain object. `at`: milliseconds on the clock of the inbox. */
export type InboxEvent = { readonly at: number } & (
  | { readonly type: 'shedding' | 'accepting'; readonly depth: number; readonly bytes: number }
  /**
   * All workers are busy, and no attempt has ended for long; and the end of that. Without workers: deliveries are due, and
   * none has left the store for long.
   */
  | { readonly type: 'stalled' | 'recovered' }
  /**
   * A delivery was committed and acknowledged. `overflow`: as a dead letter. `duplicate`: the id was known already.
   * `conflict`: the same with another body, which is not stored.
   */
  | {
      readonly type: 'stored' | 'overflow' | 'duplicate' | 'conflict';
      readonly key: string;
      readonly sender: string | undefined;
      readonly id: string;
    }
  /**
   * The store has committed deliveries that arrived together. `deliveries`: how many, including duplicates and those that
   * did not fit. `tookMs`: the time that the commit took. Reported before the events of these deliveries.
   */
  | { readonly type: 'committed'; readonly deliveries: number; readonly tookMs: number }
  /** A delivery was refused; in a dry run, would have been refused and was accepted. */
  | {
      readonly type: 'refused';
      readonly reason: RefusalReason;
      readonly status: 429 | 503;
      readonly retryAfterSeconds: number;
      readonly key: string;
      readonly sender: string | undefined;
      /** Whether the sender never retries. */
      readonly lossRisk: boolean;
    }
  /** A delivery was answered with 401. `error`: what `verify` threw or returned, perhaps because of a bug in it. */
  | { readonly type: 'unverified'; readonly key: string; readonly error: string }
  /** `verify` could not decide: it threw an error with `status: 503`. The refusal follows. */
  | { readonly type: 'verify-failed'; readonly key: string; readonly error: string }
  /** A delivery was answered with 413. */
  | { readonly type: 'too-large'; readonly key: string }
  /** An attempt was started. `waitedMs`: since the delivery was received, by the wall clock. */
  | (EventAttempt & {
      readonly type: 'started';
      readonly waitedMs: number;
    })
  /**
   * A delivery was completed. `as` is absent when its handler has processed it. `split`: it matched several handlers, and
   * was replaced by a delivery for each. `unmatched`: it matches no handler, and there is no `process`. `coalesced`: a newer
   * one of its group was processed.
   */
  | (EventAttempt & {
      readonly type: 'completed';
      readonly tookMs: number;
      readonly as?: 'split' | 'unmatched' | 'coalesced';
    })
  /**
   * An attempt failed, and a retry is scheduled. `isCounted`: whether it used one of the delivery's attempts; in an
   * outage and without the encryption key it did not. `tookMs`: how long the handler ran; 0 if it was not called.
   */
  | (EventAttempt & {
      readonly type: 'failed';
      readonly tookMs: number;
      readonly error: string;
      readonly retryInMs: number;
      readonly isCounted: boolean;
    })
  /** The last attempt failed: the delivery is in the dead-letter queue. */
  | (EventAttempt & {
      readonly type: 'dead';
      readonly tookMs: number;
      readonly error: string;
    })
  /** The last attempt failed while the dead-letter queue was full: the delivery stays, and the attempt is repeated. */
  | (EventAttempt & {
      readonly type: 'dead-letters-full';
      readonly tookMs: number;
      readonly error: string;
      readonly retryInMs: number;
    })
  /** A dead letter was deleted because it was older than `maxDeadLetterAgeMs`. */
  | { readonly type: 'discarded'; readonly key: string; readonly id: string }
  /** A handler took longer than `maxHandlingMs`. Its signal is aborted, and the attempt failed. */
  | (EventAttempt & { readonly type: 'overdue' })
  /** Another process took over the claim while the handler ran: the delivery may be processed twice. */
  | (EventAttempt & { readonly type: 'lost' })
  /** A claim was given back: the inbox closed or was paused, an outage began, or the delivery is not needed yet. */
  | (EventAttempt & { readonly type: 'released' })
  /** Progress of a redrive or replay: after each batch, and when there is no room for more at present. */
  | {
      readonly type: 'redriving';
      readonly redriven: number;
      readonly remaining: number;
      readonly isWaiting: boolean;
    }
  /** `redriven`: dead letters or kept deliveries were put back. `purged`: dead letters were deleted. */
  | { readonly type: 'redriven' | 'purged'; readonly count: number }
  /**
   * Handlers fail one after another, for this key, or with null for many keys. A single attempt is made now and then, and
   * none counts; `error` is that of the last one. Reported again with `isCounting` after 72 hours: from then on attempts
   * count.
   */
  | {
      readonly type: 'outage';
      readonly key: string | null;
      readonly error: string;
      readonly isCounting: boolean;
    }
  /**
   * The end of an outage: an attempt succeeded, and the number of concurrent attempts grows step by step. Or no delivery
   * of the key has been due for ten minutes.
   */
  | { readonly type: 'restored'; readonly key: string | null }
  /** No attempt of this key, or with null of any key, is started any more; and the end of that. */
  | { readonly type: 'paused' | 'resumed'; readonly key: string | null }
  /** A call of the store failed. Until it works again, deliveries are refused, and workers wait. */
  | { readonly type: 'store-failed'; readonly call: string; readonly error: string }
  | { readonly type: 'store-recovered' }
  /** The store works, but something needs an operator. `message` says what. */
  | { readonly type: 'store-warning'; readonly code: string; readonly message: string }
  /** The sender is close to disabling the endpoint because of failed deliveries. Reported once. */
  | { readonly type: 'endangered'; readonly sender: string; readonly key: string }
  /** An alarm was raised, or has ended. `help` says what to do. */
  | AlarmEvent
  /** `options`: the names of the changed options. */
  | { readonly type: 'updated'; readonly options: readonly string[] }
  | { readonly type: 'closed'; readonly completed: number; readonly remaining: number }
);

/** Receives the events of an inbox. What it throws or rejects with is ignored, because it must not harm a delivery. */
export type InboxListener = (event: InboxEvent) => unknown;

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
  /** Deliveries that were completed, including those of the next three totals. */
  readonly completed: number;
  /** Deliveries that were replaced by one for each of several handlers. */
  readonly split: number;
  /** Deliveries that matched no handler, without a `process`. */
  readonly unmatched: number;
  /** Deliveries that were completed with a newer one of their group. */
  readonly coalesced: number;
  /** Attempts that failed, including last and overdue ones. */
  readonly failed: number;
  /** Handlers that exceeded `maxHandlingMs`. */
  readonly overdue: number;
  /** Deliveries whose last attempt failed. */
  readonly dead: number;
  /** Last attempts that failed while the dead-letter queue was full, and are repeated. */
  readonly deadLettersFull: number;
  /** Dead letters that were deleted because they were older than `maxDeadLetterAgeMs`. */
  readonly discarded: number;
  /** Claims that another process took over while their handlers ran. */
  readonly lost: number;
  /** Outages that began: of a key, or of everything. */
  readonly outages: number;
  /** Calls of the store that failed. */
  readonly storeFailures: number;
}
