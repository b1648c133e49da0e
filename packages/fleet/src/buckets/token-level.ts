import type { BucketLimit } from './buckets.ts';

const US_PER_MS = 1000;

/**
 * How many tokens a bucket has, in integers. A sum of fractions would drift: a tenth has no exact binary form, and there are
 * 26 million tokens in a month of 10 per second.
 *
 * The unit is the part of a token that arrives in a microsecond at an amount of 1: a token is `periodMs` × 1,000 units, and
 * each microsecond adds `amount`. All values stay below 2⁵³, where numbers are exact integers, and so are the results of
 * the divisions below after rounding.
 */
export class TokenLevel {
  #limit: BucketLimit;
  #amount: number;
  /** Units of a token. */
  #token: number;
  /** Units of a full bucket. */
  #full: number;
  /** Units in the bucket at {@link #atUs}. */
  #units: number;
  #atUs: number;

  /** @param tokens - how many there are at first. Default: a full bucket. */
  constructor(limit: BucketLimit, nowMs: number, tokens: number = limit.burst) {
    this.#limit = limit;
    this.#amount = limit.amount;
    this.#token = limit.periodMs * US_PER_MS;
    this.#full = fullOf(limit, this.#token);
    this.#units = Math.min(this.#full, Math.floor(tokens * this.#token));
    this.#atUs = Math.round(nowMs * US_PER_MS);
  }

  /**
   * Changes the limit. Saved tokens stay, up to the new burst. A begun token stays begun; if the period changes, less than
   * one unit of it is lost.
   */
  set(limit: BucketLimit, nowMs: number): void {
    if (limit === this.#limit) return;
    this.#limit = limit;
    this.#refill(nowMs);
    const token = limit.periodMs * US_PER_MS;
    if (token !== this.#token) this.#units = converted(this.#units, this.#token, token);
    this.#amount = limit.amount;
    this.#token = token;
    this.#full = fullOf(limit, token);
    this.#units = Math.min(this.#full, this.#units);
  }

  /** Takes up to `count` tokens, and returns how many. */
  take(count: number, nowMs: number): number {
    const taken = Math.min(count, this.tokens(nowMs));
    this.#units -= taken * this.#token;
    return taken;
  }

  /** Returns tokens that were not used. */
  giveBack(count: number): void {
    this.#units = Math.min(this.#full, this.#units + Math.min(count, this.#limit.burst) * this.#token);
  }

  /** Tokens that are there, rounded down. */
  tokens(nowMs: number): number {
    this.#refill(nowMs);
    return Math.floor(this.#units / this.#token);
  }

  /** Milliseconds until `count` tokens have arrived, also if the bucket cannot hold as many; 0 if they are there. */
  waitMs(count: number, nowMs: number): number {
    this.#refill(nowMs);
    const missing = count * this.#token - this.#units;
    return Math.max(0, Math.ceil(missing / this.#amount)) / US_PER_MS;
  }

  /** Tokens of a full bucket. */
  get size(): number {
    return this.#full / this.#token;
  }

  #refill(nowMs: number): void {
    // A fraction of a millisecond such as 33.334 has no exact binary form, so it is rounded and not cut.
    const nowUs = Math.round(nowMs * US_PER_MS);
    const elapsedUs = nowUs - this.#atUs;
    // A clock that was set back goes on from there. Waiting until it catches up would stop the endpoint.
    this.#atUs = nowUs;
    if (elapsedUs <= 0) return;
    const missing = this.#full - this.#units;
    // Compared first, because the product can exceed 2⁵³ after a long pause.
    if (elapsedUs >= Math.ceil(missing / this.#amount)) this.#units = this.#full;
    else this.#units += elapsedUs * this.#amount;
  }
}

/** The burst in units, of whole tokens. With a long period, fewer tokens than the burst are exact. */
function fullOf({ burst }: BucketLimit, token: number): number {
  return Math.min(burst, Math.floor(Number.MAX_SAFE_INTEGER / token)) * token;
}

/** The same part of a token, in other units, rounded down. Rare, so that big integers may cost a microsecond. */
function converted(units: number, from: number, to: number): number {
  return Number((BigInt(units) * BigInt(to)) / BigInt(from));
}
