import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { RateHints } from '../answers/rate-hints.ts';
import { perSecondOf } from '../options/rates.ts';
import { InFlightCap } from './in-flight-cap.ts';

/** Successes at the present limits after which they are raised. */
const STREAK = 20;
/** A refusal without a time pauses the endpoint so long; each further one in the same window twice as long. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** After so many failures in a row, the endpoint counts as unknown again. */
const FAILURES = 5;

/**
 * Learns how fast and how concurrently an endpoint accepts requests. Times are on the monotonic clock. `startedAtMs`: when
 * the request was started; it tells a refusal under the present limits from one of a request that was in flight when they
 * were lowered.
 *
 * A refusal pauses the endpoint until the earliest time that it named, and halves the rate. Requests that were in flight
 * then are refused for the same reason, so only a request that was started after the last cut can cause another: one cut
 * per round trip, however many refusals it brings. Another cut before a streak of 20 successes has shown that the limits
 * fit halves the in-flight cap as well. Each streak raises the rate by a tenth of the set one, and the cap by one.
 *
 * The cap begins small and grows by one for each success until the first refusal: see {@link InFlightCap}. After a refusal
 * only streaks raise it, so that the sender does not return to where it was refused within a few round trips.
 */
export class LearningPace {
  readonly #share: RateShare;
  readonly #cap: InFlightCap;
  readonly #use: RecentUse = new RecentUse();
  readonly #announced: AnnouncedLimit = new AnnouncedLimit();
  #askedUntilMs = 0;
  /** Requests that were started before belong to the last cut. */
  #cutAtMs = -Infinity;
  /** Cuts since the last streak. */
  #cuts = 0;
  /** Successes count towards a streak if they were started after the last change of a limit. */
  #streakFromMs = -Infinity;
  #streak = 0;
  /** The cap before the first cut, while the limits are lower than then; else 0. */
  #capBefore = 0;
  /** The slow start is over: from the first refusal until the endpoint counts as unknown again. */
  #isRefused = false;
  #failures = 0;

  constructor(limit: BucketLimit, maxInFlight: number) {
    this.#share = new RateShare(limit);
    this.#cap = new InFlightCap(maxInFlight);
  }

  /** The present limit: the set one, or a lower one after refusals or a small announced remainder. */
  get limit(): BucketLimit {
    return this.#announced.limit ?? this.#share.limit;
  }

  /** The present limit of requests in flight. */
  get maxInFlight(): number {
    return this.#cap.value;
  }

