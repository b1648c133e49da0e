import type { BucketLimit } from '@webhook-backpressure/fleet';
import { perSecondOf } from '../options/rates.ts';

/** No refusal lowers a goal below one request per second, or below the set rate if that is lower. */
const MIN_PER_SECOND = 1;
/** A learned limit saves as many tokens as arrive in this time: a receiver without a burst refuses more. */
const BURST_MS = 5;
/** The period of learned limits: their amounts are integers, so a second would be too coarse. */
const PERIOD_MS = 100_000;
/** A rate that has changed by less keeps its limit. */
const FINE = 0.02;
/** The windows in which starts are counted: a rate that is not used was not refused. */
const WINDOW_MS = 500;
const LEAST_MS = 20;

/** After a refusal the rate begins at this share of the goal … */
const FROM = 0.93;
/** … and takes at least so long to reach it, or as long as the pause if that is longer: a search must be worth it. */
const LEAST_SEARCH_S = 2;
/** The time to the goal grows by this factor each time that a refusal confirms the goal, up to 20 times its least. */
const GROWTH = 1.4;
const MOST_GROWTH = 20;
/** A goal that moves by at most this factor is confirmed. */
const SAME = 1.3;
/** A refusal within this part of the time to the goal shows that the receiver has changed. */
const SOON = 1 / 8;
/** How far the first correction goes, on a logarithmic scale: halfway between what was accepted and what was refused. */
const STEP = 0.5;
/** The least correction upwards. */
const LEAST_UP = 0.35;

/**
 * The rate that a receiver accepts, learned from its refusals.
 *
 * The refused rate is remembered as a goal. After the pause the rate approaches it as CUBIC does (RFC 9438): fast far below
 * it, slowly near it. When it has stayed there without a refusal, the search goes on above it, faster and faster, because
 * then the receiver may have changed.
 *
 * A refusal moves the goal. The deliveries accepted since the last refusal, its pause included, divided by that time are
 * no more than the receiver allows: its bucket was empty at both ends. The rate of the last requests is more than it allows. The new
 * goal lies between them. Each refusal that confirms the goal lets the next search wait longer and move less, so that pauses
 * take about a twentieth of the time at most; a refusal soon after a pause begins anew.
 *
 * Time is counted in successes, each as long as the present rate takes for one: a rate that nothing uses does not rise.
 */
export class LearnedRate {
  /** The present limit; the set one while the rate is not lower. */
  limit: BucketLimit;
  #set: BucketLimit;
  readonly #sharers: (() => number) | undefined;
  /** Requests per second that the receiver accepted last; Infinity before the first refusal. */
  #goal = Infinity;
  /** The way from the last refusal, in seconds as counted by successes: what is behind, and how long it takes to the goal. */
  #wayS = 0;
  #searchS = 0;
  #leastSearchS = 0;
  /** Whether the last correction went up (1) or down (-1). */
  #direction = 0;
  /** Successes since the last refusal. */
  #successes = 0;
  #refusedAtMs = -Infinity;
  /** When the first request after the last pause was started. */
  #resumedAtMs = Infinity;
  /** Starts in this window and in the one before. */
  #starts = 0;
  #windowAtMs = 0;
  #startsBefore = 0;
  #beforeMs = 0;

  /**
   * @param sharers - for a limit that is documented: the processes that share it, this one included. A refusal then counts as
   * one at the present rate, of which half is accepted. The starts of this process do not say what the receiver accepts from
   * all, and a first burst that is refused says little against a rate that is documented. Each success stands for one of
   * each process.
   */
  constructor(set: BucketLimit, sharers?: () => number) {
    this.limit = this.#set = set;
    this.#sharers = sharers;
  }

  get isWhole(): boolean {
    return this.limit === this.#set;
  }

  /** The settings have changed. The receiver may have as well, so that the search begins immediately. */
  set(limit: BucketLimit): void {
    this.#set = limit;
    this.#wayS = this.#searchS;
    this.#apply();
  }

  started(nowMs: number): void {
    if (this.#resumedAtMs === Infinity) {
      this.#resumedAtMs = this.#windowAtMs = nowMs;
      this.#starts = this.#startsBefore = this.#beforeMs = 0;
    }
    const passedMs = nowMs - this.#windowAtMs;
    if (passedMs >= WINDOW_MS) {
      const isNext = passedMs < 2 * WINDOW_MS;
      this.#startsBefore = isNext ? this.#starts : 0;
      this.#beforeMs = isNext ? passedMs : 0;
      this.#starts = 0;
      this.#windowAtMs = nowMs;
    }
    this.#starts += 1;
  }

