import type { BucketLimit } from '../buckets/buckets.ts';
import type { RateHints } from '../answers/outcome.ts';
import { AnnouncedLimit } from './announced-limit.ts';
import { InFlightCap } from './in-flight-cap.ts';
import type { Pace } from './pace.ts';
import { RecentUse } from './recent-use.ts';
import { RateShare } from './rate-share.ts';

/** Successes at the present limits after which they are raised. */
const STREAK = 20;
/** A refusal without a time pauses the endpoint so long; each further one in the same window twice as long. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** After so many failures in a row, the endpoint counts as unknown again. */
const FAILURES = 5;

/**
 * Learns how fast and how concurrently an endpoint accepts requests.
 *
 * A refusal pauses the endpoint until the earliest time that it named, and halves the rate. Requests that were in flight
 * then are refused for the same reason, so only a request that was started after the last cut can cause another: one cut
 * per round trip, however many refusals it brings. Another cut before a streak of 20 successes has shown that the limits
 * fit halves the in-flight cap as well. Each streak raises the rate by a tenth of the set one, and the cap by one.
 *
 * The cap begins small and grows by one for each success until the first refusal: see {@link InFlightCap}. After a refusal
 * only streaks raise it, so that the sender does not return to where it was refused within a few round trips.
 */
export class LearningPace implements Pace {
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

  get limit(): BucketLimit {
    return this.#announced.limit ?? this.#share.limit;
  }

  get maxInFlight(): number {
    return this.#cap.value;
  }

  get waitUntilMs(): number {
    return Math.max(this.#askedUntilMs, this.#announced.waitUntilMs);
  }

  get waitsBecause(): 'retry-after' | 'rate-limit' | undefined {
    if (this.waitUntilMs === 0) return undefined;
    return this.#askedUntilMs >= this.#announced.waitUntilMs ? 'retry-after' : 'rate-limit';
  }

  get isSlowed(): boolean {
    return this.#capBefore > 0;
  }

  pass(nowMs: number): void {
    if (this.#askedUntilMs <= nowMs) this.#askedUntilMs = 0;
    this.#announced.pass(nowMs);
  }

  set(limit: BucketLimit, maxInFlight: number, nowMs: number): void {
    this.#share.set(limit);
    this.#cap.setMax(maxInFlight);
    this.#beginStreak(nowMs);
  }

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
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#cuts - 1));
  }

  #heed(startedAtMs: number, hints: RateHints | undefined, nowMs: number): void {
    if (hints !== undefined) this.#announced.note(startedAtMs, hints, this.#share.limit, nowMs);
  }
}