  /** No attempt before this time, because the endpoint asked for it; 0 for none. */
  get waitUntilMs(): number {
    return Math.max(this.#askedUntilMs, this.#announced.waitUntilMs);
  }

  get waitsBecause(): 'retry-after' | 'rate-limit' | undefined {
    if (this.waitUntilMs === 0) return undefined;
    return this.#askedUntilMs >= this.#announced.waitUntilMs ? 'retry-after' : 'rate-limit';
  }

  /** Whether the limits are lower than set because of refusals. */
  get isSlowed(): boolean {
    return this.#capBefore > 0;
  }

  /** Drops announcements of an endpoint for a time that is over. Called before the limits are read. */
  pass(nowMs: number): void {
    if (this.#askedUntilMs <= nowMs) this.#askedUntilMs = 0;
    this.#announced.pass(nowMs);
  }

  /** The endpoint's settings have changed. */
  set(limit: BucketLimit, maxInFlight: number, nowMs: number): void {
    this.#share.set(limit);
    this.#cap.setMax(maxInFlight);
    this.#beginStreak(nowMs);
  }

  /**
   * @param tookMs - how long the request took, without standstills of this process: the difference of two readings of
   * `Deadlines.livedMs`.
   * @param inFlight - requests in flight when this one ended, this one included.
   */
  succeeded(
    startedAtMs: number,
    tookMs: number,
    inFlight: number,
    hints: RateHints | undefined,
    nowMs: number,
  ): void {
    this.#failures = 0;
    this.#heed(startedAtMs, hints, nowMs);
    const cap = this.#cap;
    cap.note(startedAtMs, tookMs, hints, nowMs);
    if (this.#isRefused) {
      if (startedAtMs >= this.#streakFromMs && (this.#streak += 1) >= STREAK) this.#raise(nowMs);
      // A cap that is not used has not been tried.
    } else if (2 * this.#use.note(startedAtMs, inFlight, nowMs) >= cap.value && cap.mayGrow) cap.grow();
  }

  /** @param waitMs - the wait that the endpoint named; undefined if it named none. */
  limited(
    startedAtMs: number,
    waitMs: number | undefined,
    hints: RateHints | undefined,
    nowMs: number,
  ): void {
    this.#failures = 0;
    this.#heed(startedAtMs, hints, nowMs);
    if (startedAtMs > this.#cutAtMs) {
      this.#cut(nowMs);
      this.#askedUntilMs = nowMs + (waitMs ?? this.#ownPauseMs());
    } else if (waitMs !== undefined) {
      const untilMs = nowMs + waitMs;
      this.#askedUntilMs = this.#askedUntilMs > nowMs ? Math.min(this.#askedUntilMs, untilMs) : untilMs;
    }
  }

  /** The attempt ended otherwise. */
  failed(startedAtMs: number, hints: RateHints | undefined, nowMs: number): void {
    this.#heed(startedAtMs, hints, nowMs);
    this.#failures += 1;
    if (this.#failures !== FAILURES) return;
    this.#cap.startSlowly(nowMs);
    this.#isRefused = false;
  }

  #cut(nowMs: number): void {
    this.#cutAtMs = nowMs;
    this.#cuts += 1;
    this.#isRefused = true;
    if (this.#capBefore === 0) this.#capBefore = this.#cap.value;
    this.#share.halve();
    if (this.#cuts > 1) this.#cap.halve(nowMs);
    this.#beginStreak(nowMs);
  }

  #raise(nowMs: number): void {
    this.#cuts = 0;
    this.#share.raise();
    if (this.#cap.mayGrow) this.#cap.grow();
    // A cap that slow answers keep low is not low because of refusals.
    if (this.#share.isWhole && (this.#cap.value >= this.#capBefore || !this.#cap.mayGrow))
      this.#capBefore = 0;
    this.#beginStreak(nowMs);
  }

  #beginStreak(nowMs: number): void {
    this.#streak = 0;
    this.#streakFromMs = nowMs;
  }

  #ownPauseMs(): number {
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#cuts - 1));
  }

  #heed(startedAtMs: number, hints: RateHints | undefined, nowMs: number): void {
    if (hints !== undefined) this.#announced.note(startedAtMs, hints, this.#share.limit, nowMs);
  }
}

/** Shares are kept in thousandths, so that ten steps up are exact. */
const WHOLE = 1000;
const STEP = 100;
/** Small amounts are given in a longer period, because tokens are integers. */
const SMALL_AMOUNT = 100;
const FINER = 20;
/** No refusal lowers a rate below one request per second. */
const MIN_PER_SECOND = 1;

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
    const least = (WHOLE * MIN_PER_SECOND) / perSecondOf(this.#set);
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

/**
 * The limit that an endpoint announces in the headers of any answer. Nothing left: requests wait until the reset. Less
 * left than would be used until the reset: the remainder is spread over that time.
 */
class AnnouncedLimit {
  /** Nothing is left until then; 0 for none. */
  waitUntilMs = 0;
  /** The remainder, spread; undefined if it does not bind. */
  limit: BucketLimit | undefined;
  #untilMs = 0;
  #startedAtMs = -Infinity;

  /** @param rate - the present limit without announcements. */
  note(startedAtMs: number, hints: RateHints, rate: BucketLimit, nowMs: number): void {
    // An older request was counted earlier: its remainder is no longer true.
    if (startedAtMs < this.#startedAtMs) return;
    this.#startedAtMs = startedAtMs;
    const resetMs = Math.ceil(hints.resetMs);
    this.waitUntilMs = 0;
    this.limit = undefined;
    if (resetMs <= 0) return;
    this.#untilMs = nowMs + resetMs;
    const remaining = Math.floor(hints.remaining);
    if (remaining <= 0) this.waitUntilMs = this.#untilMs;
    // The places of a queue become free all the time; the in-flight cap sees to them.
    else if (hints.fill === undefined && remaining < (perSecondOf(rate) * resetMs) / 1000) {
      this.limit = { amount: remaining, periodMs: resetMs, burst: 1 };
    }
  }

  pass(nowMs: number): void {
    if (this.#untilMs > nowMs) return;
    this.waitUntilMs = 0;
    this.limit = undefined;
  }
}

/**
 * The most requests in flight during this round trip and the one before. A round ends when a request succeeds that was
 * started after the round began. Single requests do not show the use: of ten that were started together and are answered
 * together, the first one started alone, and the last one ends alone.
 */
export class RecentUse {
  #roundFromMs = -Infinity;
  #most = 0;
  #mostBefore = 0;

  /** @returns the recent use. */
  note(startedAtMs: number, inFlight: number, nowMs: number): number {
    if (startedAtMs >= this.#roundFromMs) {
      this.#roundFromMs = nowMs;
      this.#mostBefore = this.#most;
      this.#most = inFlight;
    } else {
      this.#most = Math.max(this.#most, inFlight);
    }
    return Math.max(this.#most, this.#mostBefore);
  }
}
