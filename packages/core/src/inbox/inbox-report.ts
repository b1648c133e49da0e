import { Listeners, type EventBody } from '../events.ts';
import type { InboxTotals } from './inbox.ts';
import type { InboxEvent } from './inbox-events.ts';

/** The totals while they run. */
type Running<T> = { -readonly [K in keyof T]: T[K] extends number ? number : Running<T[K]> };

/** What has happened: counted, and told to those who listen. */
export class InboxReport {
  readonly listeners: Listeners<InboxEvent> = new Listeners<InboxEvent>();
  readonly totals: Running<InboxTotals> = {
    stored: 0,
    duplicate: 0,
    conflict: 0,
    overflow: 0,
    refused: { shedding: 0, full: 0, wait: 0, displaced: 0, pressure: 0, shed: 0, closing: 0 },
    lossRisk: 0,
    unverified: 0,
    tooLarge: 0,
    started: 0,
    completed: 0,
    failed: 0,
    overdue: 0,
    dead: 0,
    shelfFull: 0,
    discarded: 0,
    lost: 0,
    storeFailures: 0,
  };
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  emit(event: EventBody<InboxEvent>): void {
    if (this.listeners.any) this.listeners.emit(this.#now(), event);
  }

  /** A copy of the totals that does not move. */
  read(): InboxTotals {
    return { ...this.totals, refused: { ...this.totals.refused } };
  }
}
