import type { Admission, Permit, Refusal } from '@webhook-backpressure/core';

const NEVER = new AbortController().signal;

/** The refusal of a plain queue. Its Retry-After is not used: see {@link Policy.retryAfterS}. */
const FULL: Refusal = {
  admitted: false,
  reason: 'full',
  status: 503,
  retryAfterSeconds: 1,
  headers: {},
  body: '',
};

/**
 * A plain bounded queue, first in, first out: no marks, no deadline, no Retry-After, and deliveries are handled even if
 * the sender has disconnected. The middleware express-queue is such a queue.
 */
export class FifoQueue {
  readonly #places: number;
  readonly #waiting: ((permit: Permit) => void)[] = [];
  #head = 0;
  #free: number;

  constructor(workers: number, places: number) {
    this.#free = workers;
    this.#places = places;
  }

  admit(): Admission | Refusal {
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#admission(this.#permit());
    }
    if (this.#waiting.length - this.#head >= this.#places) return FULL;
    return this.#admission(new Promise((settle) => this.#waiting.push(settle)));
  }

  /** A plain queue has no events. */
  subscribe(): () => void {
    return () => undefined;
  }

  #admission(permit: Permit | Promise<Permit>): Admission {
    return { admitted: true, permit, leave: () => undefined };
  }

  #permit(): Permit {
    let isHeld = true;
    return {
      admitted: true,
      waitedMs: 0,
      signal: NEVER,
      abort: () => undefined,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        const next = this.#waiting[this.#head];
        if (next === undefined) {
          this.#free += 1;
          return;
        }
        this.#head += 1;
        next(this.#permit());
      },
    };
  }
}
