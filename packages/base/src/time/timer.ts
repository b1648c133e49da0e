import { holdTimer, type Clock } from './clock.ts';

/** A timer this late may be lost: some runtimes drop a timer when the request that set it ends. */
const LOST_MS = 100;

/** One timer, set at most once at a time and replaced when it seems lost. */
export class Timer {
  readonly #clock: Clock;
  readonly #ring: (dueMs: number) => void;
  #handle: unknown;
  #ringsAtMs = Infinity;
  /** The time it was originally set for: unlike `#ringsAtMs`, not changed when a lost timer is replaced. */
  #dueMs = Infinity;

  /** @param ring - called with the time the timer was set for. */
  constructor(clock: Clock, ring: (dueMs: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings in `ms`, unless the timer is already set. */
  set(nowMs: number, ms: number): void {
    let delayMs = ms;
    let dueMs = nowMs + ms;
    if (this.#ringsAtMs !== Infinity) {
      if (nowMs <= this.#ringsAtMs + LOST_MS) return;
      dueMs = this.#dueMs;
      this.clear();
      // No delay: if the process is merely late, replacing the timer must not postpone it again and again.
      delayMs = 0;
    }
    this.#ringsAtMs = nowMs + delayMs;
    this.#dueMs = dueMs;
    this.#handle = this.#clock.setTimeout(this.#fire, delayMs);
  }

  /** Keeps the process alive until the timer rings, for a caller that waits for nothing else. */
  hold(): void {
    holdTimer(this.#handle);
  }

  get isSet(): boolean {
    return this.#ringsAtMs !== Infinity;
  }

  /** How long the timer is overdue, in milliseconds; 0 if it is not set. */
  lateMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#dueMs);
  }

  clear(): void {
    if (this.#ringsAtMs === Infinity) return;
    this.#clock.clearTimeout(this.#handle);
    this.#handle = undefined;
    this.#ringsAtMs = this.#dueMs = Infinity;
  }

  readonly #fire = (): void => {
    const dueMs = this.#dueMs;
    this.#handle = undefined;
    this.#ringsAtMs = this.#dueMs = Infinity;
    this.#ring(dueMs);
  };
}
