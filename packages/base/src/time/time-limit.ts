import { systemClock, type Clock } from './clock.ts';

/** A timer this late was delayed by a blocked process. */
const LATE_MS = 50;

/**
 * One time limit for many items, such as request bodies. All items have the same limit, so the first item in is the
 * first one due and one timer is enough.
 */
export class TimeLimit<T> {
  readonly #ms: number;
  readonly #onOver: (item: T) => void;
  readonly #clock: Clock;
  /** Ordered by end. */
  readonly #endsAtMs = new Map<T, number>();
  #timer: unknown;
  #dueMs = 0;
  #hasWaited = false;

  /** @param onOver - called for each item whose time is over, after the item has been removed. */
  constructor(ms: number, onOver: (item: T) => void, clock: Clock = systemClock) {
    this.#ms = ms;
    this.#onOver = onOver;
    this.#clock = clock;
  }

  /** Starts or restarts the item's time. */
  start(item: T): void {
    this.#endsAtMs.delete(item);
    this.#endsAtMs.set(item, this.#clock.now() + this.#ms);
    this.#wake(this.#ms);
  }

  /** Ends the item's time without calling `onOver`. */
  stop(item: T): void {
    if (!this.#endsAtMs.delete(item) || this.#endsAtMs.size > 0) return;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wake(ms: number): void {
    if (this.#timer !== undefined) return;
    this.#dueMs = this.#clock.now() + ms;
    this.#timer = this.#clock.setTimeout(this.#sweep, Math.ceil(ms));
  }

  readonly #sweep = (): void => {
    this.#timer = undefined;
    const now = this.#clock.now();
    // Data that arrived while the process was blocked is still in the sockets, which are read after the timers.
    this.#hasWaited = !this.#hasWaited && now - this.#dueMs > LATE_MS;
    if (this.#hasWaited) {
      this.#wake(1);
      return;
    }
    for (const [item, endsAtMs] of this.#endsAtMs) {
      if (endsAtMs > now) {
        this.#wake(endsAtMs - now);
        return;
      }
      this.#endsAtMs.delete(item);
      this.#onOver(item);
    }
  };
}
