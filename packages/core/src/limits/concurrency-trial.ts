import type { Reading } from './latency-window.ts';

/** The trial's limit, as a share of the limit: lower while little is known or much is wrong. */
const SHARE = 0.8;
const WIDE_SHARE = 0.7;
/** With more than this share of the deliveries still in service the trial has tried nothing. */
const UNTRIED_SHARE = 0.95;
/** Standard errors, as shares, that the readings of a trial need. */
const ERROR = 0.045;
const FIRST_ERROR = 0.06;
/**
 * The latency follows those in service with a power of about 1 above the knee and of 0 below it. Half way between
 * is the fairest bound. The first trials ask for less, as a queue that they overlook is taken for normal.
 */
const POWER = 0.5;
const FIRST_POWER = 0.4;

/**
 * - `first`: is there a queue? Nothing is known yet.
 * - `usual`: is the baseline still right?
 * - `incident`: the latency is far above the baseline. Does a lower limit help?
 */
export type TrialKind = 'first' | 'usual' | 'incident';

/** A lower limit for the time of one window, which tells whether the latency is of our own making. */
export class ConcurrencyTrial {
  readonly kind: TrialKind;
  /** The limit to go back to if the trial did not help. */
  readonly from: number;
  /** The limit while it lasts; not yet within bounds. */
  readonly limit: number;
  readonly #before: Reading;

  constructor(kind: TrialKind, from: number, before: Reading) {
    this.kind = kind;
    this.from = from;
    this.limit = Math.min(from - 1, Math.round(from * (kind === 'usual' ? SHARE : WIDE_SHARE)));
    this.#before = before;
  }

  /** Whether fewer than before would be in service under `limit`. */
  isFeltAt(limit: number): boolean {
    return limit < UNTRIED_SHARE * this.#before.active;
  }

  /** Whether the latency went down with those in service, so that there was a queue. */
  isHelped({ ms, error, active }: Reading, baselineMs: number): boolean {
    const before = this.#before;
    const share = active / before.active;
    if (share >= UNTRIED_SHARE) return false;
    const followed = share ** (this.kind === 'first' ? FIRST_POWER : POWER);
    if (this.kind !== 'incident') return ms < Math.min(before.ms, baselineMs) * followed;
    // Here a mistake costs more, and the next trial makes up for a chance missed: chance alone must not do.
    return ms < before.ms * Math.min(followed, 1 - 2 * Math.hypot(error, before.error));
  }
}

/** The standard error, as a share, that the readings before and in a trial may have. */
export function neededTrialError(isProven: boolean): number {
  return isProven ? ERROR : FIRST_ERROR;
}

/** Windows between trials: at first, at most, and at most while the baseline is vague. */
const FIRST_EVERY = 3;
const EVERY = 24;
const VAGUE_EVERY = 8;

/** When the next trial is due, in windows in full use. Each trial that finds no queue doubles the time. */
export class TrialSchedule {
  #left = 0;
  #every = FIRST_EVERY;

  get isDue(): boolean {
    return this.#left <= 0;
  }

  /** Whether it will be due at the end of this window. */
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

  /** After a queue was found that nobody knew of there may be more of it. */
  restart(): void {
    this.#every = FIRST_EVERY;
  }
}
