import type { Admission, Permit, Refusal } from '@webhook-backpressure/core';

const NEVER = new AbortController().signal;

/** Entries of deliveries that have started are dropped when there are this many. */
const DROPPED = 10_000;

/**
 * A plain queue, first in, first out: no marks, no deadline, and deliveries are handled even if the sender has
 * disconnected. The middleware express-queue is such a queue; without a bound, p-limit around the handler is.
 */
export class FifoQueue {
  readonly #places: number;
  /** Its Retry-After is not used: see {@link Policy.retryAfterS}. */
  readonly #full: Refusal;
  #waiting: ((permit: Permit) => void)[] = [];
  #head = 0;
  #free: number;

  /** @param places - Infinity: the queue has no bound. */
  constructor(workers: number, places: number, status: 429 | 503) {
    this.#free = workers;
    this.#places = places;
    this.#full = { admitted: false, reason: 'full', status, retryAfterSeconds: 1, headers: {}, body: '' };
  }

  admit(): Admission | Refusal {
    if (this.#free > 0) {
      this.#free -= 1;
      return this.#admission(this.#permit());
    }
    if (this.#waiting.length - this.#head >= this.#places) return this.#full;
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
        if (this.#head === DROPPED) {
          this.#waiting = this.#waiting.slice(DROPPED);
          this.#head = 0;
        }
        next(this.#permit());
      },
    };
  }
}
