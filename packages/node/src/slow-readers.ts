import type { ServerResponse } from 'node:http';

const SWEEP_MS = 1000;

/** An answer that is watched, in a chain: a Set costs several times as much for each of them. */
export interface Watched {
  readonly res: ServerResponse;
  previous: Watched | null;
  next: Watched | null;
}

/**
 * Answers that their readers do not take. The permit of a delivery is held until its answer has been sent, so whoever
 * asked for large answers and read none of them would hold all workers. One look a second at all that is being handled,
 * and a timeout of the socket, which sees every byte, only for answers that are stuck.
 */
export class SlowReaders {
  readonly #timeoutMs: number;
  #first: Watched | null = null;
  readonly #limited = new WeakSet<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs - an answer of which nothing is taken for so long is cut off. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  watch(res: ServerResponse): Watched {
    const watched = { res, previous: null, next: this.#first };
    if (this.#first !== null) this.#first.previous = watched;
    this.#first = watched;
    this.#timer ??= setInterval(this.#sweep, SWEEP_MS).unref();
    return watched;
  }

  forget(watched: Watched): void {
    if (watched.previous === null) this.#first = watched.next;
    else watched.previous.next = watched.next;
    if (watched.next !== null) watched.next.previous = watched.previous;
  }

  readonly #sweep = (): void => {
    for (let watched = this.#first; watched !== null; watched = watched.next) this.#look(watched.res);
    if (this.#first !== null) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #look(res: ServerResponse): void {
    if (res.writableLength === 0 || this.#limited.has(res)) return;
    this.#limited.add(res);
    res.setTimeout(this.#timeoutMs, () => {
      // Otherwise it is the handler that takes its time.
      if (res.writableLength > 0) res.destroy();
    });
  }
}
