import { Listeners, type EventBody } from '../../delivery/events.ts';
import type { InboxTotals } from '../inbox.ts';
import type { InboxEvent } from './inbox-events.ts';
import { Unheard, whatAndWhere, type Flaw } from './unheard.ts';

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
    outages: 0,
    storeFailures: 0,
  };
  readonly #now: () => number;
  readonly #unheard: Unheard;

  constructor(now: () => number) {
    this.#now = now;
    this.#unheard = new Unheard(() => this.listeners.any);
  }

  emit(event: EventBody<InboxEvent>): void {
    if (this.listeners.any) this.listeners.emit(this.#now(), event);
    else this.#warn(event);
  }

  /** `process` threw or rejected. */
  processFailed(error: unknown): void {
    this.#unheard.warn(
      'WBP_PROCESS_FAILED',
      () => `An attempt at a delivery has failed with ${whatAndWhere(error)}.`,
    );
  }

  /** `verify` has refused a delivery in a way that looks like a mistake of its own. */
  verifyBroken(flaw: Flaw): void {
    const why = 'advice' in flaw ? flaw.advice : `It threw ${whatAndWhere(flaw.thrown)}.`;
    this.#unheard.warn(
      'WBP_VERIFY_BROKEN',
      () => `A delivery was refused with 401, perhaps by a mistake in verify itself. ${why}`,
    );
  }

  #warn(event: EventBody<InboxEvent>): void {
    if (event.type === 'dead') {
      this.#unheard.warn(
        'WBP_DELIVERY_DEAD',
        () => 'A delivery has failed for the last time, and is on the shelf now.',
      );
    } else if (event.type === 'store-failed') {
      // Only the words of this library: what another store says may be about a delivery.
      const [code] = /ERR_WBP_[A-Z_]+/.exec(event.error) ?? [];
      this.#unheard.warn(
        'WBP_STORE_FAILED',
        () => `The store has failed at ${event.call}${code === undefined ? '' : ` with ${code}`}.`,
      );
    }
  }

  /** A copy of the totals that does not move. */
  read(): InboxTotals {
    return { ...this.totals, refused: { ...this.totals.refused } };
  }
}
