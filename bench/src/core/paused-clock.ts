import type { Clock } from '@webhook-backpressure/base';

/** So little that a million deliveries end before a timer that cannot fire meanwhile counts as lost, after 100 ms. */
const STEP_MS = 0.00002;

/**
 * A clock that stands still except between {@link go} and {@link pause}, and goes on evenly there, from one reading to the
 * next. A reading costs what one of the runtime's clock costs. On that clock itself, a collection during one delivery
 * would make its key a slow one and change whose turn it is.
 */
export class PausedClock implements Clock {
  #nowMs = 0;
  #stepMs = 0;

  go(): void {
    this.#stepMs = STEP_MS;
  }

  pause(): void {
    this.#stepMs = 0;
  }

  now(): number {
    performance.now();
    this.#nowMs += this.#stepMs;
    return this.#nowMs;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    return setTimeout(callback, ms).unref();
  }

  clearTimeout(handle: unknown): void {
    clearTimeout(handle as NodeJS.Timeout);
  }
}
