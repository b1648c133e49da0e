import { checkInteger, checkNames, checkNumber, DAY_MS, invalid, isRecord } from '@webhook-backpressure/base';
import type { Outcome } from '../delivery/events.ts';
import { AdaptiveConcurrency, type ConcurrencyRange } from './adaptive-concurrency.ts';
import { AdaptiveRate, type RateRange } from './adaptive-rate.ts';

/** The limits as the user set them: a fixed number, or a range to adapt within. */
export interface LimitSettings {
  readonly concurrency: number | ConcurrencyRange;
  readonly maxStartsPerSecond: number | RateRange | undefined;
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
    const { maxStartsPerSecond } = this.#settings;
    return typeof maxStartsPerSecond === 'object'
      ? (this.#adaptiveRate?.rate ?? maxStartsPerSecond.max)
      : maxStartsPerSecond;
  }

  /** Whether a limit is learned. */
  get isAdaptive(): boolean {
    return this.#adaptiveConcurrency !== undefined || this.#adaptiveRate !== undefined;
  }

  /** Sets new settings. A new range starts from the limit learned in the old one. */
  retune(settings: LimitSettings): void {
    const { concurrency, maxStartsPerSecond } = settings;
    const before = this.#settings;
    this.#settings = settings;
    if (typeof concurrency === 'number') this.#adaptiveConcurrency = undefined;
    else if (this.#adaptiveConcurrency === undefined)
      this.#adaptiveConcurrency = new AdaptiveConcurrency(concurrency);
    else if (concurrency !== before.concurrency) this.#adaptiveConcurrency.retune(concurrency);

    if (typeof maxStartsPerSecond !== 'object') this.#adaptiveRate = undefined;
    else if (this.#adaptiveRate === undefined) this.#adaptiveRate = new AdaptiveRate(maxStartsPerSecond);
    else if (maxStartsPerSecond !== before.maxStartsPerSecond) this.#adaptiveRate.retune(maxStartsPerSecond);
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

const MIN_RATE = 0.001;
const MAX_RATE = 1_000_000;

/** @throws BackpressureError `ERR_WBP_CONCURRENCY` */
export function concurrencyOf(given: unknown, name: string): number | ConcurrencyRange {
  const code = 'ERR_WBP_CONCURRENCY';
  if (!isRecord(given)) {
    checkInteger(code, name, given, 1);
    return given as number;
  }
  checkNames(given, name, ['initial', 'min', 'max'], code);
  const { initial, min, max } = given as unknown as ConcurrencyRange;
  checkInteger(code, `${name}.min`, min, 1);
  checkInteger(code, `${name}.initial`, initial, min, `, the value of ${name}.min`);
  checkInteger(code, `${name}.max`, max, initial, `, the value of ${name}.initial`);
  return { initial, min, max };
}

/** @throws BackpressureError `ERR_WBP_MAX_CONCURRENCY_PER_KEY` */
export function checkPerKey(given: unknown, name: string): void {
  if (typeof given === 'number' && given > 0 && (given < 1 || Number.isSafeInteger(given))) return;
  const rule = 'an integer of at least 1, or a fraction between 0 and 1';
  throw invalid('ERR_WBP_MAX_CONCURRENCY_PER_KEY', name, rule, given);
}

/** @throws BackpressureError `ERR_WBP_MAX_STARTS_PER_SECOND` */
export function maxStartsOf(given: unknown, name: string): number | RateRange {
  const code = 'ERR_WBP_MAX_STARTS_PER_SECOND';
  if (!isRecord(given)) {
    checkNumber(code, name, given, MIN_RATE, MAX_RATE, 'starts per second');
    return given as number;
  }
  checkNames(given, name, ['min', 'max', 'targetP99Ms'], code);
  const { min, max, targetP99Ms } = given as unknown as RateRange;
  checkNumber(code, `${name}.min`, min, MIN_RATE, MAX_RATE, 'starts per second');
  checkNumber(code, `${name}.max`, max, min, MAX_RATE, 'starts per second');
  checkNumber(code, `${name}.targetP99Ms`, targetP99Ms, 1, DAY_MS, 'milliseconds');
  return { min, max, targetP99Ms };
}
