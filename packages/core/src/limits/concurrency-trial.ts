import type { Reading } from './latency-window.ts';

/** The trial's limit as a share of the limit; wider in first trials and in incidents. */
const SHARE = 0.8;
const WIDE_SHARE = 0.7;
/** With more than this share of deliveries still in service, a trial shows nothing. */
const UNTRIED_SHARE = 0.95;
/** The relative standard errors that the readings of a trial need. */
const ERROR = 0.045;
const FIRST_ERROR = 0.06;
/**
 * The latency follows the number in service with a power of about 1 above the knee and 0 below it, so the bound is half
 * way between. First trials use a lower bound, as a queue that they miss is taken for normal.
 */
const POWER = 0.5;
const FIRST_POWER = 0.4;

/**
 * - `first`: is there a queue? Nothing is known yet.
 * - `usual`: is the baseline still correct?
 * - `incident`: does a lower limit help? The latency is far above the baseline.
 */
export type TrialKind = 'first' | 'usual' | 'incident';

/** A lower limit for one window, to test whether our own load causes the latency. */
export class ConcurrencyTrial {
  readonly kind: TrialKind;
  /** The limit to restore if the trial does not help. */
  readonly from: number;
  /** The limit during the trial, not yet within bounds. */
  readonly limit: number;
  readonly #before: Reading;

  constructor(kind: TrialKind, from: number, before: Reading) {
    this.kind = kind;
    this.from = from;
    this.limit = Math.min(from - 1, Math.round(from * (kind === 'usual' ? SHARE : WIDE_SHARE)));
    this.#before = before;
  }

  /** Whether `limit` would reduce the number in service. */
  isFeltAt(limit: number): boolean {
    return limit < UNTRIED_SHARE * this.#before.active;
  }

  /** Whether the latency fell with the number in service, so that there was a queue. */
  isHelped({ ms, error, active }: Reading, baselineMs: number): boolean {
    const before = this.#before;
    const share = active / before.active;
    if (share >= UNTRIED_SHARE) return false;
    const followed = share ** (this.kind === 'first' ? FIRST_POWER : POWER);
    if (this.kind !== 'incident') return ms < Math.min(before.ms, baselineMs) * followed;
    // In an incident a false positive costs more than a missed chance, which the next trial makes up for: so the fall
    // must exceed chance.
    return ms < before.ms * Math.min(followed, 1 - 2 * Math.hypot(error, before.error));
  }
}

/** The maximum relative standard error of the readings before and in a trial. */
export function neededTrialError(isProven: boolean): number {
  return isProven ? ERROR : FIRST_ERROR;
}

/** Windows between trials: initially, at most, and at most while the baseline is imprecise. */
const FIRST_EVERY = 3;
const EVERY = 24;
const VAGUE_EVERY = 8;

/** When the next trial is due, in windows at full use. Each trial that finds no queue doubles the interval. */
export class TrialSchedule {
  #left = 0;
  #every = FIRST_EVERY;

  get isDue(): boolean {
    return this.#left <= 0;
  }

  /** Whether the trial is due at the end of this window. */
  get isNext(): boolean {
    return this.#left <= 1;
  }

  passWindow(): void {
    this.#left -= 1;
  }

  hurry(): void {
    this.#left = 0;
  }

  conclude(isVague: boolean): void {
    this.#left = this.#every;
    this.#every = Math.min(2 * this.#every, isVague ? VAGUE_EVERY : EVERY);
  }

  /** Returns to the shortest interval: where one unknown queue was found, there may be more of it. */
  restart(): void {
    this.#every = FIRST_EVERY;
  }
}
