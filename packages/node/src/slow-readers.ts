import type { ServerResponse } from 'node:http';

const SWEEP_MS = 1000;

/**
 * Answers that their readers do not take. The permit of a delivery is held until its answer has been sent, so whoever
 * asked for large answers and read none of them would hold all workers. One look a second at all that is being handled,
 * and a timeout of the socket, which sees every byte, only for answers that are stuck.
 */
export class SlowReaders {
  readonly #timeoutMs: number;
  readonly #open = new Set<ServerResponse>();
  readonly #limited = new WeakSet<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs - an answer of which nothing is taken for so long is cut off. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  watch(res: ServerResponse): void {
    this.#open.add(res);
    this.#timer ??= setInterval(this.#sweep, SWEEP_MS).unref();
  }

  forget(res: ServerResponse): void {
    this.#open.delete(res);
  }

  readonly #sweep = (): void => {
    for (const res of this.#open) this.#look(res);
    if (this.#open.size > 0) return;
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
