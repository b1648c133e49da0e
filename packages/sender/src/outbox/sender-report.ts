import type { OutboxEvent, OutboxMonitor, OutboxTotals } from '@webhook-backpressure/observe';
import { type EventBody, Listeners } from '@webhook-backpressure/core/extend';
import { ProcessWarnings, withCode } from '@webhook-backpressure/inbox/store';

/** The totals, writable. */
type Running = { -readonly [K in keyof OutboxTotals]: number };

/** Counts events, and reports them to the listeners. */
export class OutboxReport {
  readonly listeners: Listeners<OutboxEvent> = new Listeners<OutboxEvent>();
  readonly totals: Running = {
    accepted: 0,
    duplicate: 0,
    conflict: 0,
    refused: 0,
    attempts: 0,
    delivered: 0,
    limited: 0,
    failed: 0,
    timedOut: 0,
    dead: 0,
    discarded: 0,
    batches: 0,
    lost: 0,
    clampedRetryAfter: 0,
    disabled: 0,
    endpointFailures: 0,
    storeFailures: 0,
  };
  /** Null until the sender is observed. */
  monitor: OutboxMonitor | null = null;
  readonly #now: () => number;
  readonly #warnings: ProcessWarnings = ProcessWarnings.ofSender(() => this.listeners.anyReporting);

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Where many events happen, ask `listeners.any` before you create one. */
  emit(event: EventBody<OutboxEvent>): void {
    if (event.type === 'store-failed') this.monitor?.moved(this.#now());
    if (this.listeners.any) this.listeners.emit(this.#now(), event);
    if (!this.listeners.anyReporting) this.#warn(event);
  }

  /** Errors are left out: they may quote a URL or a secret. */
  #warn(event: EventBody<OutboxEvent>): void {
    if (event.type === 'dead') {
      const { status } = event;
      const why = status === undefined ? '' : ` The answer was HTTP ${String(status)}.`;
      this.#warnings.warn('WBP_EVENT_DEAD', () => `An event is in the dead-letter queue.${why}`);
    } else if (event.type === 'endpoint-failed') {
      this.#warnings.warn(
        'WBP_ENDPOINT_FAILED',
        () => `The function endpoint() failed, or returned invalid settings${ownMessage(event.error)}.`,
      );
    } else if (event.type === 'store-failed') this.#warnings.storeFailed(event.call, event.error);
    else if (event.type === 'store-warning') this.#warnings.warn(event.code, () => event.message);
  }
}

/** A check of this package quotes no value. An error that the function has thrown may quote a URL or a secret. */
const OWN = /^[a-z][\w.]* (?:must|cannot) .*\(ERR_WBP_ENDPOINT_[A-Z]+, see /;

function ownMessage(error: string): string {
  return OWN.test(error) ? `: ${error}` : withCode(error);
}
