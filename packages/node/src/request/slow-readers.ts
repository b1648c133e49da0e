import type { ServerResponse } from 'node:http';
import { boundToThisContext, type Handling } from '@webhook-backpressure/core';

const SWEEP_MS = 1000;
/** An answer of which nothing has been taken for so long is cut off. */
const CUT_MS = 60_000;

/** An answer that is watched, in a chain: a Set costs several times as much for each of them. */
export interface Watched {
  readonly handling: Handling;
  readonly res: ServerResponse;
  /** Since when all of it waits for its reader; -1 while it does not. */
  stuckSinceMs: number;
  previous: Watched | null;
  next: Watched | null;
}

/**
 * Answers that their readers do not take. The permit of a delivery is held until its answer has been sent, so whoever
 * asked for large answers and read none of them would hold all workers. An answer that its handler has ended, and that
 * has not gone out after a while, holds no permit any more. It is cut off only when nothing of it is taken for a minute:
 * a slow reader that goes on reading is seen to do so every few seconds only.
 */
export class SlowReaders {
  readonly #timeoutMs: number;
  readonly #every: (action: () => void) => NodeJS.Timeout;
  #first: Watched | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs - for how long an ended answer may hold its permit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    // Set in a request, the timer would keep the async context of that request for as long as there is traffic.
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
    for (let watched = this.#first; watched !== null; watched = watched.next) this.#look(watched, now);
    if (this.#first !== null) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #look(watched: Watched, now: number): void {
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
