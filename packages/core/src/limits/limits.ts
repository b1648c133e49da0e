import { AdaptiveConcurrency } from './adaptive-concurrency.ts';
import type { ConcurrencyRange } from './limit-range.ts';
import { AdaptiveRate, type RateRange } from './adaptive-rate.ts';
import type { Outcome } from '../delivery/events.ts';

/** The limits as the user set them: a number, or a range in which to learn. */
export interface LimitSettings {
  readonly concurrency: number | ConcurrencyRange;
  readonly drainRate: number | RateRange | undefined;
}

/** How many deliveries may be handled at once, and how many may start per second: set, or learned. */
export class Limits {
  #settings: LimitSettings;
  #adaptiveConcurrency: AdaptiveConcurrency | undefined;
  #adaptiveRate: AdaptiveRate | undefined;

  constructor(settings: LimitSettings) {
    this.#settings = settings;
    this.retune(settings);
  }

  get concurrency(): number {
    const { concurrency } = this.#settings;
    return typeof concurrency === 'number'
      ? concurrency
      : (this.#adaptiveConcurrency?.limit ?? concurrency.initial);
  }

  /** The largest concurrency that may be learned; the same where it is set. */
  get mostConcurrency(): number {
    const { concurrency } = this.#settings;
    return typeof concurrency === 'number' ? concurrency : concurrency.max;
  }

  /** Starts per second, or undefined for no such limit. */
  get rate(): number | undefined {
    const { drainRate } = this.#settings;
    return typeof drainRate === 'object' ? (this.#adaptiveRate?.rate ?? drainRate.max) : drainRate;
  }

  /** Takes new settings. What was learned in one range is a good place to begin in another. */
  retune(settings: LimitSettings): void {
    const { concurrency, drainRate } = settings;
    const before = this.#settings;
    this.#settings = settings;
    if (typeof concurrency === 'number') this.#adaptiveConcurrency = undefined;
    else if (this.#adaptiveConcurrency === undefined)
      this.#adaptiveConcurrency = new AdaptiveConcurrency(concurrency);
    else if (concurrency !== before.concurrency) this.#adaptiveConcurrency.retune(concurrency);

    if (typeof drainRate !== 'object') this.#adaptiveRate = undefined;
    else if (this.#adaptiveRate === undefined) this.#adaptiveRate = new AdaptiveRate(drainRate);
    else if (drainRate !== before.drainRate) this.#adaptiveRate.retune(drainRate);
  }

  /**
   * Learns from a delivery whose handling has ended.
   *
   * @param active - how many were being handled until then, this one counted.
   * @returns whether a limit has changed.
   */
  observe(nowMs: number, tookMs: number, outcome: Outcome, active: number): boolean {
    const hasOne = this.#adaptiveConcurrency?.observe(nowMs, tookMs, outcome === 'failure', active) === true;
    const hasOther = this.#adaptiveRate?.observe(nowMs, tookMs) === true;
    return hasOne || hasOther;
  }
}

/**
 * How many workers one key may have: the option `maxConcurrencyPerKey`, where it is a fraction that of the workers, and
 * at least one.
 */
export function workersPerKey(
  { maxConcurrencyPerKey: most }: { readonly maxConcurrencyPerKey: number | undefined },
  concurrency: number,
): number {
  if (most === undefined) return Infinity;
  return most < 1 ? Math.max(1, Math.floor(most * concurrency)) : most;
}
