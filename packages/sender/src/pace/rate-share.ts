import type { BucketLimit } from '../buckets/buckets.ts';
import { perSecondOf } from '../options/settings.ts';

/** Shares are kept in thousandths, so that ten steps up are exact. */
const WHOLE = 1000;
const STEP = 100;
/** Small amounts are given in a longer period, because tokens are integers. */
const SMALL_AMOUNT = 100;
const FINER = 20;
/** No refusal lowers a rate below one request per second. */
const LEAST_PER_SECOND = 1;

/** The share of the set rate that is used: halved by refusals, raised by a tenth of the set rate by clean streaks. */
export class RateShare {
  limit: BucketLimit;
  #set: BucketLimit;
  #thousandths = WHOLE;

  constructor(set: BucketLimit) {
    this.limit = this.#set = set;
  }

  get isWhole(): boolean {
    return this.#thousandths >= WHOLE;
  }

  set(limit: BucketLimit): void {
    this.#set = limit;
    this.#apply(this.#thousandths);
  }

  halve(): void {
    this.#apply(this.#thousandths / 2);
  }

  raise(): void {
    this.#apply(this.#thousandths + STEP);
  }

  #apply(thousandths: number): void {
    const least = (WHOLE * LEAST_PER_SECOND) / perSecondOf(this.#set);
    this.#thousandths = Math.min(WHOLE, Math.max(thousandths, least));
    this.limit = this.isWhole ? this.#set : shareOf(this.#set, this.#thousandths);
  }
}

/** Bursts are lowered as well: after a pause the tokens that were saved would leave at the rate that was refused. */
function shareOf({ amount, periodMs, burst }: BucketLimit, thousandths: number): BucketLimit {
  // A rate such as 1 in 10 ms has no lower one in that period.
  const enough = Math.ceil((FINER * WHOLE) / (amount * thousandths));
  const finer = Math.max(enough, amount < SMALL_AMOUNT ? FINER : 1);
  return {
    amount: Math.max(1, Math.round((amount * finer * thousandths) / WHOLE)),
    periodMs: periodMs * finer,
    burst: Math.max(1, Math.floor((burst * thousandths) / WHOLE)),
  };
}