  succeeded(startedAtMs: number): void {
    this.#successes += 1;
    if (this.#goal === Infinity || startedAtMs < this.#refusedAtMs) return;
    this.#wayS += (this.#sharers?.() ?? 1) / this.#rate;
    this.#apply();
  }

  /** @param pauseMs - how long the receiver wants to be left alone. */
  refused(pauseMs: number, nowMs: number): void {
    const last = this.#goal;
    const resumedAtMs = this.#resumedAtMs;
    this.#resumedAtMs = Infinity;
    // A receiver that accepts nothing is down. Its rate may still be what it was.
    if (last < Infinity && this.#successes === 0) return;
    const isDocumented = this.#sharers !== undefined;
    const refused = isDocumented ? this.#rate : this.#used(nowMs);
    const accepted = isDocumented ? refused / 2 : this.#accepted(refused, resumedAtMs - pauseMs, nowMs);
    if (nowMs - resumedAtMs < SOON * this.#searchS * 1000) this.#searchS = this.#leastSearchS;
    const step = last === Infinity ? STEP : (STEP * this.#leastSearchS) / this.#searchS;
    const isAbove = this.#wayS >= this.#searchS && refused > last;
    // A receiver with a large burst accepts more than its rate for a while, so half of the refused rate at most is proven.
    const goal = isAbove
      ? between(Math.max(last, refused / 2), refused, Math.max(LEAST_UP, step))
      : between(refused, accepted, step);
    this.#begin(Math.max(this.#least, goal), pauseMs);
    this.#successes = 0;
    this.#refusedAtMs = nowMs;
    this.#apply();
  }

  #begin(goal: number, pauseMs: number): void {
    const last = this.#goal;
    const direction = Math.sign(goal - last);
    const hasTurned = this.#direction !== 0 && direction !== this.#direction;
    const isConfirmed = last < Infinity && (hasTurned || (goal < last * SAME && goal > last / SAME));
    const leastS = Math.max(LEAST_SEARCH_S, pauseMs / 1000);
    this.#searchS = isConfirmed
      ? Math.min(Math.max(this.#searchS, leastS) * GROWTH, MOST_GROWTH * leastS)
      : leastS;
    this.#leastSearchS = leastS;
    this.#direction = last === Infinity ? 0 : direction;
    this.#goal = goal;
    this.#wayS = 0;
  }

  get #least(): number {
    return Math.min(MIN_PER_SECOND, perSecondOf(this.#set));
  }

  /** The rate at this point of the way. */
  get #rate(): number {
    const goal = this.#goal;
    const most = perSecondOf(this.#set);
    if (goal === Infinity) return most;
    const wayS = this.#wayS;
    const beyond = (wayS - this.#searchS) / this.#leastSearchS;
    if (beyond >= 0) return Math.min(most, goal * 2 ** (beyond * beyond));
    const nearer = (1 - wayS / this.#searchS) ** 3;
    return Math.min(most, goal * (1 - (1 - FROM) * nearer));
  }

  /** The rate of the last starts: less than the present one if there was nothing to send, or no room in flight. */
  #used(nowMs: number): number {
    const overMs = Math.max(LEAST_MS, nowMs - this.#windowAtMs + this.#beforeMs);
    const used = ((this.#starts + this.#startsBefore) * 1000) / overMs;
    return used < this.#rate / 2 ? used : this.#rate;
  }

  /** The accepted rate since the last refusal; before the first, since `firstMs`. */
  #accepted(refused: number, firstMs: number, nowMs: number): number {
    const sinceMs = this.#refusedAtMs === -Infinity ? firstMs : this.#refusedAtMs;
    const accepted = (this.#successes * 1000) / Math.max(1, nowMs - sinceMs);
    return Math.min(refused, Math.max(this.#least, accepted));
  }

  #apply(): void {
    const rate = this.#rate;
    if (rate >= perSecondOf(this.#set)) this.limit = this.#set;
    else if (this.isWhole || Math.abs(perSecondOf(this.limit) / rate - 1) >= FINE) {
      const amount = Math.max(1, Math.round((rate * PERIOD_MS) / 1000));
      const burst = Math.max(1, Math.min(this.#set.burst, Math.floor((rate * BURST_MS) / 1000)));
      this.limit = { amount, periodMs: PERIOD_MS, burst };
    }
  }
}

/** The value at this share of the way from one to the other, on a logarithmic scale. */
function between(from: number, to: number, share: number): number {
  return from ** (1 - share) * to ** share;
}
