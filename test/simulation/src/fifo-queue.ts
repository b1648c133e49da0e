import type { Admission, Permit, Refusal } from '@webhook-backpressure/core';

/** Nobody aborts it. */
const NEVER = new AbortController().signal;

/** What a queue that knows nothing of senders answers. Nothing is told: see {@link Policy.toldS}. */
const FULL: Refusal = {
  admitted: false,
  reason: 'full',
  status: 503,
  retryAfterSeconds: 1,
  headers: {},
  body: '',
};

/**
 * A bounded queue, first in, first out, and nothing else: no marks, no deadline, no Retry-After, and who has hung up
 * is handled all the same. The middleware express-queue is such a queue.
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

  /** It has nothing to report. */
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
