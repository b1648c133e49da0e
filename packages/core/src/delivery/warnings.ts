import type { Listeners, WarningCode } from './events.ts';

/** Where a warning is shown beside the event: the adapters have a place for it. */
export type Warn = (code: WarningCode, message: string) => void;

/** Warns of each thing once in the life of an intake, since nobody reads the hundredth. */
export class Warnings {
  readonly #listeners: Listeners;
  readonly #show: Warn | undefined;
  readonly #given = new Set<WarningCode>();

  constructor(listeners: Listeners, show: Warn | undefined) {
    this.#listeners = listeners;
    this.#show = show;
  }

  /** A delivery of a sender that never retries has arrived. */
  ofLoss(key: string, now: number): void {
    this.#give(
      'WBP_NEVER_RETRIES',
      now,
      () =>
        `The sender of ${JSON.stringify(key)} never retries: a delivery of it that is refused, or waits too long, is ` +
        'lost. Take such senders into an inbox, which stores what it acknowledges.',
    );
  }

  /** Shedding has begun: looks whether the queue lasts until the retries are back. */
  ofLowWater(low: number, capacity: number, drainRate: number | null, now: number): void {
    // With a capacity of 1 there is no other mark, and nothing to raise.
    if (drainRate === null || low >= drainRate || capacity === 1) return;
    this.#give(
      'WBP_LOW_WATER',
      now,
      () =>
        `The low-water mark of ${String(low)} deliveries is drained in less than a second, at ${drainRate.toFixed(0)}/s: ` +
        'the queue may run empty before retries arrive. Raise capacity, maxWaitMs or lowWaterMark.',
    );
  }

  #give(code: WarningCode, now: number, sentence: () => string): void {
    if (this.#given.has(code)) return;
    this.#given.add(code);
    const message = sentence();
    this.#show?.(code, message);
    this.#listeners.emit(now, { type: 'warning', code, message });
  }
}
