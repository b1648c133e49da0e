import type { Clock } from '@webhook-backpressure/base';

/** How far apart samples are, in milliseconds. */
const SECOND_MS = 1000;

interface DenoRuntime {
  readonly Deno?: { unrefTimer?: (id: number) => void };
}

/**
 * Calls `action` once a second until it is stopped. After a block of the event loop the missed calls are left out. Does
 * not keep the process alive.
 */
export class EverySecond {
  readonly #clock: Clock;
  readonly #action: () => void;
  #nextMs: number;
  #timer: unknown;
  #isStopped = false;

  constructor(clock: Clock, action: () => void) {
    this.#clock = clock;
    this.#action = action;
    this.#nextMs = clock.now();
    this.#schedule();
  }

  stop(): void {
    this.#isStopped = true;
    this.#clock.clearTimeout(this.#timer);
  }

  #schedule(): void {
    const nowMs = this.#clock.now();
    this.#nextMs += SECOND_MS;
    if (this.#nextMs <= nowMs || this.#nextMs > nowMs + SECOND_MS) this.#nextMs = nowMs + SECOND_MS;
    this.#timer = this.#clock.setTimeout(() => {
      if (this.#isStopped) return;
      this.#schedule();
      this.#action();
    }, this.#nextMs - nowMs);
    // Deno's timers are numbers, which have no `unref`.
    const { Deno } = globalThis as DenoRuntime;
    if (typeof this.#timer === 'number') Deno?.unrefTimer?.(this.#timer);
  }
}
