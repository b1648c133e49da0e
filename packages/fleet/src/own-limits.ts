import type { ConcurrencyRange, RateRange, Tunable } from '@webhook-backpressure/core';
import type { FleetLimits } from '@webhook-backpressure/core/extend';

/** What the fleet gives a member. */
export interface Grant {
  readonly concurrency: number;
  /** Undefined: the fleet does not limit it. */
  readonly maxStartsPerSecond: number | undefined;
}

/** An intake without this limit is set to it when it leaves the fleet, since a limit cannot be removed. */
const NO_RATE = 1_000_000;
const MIN_RATE = 0.001;

/**
 * The limits that an intake would have without its fleet. A number is replaced by the share, and of a range the maximum.
 * After an update by the user, which says what this process can bear, it is also an upper bound of the share.
 */
export class OwnLimits {
  #own: FleetLimits;
  #mostConcurrency = Infinity;
  #mostRate = Infinity;

  constructor(limits: FleetLimits) {
    this.#own = limits;
  }

  /** The most that the user has allowed since the intake joined. */
  get most(): number {
    return this.#mostConcurrency;
  }

  /** The update that sets the intake to what the fleet gives. */
  under({ concurrency, maxStartsPerSecond }: Grant): Tunable {
    const most = Math.max(1, Math.min(concurrency, this.#mostConcurrency));
    const limited = { concurrency: limitConcurrency(this.#own.concurrency, most) };
    if (maxStartsPerSecond === undefined) return limited;
    const rate = Math.max(MIN_RATE, Math.min(maxStartsPerSecond, this.#mostRate));
    return { ...limited, maxStartsPerSecond: limitRate(this.#own.maxStartsPerSecond, rate) };
  }

  /** What becomes of an update by the user, which is valid. */
  revise(changes: Tunable, grant: Grant): Tunable {
    const { concurrency, maxStartsPerSecond } = changes;
    if (concurrency !== undefined) {
      this.#own = { ...this.#own, concurrency };
      this.#mostConcurrency = typeof concurrency === 'number' ? concurrency : concurrency.max;
    }
    if (maxStartsPerSecond !== undefined) {
      this.#own = { ...this.#own, maxStartsPerSecond };
      this.#mostRate = typeof maxStartsPerSecond === 'number' ? maxStartsPerSecond : maxStartsPerSecond.max;
    }
    const limited = this.under(grant);
    const revised: { -readonly [K in keyof Tunable]: Tunable[K] } = { ...changes };
    if (concurrency !== undefined) revised.concurrency = limited.concurrency;
    if (maxStartsPerSecond !== undefined)
      revised.maxStartsPerSecond = limited.maxStartsPerSecond ?? maxStartsPerSecond;
    return revised;
  }

  /** The update that sets the intake to its own limits. */
  restored(grant: Grant): Tunable {
    const { concurrency, maxStartsPerSecond = NO_RATE } = this.#own;
    return grant.maxStartsPerSecond === undefined ? { concurrency } : { concurrency, maxStartsPerSecond };
  }
}

function limitConcurrency(own: number | ConcurrencyRange, most: number): number | ConcurrencyRange {
  if (typeof own === 'number') return most;
  return { initial: Math.min(own.initial, most), min: Math.min(own.min, most), max: most };
}

function limitRate(own: number | RateRange | undefined, most: number): number | RateRange {
  if (typeof own !== 'object') return most;
  return { min: Math.min(own.min, most), max: most, targetP99Ms: own.targetP99Ms };
}
