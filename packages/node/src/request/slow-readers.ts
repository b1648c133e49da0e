import type { ServerResponse } from 'node:http';
import { boundToThisContext } from '@webhook-backpressure/base';
import type { Handling } from '@webhook-backpressure/core/middleware';

const SWEEP_MS = 1000;
/** An answer of which the reader takes nothing for this long is cut off. */
const CUT_MS = 60_000;

/** A watched answer in a linked list. A Set would cost several times as much for each answer. */
export interface Watched {
  readonly handling: Handling;
  readonly res: ServerResponse;
  /** Since when the ended answer has been waiting for its reader; -1 while it is not. */
  stuckSinceMs: number;
  previous: Watched | null;
  next: Watched | null;
}

/**
 * Releases the permits of answers that are not read. A permit is held until the answer has been sent, so a sender that
 * asks for large answers and reads none of them would hold all workers. An answer that has ended and has not been sent
 * after the timeout holds no permit any more. It is cut off only after a minute in which nothing of it is taken: a slow
 * reader takes something every few seconds.
 */
export class SlowReaders {
  readonly #timeoutMs: number;
  readonly #every: (action: () => void) => NodeJS.Timeout;
  #first: Watched | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs - how long an ended answer may hold its permit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    // A timer that is set in a request would keep the async context of that request while there is traffic.
    this.#every = boundToThisContext((action) => setInterval(action, SWEEP_MS).unref());
  }

  watch(handling: Handling, res: ServerResponse): Watched {
    const watched: Watched = { handling, res, stuckSinceMs: -1, previous: null, next: this.#first };
    if (this.#first !== null) this.#first.previous = watched;
    this.#first = watched;
    this.#timer ??= this.#every(this.#sweep);
    return watched;
  }

  forget(watched: Watched): void {
    if (watched.previous === null) this.#first = watched.next;
    else watched.previous.next = watched.next;
    if (watched.next !== null) watched.next.previous = watched.previous;
  }

  readonly #sweep = (): void => {
    const now = performance.now();
    for (let watched = this.#first; watched !== null; watched = watched.next) this.#check(watched, now);
    if (this.#first !== null) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #check(watched: Watched, now: number): void {
    const { res, handling } = watched;
    if (handling.isAnswered || !res.writableEnded || res.writableLength === 0) return;
    if (watched.stuckSinceMs < 0) watched.stuckSinceMs = now;
    if (now - watched.stuckSinceMs < this.#timeoutMs - SWEEP_MS) return;
    handling.endResponse('success');
    if (!handling.isFollowed) handling.endHandler();
    res.setTimeout(CUT_MS, () => {
      if (res.writableLength > 0) res.destroy();
    });
  }
}
