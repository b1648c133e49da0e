import { systemClock, type Clock } from './clock.ts';

/** A timer that comes so late has waited for a process that stood still. */
const LATE_MS = 50;

/**
 * Things that may take so long and no longer, such as the bodies of requests. All have the same time, so the first one
 * in is the first one due, and one timer is enough.
 */
export class TimeLimit<T> {
  readonly #ms: number;
  readonly #onOver: (item: T) => void;
  readonly #clock: Clock;
  /** In the order of their ends. */
  readonly #endsAtMs = new Map<T, number>();
  #timer: unknown;
  #dueMs = 0;
  #hasWaited = false;

  /** @param onOver - called for each item whose time is over; it is no longer in here. */
  constructor(ms: number, onOver: (item: T) => void, clock: Clock = systemClock) {
    this.#ms = ms;
    this.#onOver = onOver;
    this.#clock = clock;
  }

  /** Gives the item its time, counted from now on. */
  start(item: T): void {
    this.#endsAtMs.delete(item);
    this.#endsAtMs.set(item, this.#clock.now() + this.#ms);
    this.#wake(this.#ms);
  }

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
    // What has arrived meanwhile lies in the sockets, which are read after the timers.
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
