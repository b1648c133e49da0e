import type { Scheduler, Task } from '../time/scheduler.ts';

/** A transaction that calls the store last is usually committed within milliseconds. */
const FIRST_MS = 10;
/** Later commits are found by what looks for deliveries of other processes. */
const LAST_MS = 5000;

/**
 * Looks again and again, ever later, for what a transaction of the application stores: nothing reports when it is
 * committed, or whether it is.
 */
export class CommitWatch<K> {
  readonly #scheduler: Scheduler;
  readonly #look: (key: K) => void;
  readonly #task: Task;
  /** The delay before the next look for each key, and its time. */
  readonly #expected = new Map<K, { delayMs: number; atMs: number }>();

  /** @param look - called with a key for which something may have been committed. */
  constructor(scheduler: Scheduler, look: (key: K) => void) {
    this.#scheduler = scheduler;
    this.#look = look;
    this.#task = scheduler.task(() => {
      this.#run();
    });
  }

  /** A transaction that is open has stored something. */
  expect(key: K): void {
    this.#expected.set(key, { delayMs: FIRST_MS, atMs: this.#scheduler.nowMs + FIRST_MS });
    this.#plan();
  }

  #run(): void {
    const { nowMs } = this.#scheduler;
    for (const [key, one] of [...this.#expected]) {
      if (one.atMs > nowMs) continue;
      one.delayMs *= 2;
      one.atMs = nowMs + one.delayMs;
      if (one.delayMs > LAST_MS) this.#expected.delete(key);
      this.#look(key);
    }
    this.#plan();
  }

  #plan(): void {
    let next = Infinity;
    for (const { atMs } of this.#expected.values()) next = Math.min(next, atMs);
    if (next < Infinity) this.#task.set(next);
  }
}
