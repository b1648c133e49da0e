import type { Clock } from '@webhook-backpressure/core';

/** The runtime's clock, standing still but between {@link go} and {@link pause}: what runs meanwhile would seem to take seconds. */
export class PausedClock implements Clock {
  #readMs = 0;
  #wentAtMs: number | undefined;

  go(): void {
    this.#wentAtMs ??= performance.now();
  }

  pause(): void {
    this.#readMs = this.now();
    this.#wentAtMs = undefined;
  }

  now(): number {
    return this.#readMs + (this.#wentAtMs === undefined ? 0 : performance.now() - this.#wentAtMs);
  }

  setTimeout(callback: () => void, ms: number): unknown {
    return setTimeout(callback, ms).unref();
  }

  clearTimeout(handle: unknown): void {
    clearTimeout(handle as NodeJS.Timeout);
  }
}
