import { AdaptiveConcurrency, type ConcurrencyRange } from './adaptive-concurrency.ts';
import { AdaptiveRate, type RateRange } from './adaptive-rate.ts';
import type { Outcome } from '../delivery/events.ts';

/** The limits as the user set them: a fixed number, or a range to adapt within. */
export interface LimitSettings {
  readonly concurrency: number | ConcurrencyRange;
  readonly drainRate: number | RateRange | undefined;
}

/** The current limits, fixed or adaptive: concurrent deliveries, and starts per second. */
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

  /** The largest concurrency: `max` of the range, or the fixed number. */
  get mostConcurrency(): number {
    const { concurrency } = this.#settings;
    return typeof concurrency === 'number' ? concurrency : concurrency.max;
  }

  /** Starts per second; undefined without a limit. */
  get rate(): number | undefined {
    const { drainRate } = this.#settings;
    return typeof drainRate === 'object' ? (this.#adaptiveRate?.rate ?? drainRate.max) : drainRate;
  }

  /** Whether a limit is learned. */
  get isAdaptive(): boolean {
    return this.#adaptiveConcurrency !== undefined || this.#adaptiveRate !== undefined;
  }

  /** Sets new settings. A new range starts from the limit learned in the old one. */
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
   * Learns from a finished delivery.
   *
   * @param active - the number of deliveries that were in service, including this one.
   * @returns whether a limit has changed.
   */
  observe(nowMs: number, tookMs: number, outcome: Outcome, active: number): boolean {
    const hasOne = this.#adaptiveConcurrency?.observe(nowMs, tookMs, outcome === 'failure', active) === true;
    const hasOther = this.#adaptiveRate?.observe(nowMs, tookMs) === true;
    return hasOne || hasOther;
  }
}

/**
 * The maximum number of workers for one key, from `maxConcurrencyPerKey`. A fraction is taken of all workers, and gives
 * at least one.
 */
export function workersPerKey(
  { maxConcurrencyPerKey: most }: { readonly maxConcurrencyPerKey: number | undefined },
  concurrency: number,
): number {
  if (most === undefined) return Infinity;
  return most < 1 ? Math.max(1, Math.floor(most * concurrency)) : most;
}
