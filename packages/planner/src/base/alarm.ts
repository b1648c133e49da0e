import type { Clock } from '@webhook-backpressure/base';

/** One timer on a clock, for the next event of the simulation. */
export class Alarm {
  /** Whether the alarm has rung since it was last set. */
  hasRung = false;
  readonly #clock: Clock;
  #timer: unknown;
  #atMs = Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Replaces the time of the alarm. Infinity: never. */
  set(atMs: number): void {
    this.hasRung = false;
    if (atMs === this.#atMs) return;
    if (this.#atMs !== Infinity) this.#clock.clearTimeout(this.#timer);
    this.#atMs = atMs;
    if (atMs !== Infinity) this.#timer = this.#clock.setTimeout(this.#ring, atMs - this.#clock.now());
  }

  readonly #ring = (): void => {
    this.hasRung = true;
    this.#atMs = Infinity;
  };
}
