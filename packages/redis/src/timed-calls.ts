import type { Clock } from '@webhook-backpressure/base';

/** How a call ended: `late` if there was no reply in time. */
export type Reply<T> =
  | { readonly kind: 'answered'; readonly value: T; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'late' };

/** Calls that all have the same time to be answered. */
export class TimedCalls {
  readonly #limitMs: number;
  readonly #clock: Clock;
  readonly #now: () => number;
  /** Gives up the calls that are waiting. */
  readonly #waiting = new Set<() => void>();

  constructor(limitMs: number, clock: Clock, now: () => number) {
    this.#limitMs = limitMs;
    this.#clock = clock;
    this.#now = now;
  }

  /** @param answeredLate - receives the value of a call that was given up. */
  run<T>(start: () => Promise<T>, answeredLate: (value: T) => void): Promise<Reply<T>> {
    return new Promise((resolve) => {
      const sentAtMs = this.#now();
      const giveUp = (): void => {
        ended();
        resolve({ kind: 'late' });
      };
      const timer = this.#clock.setTimeout(giveUp, this.#limitMs);
      this.#waiting.add(giveUp);
      /** Returns whether the call was still waiting. */
      const ended = (): boolean => {
        this.#clock.clearTimeout(timer);
        return this.#waiting.delete(giveUp);
      };
      start().then(
        (value) => {
          if (ended()) resolve({ kind: 'answered', value, tookMs: this.#now() - sentAtMs });
          else answeredLate(value);
        },
        (error: unknown) => {
          ended();
          // Without effect for a call that was given up.
          resolve({ kind: 'failed', error });
        },
      );
    });
  }

  close(): void {
    for (const giveUp of this.#waiting) giveUp();
  }
}
