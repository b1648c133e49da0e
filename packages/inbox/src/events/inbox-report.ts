import { addUp, type EventBody, Listeners, noRefusals } from '@webhook-backpressure/core/extend';
import type { PromiseCounts } from '@webhook-backpressure/core';
import type { InboxEvent, InboxTotals } from './inbox-events.ts';
import { ProcessWarnings, classAndPlaceOf } from './process-warnings.ts';

/** The totals, writable. */
type Running<T> = { -readonly [K in keyof T]: T[K] extends number ? number : Running<T[K]> };

/** Counts events, and reports them to the listeners. */
export class InboxReport {
  readonly listeners: Listeners<InboxEvent> = new Listeners<InboxEvent>();
  readonly totals: Running<Omit<InboxTotals, 'refused' | 'promises'>> = {
    arrivals: 0,
    stored: 0,
    duplicate: 0,
    conflict: 0,
    overflow: 0,
    refusedByStatus: { 429: noRefusals(), 503: noRefusals() },
    lossRisk: 0,
    unverified: 0,
    tooLarge: 0,
    started: 0,
    completed: 0,
    split: 0,
    unmatched: 0,
    coalesced: 0,
    failed: 0,
    overdue: 0,
    dead: 0,
    deadLettersFull: 0,
    discarded: 0,
    lost: 0,
    outages: 0,
    storeFailures: 0,
  };
  readonly #now: () => number;
  readonly #warnings: ProcessWarnings;

  constructor(now: () => number) {
    this.#now = now;
    this.#warnings = new ProcessWarnings(() => this.listeners.anyReporting);
  }

  emit(event: EventBody<InboxEvent>): void {
    if (this.listeners.any) this.listeners.emit(this.#now(), event);
    if (!this.listeners.anyReporting) this.#warn(event);
  }

  /** Warns that `process` threw or rejected. */
  processFailed(error: unknown): void {
    this.#warnings.warn(
      'WBP_PROCESS_FAILED',
      () => `An attempt to process a delivery failed with ${classAndPlaceOf(error)}.`,
    );
  }

  /**
   * Warns that `verify` rejected a delivery.
   *
   * @param isBug - whether it probably has a bug.
   * @param reason - a text of this package, of which each is reported once.
   */
  verifyFailed(isBug: boolean, why: () => string, reason?: string): void {
    if (isBug) {
      this.#warnings.warn(
        'WBP_VERIFY_BROKEN',
        () => `A delivery was refused with 401, perhaps because of a bug in verify. ${why()}`,
      );
    } else {
      this.#warnings.warn(
        'WBP_VERIFY_FAILED',
        () => `A delivery was refused with 401. ${why()} If its sender is yours, check the secret.`,
        // The first one may be of a scanner, and another reason that of the sender.
        reason,
      );
    }
  }

  #warn(event: EventBody<InboxEvent>): void {
    if (event.type === 'completed' && event.as === 'unmatched') {
      this.#warnings.warn(
        'WBP_UNMATCHED',
        () => 'A delivery matched no handler and was completed without one. Pass process to handle the rest.',
      );
    } else if (event.type === 'dead') {
      this.#warnings.warn(
        'WBP_DELIVERY_DEAD',
        () => 'The last attempt of a delivery failed. It is in the dead-letter queue now.',
      );
    } else if (event.type === 'store-failed') {
      this.#warnings.storeFailed(event.call, event.error);
    } else if (event.type === 'store-warning') {
      this.#warnings.warn(event.code, () => event.message);
    }
  }

  /** A copy of the totals. */
  read(promises: PromiseCounts): InboxTotals {
    const { 429: tooMany, 503: unavailable } = this.totals.refusedByStatus;
    return {
      ...this.totals,
      refused: addUp(tooMany, unavailable),
      refusedByStatus: { 429: { ...tooMany }, 503: { ...unavailable } },
      promises: { ...promises },
    };
  }
}
