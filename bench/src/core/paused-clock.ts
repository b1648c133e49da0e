import type { Clock } from '@webhook-backpressure/core';

/** The runtime's clock, without the time before {@link PausedClock.go}: what runs meanwhile would seem to take seconds. */
export class PausedClock implements Clock {
  #pausedMs = Infinity;

  go(): void {
    this.#pausedMs = performance.now();
  }

  now(): number {
    return Math.max(0, performance.now() - this.#pausedMs);
  }

  setTimeout(callback: () => void, ms: number): unknown {
    return setTimeout(callback, ms).unref();
  }

  clearTimeout(handle: unknown): void {
    clearTimeout(handle as NodeJS.Timeout);
  }
}
