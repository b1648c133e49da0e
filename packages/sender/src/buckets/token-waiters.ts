import { type Clock, holdTimer } from '@webhook-backpressure/base';
import type { TokenLevel } from '@webhook-backpressure/fleet';

interface Waiter {
  readonly count: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Calls that wait for the tokens of one bucket, in their order: a large one is not overtaken for ever by small ones. */
export class TokenWaiters {
  /** A set keeps its order, and an aborted waiter leaves it in constant time. */
  readonly #waiting = new Set<Waiter>();
  readonly #level: TokenLevel;
  readonly #clock: Clock;
  #timer: unknown;
  #isTimerSet = false;

  /** Tokens that the waiting calls want. */
  tokens = 0;

  constructor(level: TokenLevel, clock: Clock) {
    this.#level = level;
    this.#clock = clock;
  }

  wait(count: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = (): void => {
        this.#remove(waiter);
        waiter.reject(signal?.reason);
        this.#serve();
      };
      const waiter: Waiter = {
        count,
        resolve: () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        },
        reject: (reason) => {
          signal?.removeEventListener('abort', abort);
          // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- the caller chose the reason
          reject(reason);
        },
      };
      signal?.addEventListener('abort', abort);
      this.#waiting.add(waiter);
      this.tokens += count;
      // Only the first one has a timer.
      if (!this.#isTimerSet) this.#serve();
    });
  }

  /** @param check - throws for a count that the bucket can never hold now. */
  limitChanged(check: (count: number) => void): void {
    for (const waiter of [...this.#waiting]) {
      try {
        check(waiter.count);
      } catch (error) {
        this.#remove(waiter);
        waiter.reject(error);
      }
    }
    this.#serve();
  }

  #serve(): void {
    if (this.#isTimerSet) this.#clock.clearTimeout(this.#timer);
    this.#isTimerSet = false;
    const nowMs = this.#clock.now();
    for (const waiter of this.#waiting) {
      const waitMs = this.#level.waitMs(waiter.count, nowMs);
      if (waitMs > 0) {
        this.#isTimerSet = true;
        this.#timer = this.#clock.setTimeout(() => {
          this.#serve();
        }, waitMs);
        // The process would exit while something awaits the promise.
        holdTimer(this.#timer);
        return;
      }
      this.#level.take(waiter.count, nowMs);
      this.#remove(waiter);
      waiter.resolve();
    }
  }

  #remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.tokens -= waiter.count;
  }
}
