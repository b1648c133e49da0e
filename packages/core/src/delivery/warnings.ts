import type { Listeners, WarningCode } from './events.ts';

/** Shows a warning, in addition to the event. Adapters print it. */
export type Warn = (code: WarningCode, message: string) => void;

/** Gives each warning once in the life of an intake. */
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
        `The sender of ${JSON.stringify(key)} never retries: its deliveries are lost if they are refused or wait too long. ` +
        'Use an inbox for such senders: it stores deliveries before it acknowledges them.',
    );
  }

  /** Shedding has begun: checks whether the queue lasts until retries arrive. */
  ofLowWater(low: number, capacity: number, drainRate: number | null, now: number): void {
    // With a capacity of 1 there is no other mark.
    if (drainRate === null || low >= drainRate || capacity === 1) return;
    this.#give(
      'WBP_LOW_WATER',
      now,
      () =>
        `The low-water mark of ${String(low)} deliveries is drained in less than a second, at ${drainRate.toFixed(0)}/s: ` +
        'the queue may run empty before retries arrive. Raise capacity, maxWaitMs or lowWaterMark.',
    );
  }

  /** A delivery is refused while another key, with slower handlers, has all workers. */
  ofSlowKey(now: number): void {
    this.#give(
      'WBP_SLOW_KEY',
      now,
      () =>
        'Deliveries are refused while all workers handle those of another key, whose handlers take at least twice as long. ' +
        'Set maxConcurrencyPerKey, so that no key can have all workers.',
    );
  }

  /** Members of a fleet have different limits. */
  ofFleetLimits(resource: string, now: number): void {
    this.#give(
      'WBP_FLEET_LIMITS',
      now,
      () =>
        `Members of the fleet ${JSON.stringify(resource)} have different values of concurrency or drainRate. ` +
        'The smallest applies to all. Expected during a deployment that changes them.',
    );
  }

  /** A fleet has more members than deliveries that it may handle concurrently. */
  ofFleetSize(resource: string, members: number, concurrency: number, now: number): void {
    this.#give(
      'WBP_FLEET_SIZE',
      now,
      () =>
        `The fleet ${JSON.stringify(resource)} has ${String(members)} members and a concurrency of ` +
        `${String(concurrency)}. Each handles one delivery, which is more together. Use fewer members.`,
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
