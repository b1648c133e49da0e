import type { SenderEvent, SenderTotals } from '@webhook-backpressure/core';
import { Listeners, type EventBody } from '@webhook-backpressure/core/parts';

import type { SenderMonitor } from './sender-monitor.ts';

/** The totals, writable. */
type Running = { -readonly [K in keyof SenderTotals]: number };

/** Counts events, and reports them to the listeners. */
export class SenderReport {
  readonly listeners: Listeners<SenderEvent> = new Listeners<SenderEvent>();
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
  /** Null until someone looks: the figures of windows and the alarms cost something. */
  monitor: SenderMonitor | null = null;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether anyone listens. Without listeners, events are not created where many of them happen. */
  get hasListeners(): boolean {
    return this.listeners.any;
  }

  emit(event: EventBody<SenderEvent>): void {
    if (event.type === 'store-failed') this.monitor?.moved(this.#now());
    if (this.listeners.any) this.listeners.emit(this.#now(), event);
  }

  /** A copy of the totals. */
  read(): SenderTotals {
    return { ...this.totals };
  }
}
