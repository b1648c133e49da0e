import type { Scheduler } from '@webhook-backpressure/inbox/store';

const LIMIT_MS = 10_000;

/** Ends calls that take longer than 10 s. All have the same limit, so the first to begin is the first to end. */
export class CallLimit {
  readonly #scheduler: Scheduler;
  readonly #calls = new Map<() => void, number>();
  readonly #task;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    this.#task = scheduler.task(this.#expire);
  }

  /** @param end - called once, unless {@link stop} is called before. */
  start(end: () => void): void {
    const endsAtMs = this.#scheduler.nowMs + LIMIT_MS;
    this.#calls.set(end, endsAtMs);
    if (this.#calls.size === 1) this.#task.set(endsAtMs);
  }

  stop(end: () => void): void {
    if (this.#calls.delete(end) && this.#calls.size === 0) this.#task.clear();
  }

  readonly #expire = (): void => {
    for (const [end, endsAtMs] of this.#calls) {
      if (endsAtMs > this.#scheduler.nowMs) {
        this.#task.set(endsAtMs);
        return;
      }
      this.#calls.delete(end);
      end();
    }
  };
}
