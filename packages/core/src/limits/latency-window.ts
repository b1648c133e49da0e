import { PercentileWindow } from '../base/percentile-window.ts';

/**
 * High, as it is the tail that a queue in the downstream lengthens first, and no higher: of exponential times the
 * 90th percentile has the smallest relative error of all that are high, the 99th has three times as much.
 */
const PERCENTILE = 0.9;
const SHORTEST_MS = 1000;
const FEWEST_SAMPLES = 50;
/** The share of failures that says more about the deliveries than about the downstream. */
const TOLERATED_FAILURES = 0.05;
/** What a new window adds to the memory of how much durations scatter. */
const SPREAD_GAIN = 0.25;

/** What a window has to say. */
export interface Reading {
  /** The 90th percentile of the handling times of successes, in milliseconds. */
  readonly ms: number;
  /** The standard error of `ms`, as a share of it. */
  readonly error: number;
  /** How many deliveries were being handled, on average over the completions. */
  readonly active: number;
}

/** Completions since it was opened: at least a second of them, and at least 50. */
export class LatencyWindow {
  readonly #times: PercentileWindow = new PercentileWindow();
  #opensAtMs: number | undefined;
  #completions = 0;
  #failures = 0;
  #activeSum = 0;
  #nextLook = FEWEST_SAMPLES;
  /**
   * The relative error of one time. Remembered from window to window: one that happens to scatter little would
   * otherwise pass for precise, be closed early, and be believed.
   */
  #spread: number | undefined;

  /** Notes a completion. Returns whether the window is long enough for something to be decided. */
  note(nowMs: number, serviceMs: number, isFailure: boolean, active: number): boolean {
    this.#opensAtMs ??= nowMs;
    if (nowMs < this.#opensAtMs) return false;
    this.#completions += 1;
    this.#activeSum += active;
    if (isFailure) this.#failures += 1;
    else this.#times.add(serviceMs);
    return nowMs - this.#opensAtMs >= SHORTEST_MS;
  }

  /** Whether more than 1 in 20 have failed. Two of the first 50 may. */
  get isFailing(): boolean {
    return this.#failures > TOLERATED_FAILURES * Math.max(this.#completions, FEWEST_SAMPLES);
  }

  /** Whether enough has come since the last look for another one. */
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

  /** Goes on collecting: the reading was not precise enough. */
  postpone(): void {
    this.#nextLook = this.#times.count + FEWEST_SAMPLES;
  }

  /** Starts anew. What ends before `atMs` is left out. */
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
