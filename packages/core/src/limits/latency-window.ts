import { PercentileWindow } from '../base/percentile-window.ts';

/**
 * A high percentile, since a queue in the downstream lengthens the tail first. Not higher: for exponential times, the
 * relative error of the 99th percentile is three times that of the 90th.
 */
const PERCENTILE = 0.9;
const SHORTEST_MS = 1000;
const FEWEST_SAMPLES = 50;
/** Up to this share, failures say more about the deliveries than about the downstream. */
const TOLERATED_FAILURES = 0.05;
/** The weight of a new window in the remembered spread of durations. */
const SPREAD_GAIN = 0.25;

/** The result of a window. */
export interface Reading {
  /** The 90th percentile of the successes' handling times, in milliseconds. */
  readonly ms: number;
  /** The relative standard error of `ms`. */
  readonly error: number;
  /** The average number of deliveries in service, over the completions. */
  readonly active: number;
}

/** The completions since the window was opened: at least one second of them, and at least 50. */
export class LatencyWindow {
  readonly #times: PercentileWindow = new PercentileWindow();
  #opensAtMs: number | undefined;
  #completions = 0;
  #failures = 0;
  #activeSum = 0;
  #nextLook = FEWEST_SAMPLES;
  /**
   * The relative error of one time, remembered from window to window. Otherwise a window with little spread by chance
   * would seem precise and be closed early.
   */
  #spread: number | undefined;

  /** Notes a completion. Returns whether the window is long enough for a decision. */
  note(nowMs: number, serviceMs: number, isFailure: boolean, active: number): boolean {
    this.#opensAtMs ??= nowMs;
    if (nowMs < this.#opensAtMs) return false;
    this.#completions += 1;
    this.#activeSum += active;
    if (isFailure) this.#failures += 1;
    else this.#times.add(serviceMs);
    return nowMs - this.#opensAtMs >= SHORTEST_MS;
  }

  /** Whether more than 1 in 20 have failed. Two of the first 50 may fail. */
  get isFailing(): boolean {
    return this.#failures > TOLERATED_FAILURES * Math.max(this.#completions, FEWEST_SAMPLES);
  }

  /** Whether enough completions have been noted for a reading. */
  get isDue(): boolean {
    return this.#times.count >= this.#nextLook;
  }

  ageMs(nowMs: number): number {
    return nowMs - (this.#opensAtMs ?? nowMs);
  }

  read(): Reading {
    const spread = (this.#spread ??= this.#times.spread(PERCENTILE));
    return {
      ms: this.#times.percentile(PERCENTILE),
      error: spread / Math.sqrt(this.#times.count),
      active: this.#activeSum / this.#completions,
    };
  }

  /** Keeps the window open, because the reading was not precise enough. */
  postpone(): void {
    this.#nextLook = this.#times.count + FEWEST_SAMPLES;
  }

  /** Starts a new window. Completions before `atMs` are ignored. */
  reopen(atMs: number): void {
    if (this.#spread !== undefined && this.#times.count >= FEWEST_SAMPLES) {
      this.#spread += SPREAD_GAIN * (this.#times.spread(PERCENTILE) - this.#spread);
    }
    this.#opensAtMs = atMs;
    this.#completions = this.#failures = this.#activeSum = 0;
    this.#nextLook = FEWEST_SAMPLES;
    this.#times.clear();
  }
}
