import type { BucketLimit } from '@webhook-backpressure/fleet';
import type { RateHints } from '../answers/rate-hints.ts';
import { perSecondOf } from '../options/rates.ts';
import { InFlightCap } from './in-flight-cap.ts';
import { LearnedRate } from './learned-rate.ts';

/** A refusal without a time pauses the endpoint so long; each further one without a success between twice as long. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
/** After so many failures in a row, the endpoint counts as unknown again. */
const FAILURES = 5;

/** What limits the requests in flight. */
export type FlightCap = Pick<InFlightCap, 'value' | 'mayGrow' | 'setMax' | 'grow' | 'startSlowly' | 'note'>;

/** What an API client sets otherwise than a sender. */
export interface PaceParts {
  /** Default: a cap that follows the answer times. */
  readonly cap?: FlightCap;
  /** See {@link LearnedRate}. */
  readonly sharers?: () => number;
}

/**
 * Learns how fast and how concurrently an endpoint accepts requests. Times are on the monotonic clock. `startedAtMs`: when
 * the request was started; it tells a refusal under the present limits from one of a request that was in flight when they
 * were lowered.
 *
 * A refusal pauses the endpoint until the latest time that any answer named. Requests that were in flight then are refused
 * for the same reason, so only a request that was started after the last refusal can move the rate again: see
 * {@link LearnedRate}. Refusals leave the in-flight cap as it is: answers that become slower lower it, see
 * {@link InFlightCap}, and a cap that was halved by refusals kept a receiver with slow answers at a quarter of its rate.
 */
export class LearningPace {
  readonly #rate: LearnedRate;
  readonly #cap: FlightCap;
  readonly #use: RecentUse = new RecentUse();
  readonly #announced: AnnouncedLimit = new AnnouncedLimit();
  #askedUntilMs = 0;
  /** Requests that were started before belong to the last refusal. */
  #refusedAtMs = -Infinity;
  /** Refusals since the last success. */
  #refusals = 0;
  #failures = 0;

  constructor(limit: BucketLimit, maxInFlight: number, { cap, sharers }: PaceParts = {}) {
    this.#rate = new LearnedRate(limit, sharers);
    this.#cap = cap ?? new InFlightCap(maxInFlight);
  }

  /** The present limit: the set one, or a lower one after refusals or a small announced remainder. */
  get limit(): BucketLimit {
    return this.#announced.limit ?? this.#rate.limit;
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

  /** Whether the rate is lower than set because of refusals. */
  get isSlowed(): boolean {
    return !this.#rate.isWhole;
  }

  /** Drops announcements of an endpoint for a time that is over. Called before the limits are read. */
  pass(nowMs: number): void {
    if (this.#askedUntilMs <= nowMs) this.#askedUntilMs = 0;
    this.#announced.pass(nowMs);
  }

  /** The endpoint's settings have changed. */
  set(limit: BucketLimit, maxInFlight: number): void {
    this.#rate.set(limit);
    this.#cap.setMax(maxInFlight);
  }

  started(nowMs: number): void {
    this.#rate.started(nowMs);
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
    if (startedAtMs > this.#refusedAtMs) this.#refusals = 0;
    this.#heed(startedAtMs, hints, nowMs);
    this.#rate.succeeded(startedAtMs);
    const cap = this.#cap;
    cap.note(startedAtMs, tookMs, hints, nowMs);
    // A cap that is not used has not been tried.
    if (2 * this.#use.note(startedAtMs, inFlight, nowMs) >= cap.value && cap.mayGrow) cap.grow();
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
    if (startedAtMs > this.#refusedAtMs) {
      this.#refusedAtMs = nowMs;
      this.#refusals += 1;
      const pauseMs = waitMs ?? this.#ownPauseMs();
      this.#rate.refused(pauseMs, nowMs);
      this.#pause(nowMs + pauseMs);
    } else if (waitMs !== undefined) this.#pause(nowMs + waitMs);
  }

  /** The attempt ended otherwise. */
  failed(startedAtMs: number, hints: RateHints | undefined, nowMs: number): void {
    this.#heed(startedAtMs, hints, nowMs);
    this.#failures += 1;
    if (this.#failures === FAILURES) this.#cap.startSlowly(nowMs);
  }

  #pause(untilMs: number): void {
    this.#askedUntilMs = Math.max(this.#askedUntilMs, untilMs);
  }

  #ownPauseMs(): number {
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#refusals - 1));
  }

  #heed(startedAtMs: number, hints: RateHints | undefined, nowMs: number): void {
    if (hints !== undefined) this.#announced.note(startedAtMs, hints, this.#rate.limit, nowMs);
  }
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
