import { holdTimer, type Clock } from './clock.ts';

/** A timer this late may be lost: some runtimes drop a timer together with the request that set it. */
const LOST_MS = 100;

/** One timer, set at most once at a time, and anew when it seems lost. */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: (dueMs: number) => void;
  #handle: unknown;
  #ringsAtMs = Infinity;
  /** The same, as it was before the timer seemed lost. */
  #dueMs = Infinity;

  /** @param ring - called with the time for which it was set. */
  constructor(clock: Clock, ring: (dueMs: number) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings in `ms`, unless it is set already. */
  set(nowMs: number, ms: number): void {
    let delayMs = ms;
    let dueMs = nowMs + ms;
    if (this.#ringsAtMs !== Infinity) {
      if (nowMs <= this.#ringsAtMs + LOST_MS) return;
      dueMs = this.#dueMs;
      this.clear();
      // At once: in a process that is merely late the new timer must not postpone the old one again and again.
      delayMs = 0;
    }
    this.#ringsAtMs = nowMs + delayMs;
    this.#dueMs = dueMs;
    this.#handle = this.#clock.setTimeout(this.#fire, delayMs);
  }

  /** Keeps the process alive until it rings: somebody waits for it who may have nothing else that does. */
  hold(): void {
    holdTimer(this.#handle);
  }

  get isSet(): boolean {
    return this.#ringsAtMs !== Infinity;
  }

  /** How much later it is than it should have rung; 0 when it is not set. */
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
