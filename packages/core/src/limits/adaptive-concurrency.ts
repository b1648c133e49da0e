import { ConcurrencyTrial, neededTrialError, TrialSchedule, type TrialKind } from './concurrency-trial.ts';
import { allowedQueue, downstreamQueue } from './downstream-queue.ts';
import { LatencyBaseline } from './latency-baseline.ts';
import { LatencyWindow, type Reading } from './latency-window.ts';
import { LimitRange, type ConcurrencyRange } from './limit-range.ts';

/** A window that is not precise enough by then has to do. */
const LONGEST_WINDOW_MS = 10_000;
/** The first reading decides only whether to begin with a trial or with growth. */
const FIRST_WINDOW_MS = 3000;
/** A baseline whose standard error is above this share needs trials more often. */
const VAGUE = 0.03;
/** A latency far above the baseline that no trial has lowered for so long is the new normal. */
const NEW_NORMAL_MS = 1_800_000;
const FAILURE_CUT = 0.9;

/**
 * How many deliveries to handle at once, learned from how long they take. What a downstream cannot work on waits
 * inside it: calls take longer, and throughput no longer grows. That queue is not seen but can be estimated:
 * `q = active × (1 − baseline ÷ recent)`, with recent a high percentile of the handling times of the last second
 * or more, and baseline the same percentile while nothing queued. The limit grows while q is small and shrinks
 * while it is large, and so settles some 10 % above the knee of the latency.
 *
 * The estimate is that of TCP Vegas (Brakmo and Peterson, 1995), which Netflix brought to concurrency limits
 * (concurrency-limits: `VegasLimit`, `Gradient2Limit`). What is different here, and why:
 *
 * - Like is compared with like: a high percentile against an average sees a queue wherever times merely vary.
 *   And a window stays open, up to 10 s, until it is as precise as the decision needs.
 * - Only windows without a queue teach the baseline, so that it does not drift up to an incident. In full use a
 *   trial finds them: at times the limit goes down by a fifth for one window. If the latency follows, there was
 *   a queue, and the limit stays down. If not, this latency is the baseline. The limit is never pinned low.
 * - A downstream that is slow for another reason than our load is not cured by a lower limit. So latency alone
 *   takes the limit to 40 % of the last sound one, and lower only as long as trials show that it helps. A
 *   latency that nothing has helped for half an hour is taken as the new normal.
 * - Failures are kept out of the latency: they are often quick. More than 1 in 20 in a window cut the limit to
 *   nine tenths, once for each window. Fewer are taken as the deliveries' own fault, or one sender with broken
 *   payloads would hold the limit at its minimum.
 *
 * A window in which less than half of the limit was in use leaves the limit alone and teaches the baseline.
 */
export class AdaptiveConcurrency {
  readonly #range: LimitRange;
  readonly #window: LatencyWindow = new LatencyWindow();
  readonly #baseline: LatencyBaseline = new LatencyBaseline();
  #isWarm = false;
  /** No queue was found yet: the limit grows by quarters, and the windows on the way teach the baseline. */
  #isSearching = true;
  /** A trial, or a window in little use, has confirmed the baseline. */
  #isProven = false;
  #growth = 0;
  #trial: ConcurrencyTrial | null = null;
  readonly #schedule: TrialSchedule = new TrialSchedule();
  /** Since when the latency has been far above the baseline. */
  #strangeSinceMs: number | undefined;

  constructor(range: ConcurrencyRange) {
    this.#range = new LimitRange(range);
  }

  /** Deliveries to handle at once: an integer from `min` to `max`. */
  get limit(): number {
    return this.#range.limit;
  }

  /** Takes new bounds, and moves the limit between them. What was learned stays, so `initial` has no effect. */
  retune(range: ConcurrencyRange): void {
    this.#range.retune(range, this.#trial?.from);
    this.#trial = null;
    this.#growth = 0;
  }

  /**
   * Notes one completion. O(1), except that a window's end, once a second at most or every 50 completions, costs
   * a walk through a histogram of fixed size.
   *
   * @param nowMs - from a clock that never goes back.
   * @param serviceMs - how long the delivery was handled.
   * @param isFailure - whether it failed, or was taken back for being overdue.
   * @param active - how many were being handled, this one included.
   * @returns whether the limit changed.
   */
  observe(nowMs: number, serviceMs: number, isFailure: boolean, active: number): boolean {
    const window = this.#window;
    if (!window.note(nowMs, serviceMs, isFailure, active)) return false;
    if (window.isFailing) return this.#moveTo(this.#cut(), nowMs, 0);
    if (!window.isDue) return false;
    const reading = window.read();
    if (!this.#isWarm) {
      // After a start those complete first that take little time: this window says too little.
      this.#isWarm = true;
      window.reopen(nowMs + reading.ms);
      return false;
    }
    const longestMs = this.#baseline.ms === 0 ? FIRST_WINDOW_MS : LONGEST_WINDOW_MS;
    if (reading.error > this.#neededError(reading) && window.ageMs(nowMs) < longestMs) {
      window.postpone();
      return false;
    }
    return this.#moveTo(this.#judge(reading, nowMs), nowMs, reading.ms);
  }

  #moveTo(limit: number, nowMs: number, latencyMs: number): boolean {
    const isMoved = this.#range.moveTo(limit);
    // What started under the old limit speaks of the old limit.
    this.#window.reopen(nowMs + (isMoved ? Math.min(latencyMs, LONGEST_WINDOW_MS) : 0));
    return isMoved;
  }

  #cut(): number {
    const from = this.#trial?.from ?? this.#range.limit;
    this.#trial = null;
    this.#growth = 0;
    return Math.min(from - 1, Math.round(from * FAILURE_CUT));
  }

  /** The standard error, as a share, that a reading may have for what would be decided by it. */
  #neededError({ ms, active }: Reading): number {
    const baselineMs = this.#baseline.ms;
    const isTrialNext = this.#schedule.isNext && !this.#isSearching && this.#range.limit >= this.#range.sound;
    if (baselineMs === 0 || this.#trial !== null || isTrialNext) return neededTrialError(this.#isProven);
    if (active < this.#range.limit / 2) return Infinity;
    const queue = downstreamQueue({ ms, active }, baselineMs);
    const allowed = allowedQueue(active);
    // To grow on little evidence does no harm: the queue is seen soon. To shrink on little of it sheds for nothing.
    if (this.#isSearching ? queue < allowed : queue < allowed / 2 && this.#range.limit < this.#range.sound)
      return Infinity;
    return Math.max(allowed / active / 2, (ms / baselineMs - 1) / 4);
  }

  /** What a window says the limit should be next. */
  #judge(reading: Reading, nowMs: number): number {
    const limit = this.#range.limit;
    const baseline = this.#baseline;
    const { ms, error, active } = reading;
    this.#schedule.passWindow();
    if (baseline.ms === 0) {
      baseline.learn(ms, error);
      const isPrecise = error <= neededTrialError(false);
      if (active >= limit / 2 && isPrecise) return this.#beginTrial('first', limit, reading, nowMs);
    }
    // Between the two it is uncertain: chance must not end a long count, nor begin one.
    if (baseline.isNear(ms, error)) this.#strangeSinceMs = undefined;
    else if (!baseline.isLike(ms, error)) this.#strangeSinceMs ??= nowMs;
    if (this.#trial !== null) return this.#endTrial(this.#trial, reading, nowMs);
    baseline.learnIfFallen(ms, error);
    if (active < limit / 2) {
      if (baseline.isLike(ms, error)) baseline.learn(ms, error);
      this.#prove();
      this.#growth = 0;
      return limit;
    }
    return this.#isSearching ? this.#search(reading, nowMs) : this.#track(reading, nowMs);
  }

  #search(reading: Reading, nowMs: number): number {
    const { ms, error } = reading;
    const isChance = this.#baseline.isChance(ms, error);
    if (!isChance && downstreamQueue(reading, this.#baseline.ms) > allowedQueue(reading.active)) {
      // The queue may be our own invention, when the baseline is of one window or two.
      if (!this.#isProven) return this.#beginTrial('first', this.#range.sound, reading, nowMs);
      this.#endSearch();
      return this.#shrink(reading, nowMs);
    }
    if (isChance) this.#baseline.learn(ms, error);
    if (this.#range.limit >= this.#range.max) {
      this.#endSearch();
      return this.#track(reading, nowMs);
    }
    this.#range.setSound();
    return this.#range.limit + quarterOf(this.#range.limit);
  }

  #track(reading: Reading, nowMs: number): number {
    const limit = this.#range.limit;
    const queue = downstreamQueue(reading, this.#baseline.ms);
    const allowed = allowedQueue(reading.active);
    if (queue > allowed) return this.#shrink(reading, nowMs);
    if (queue >= allowed / 2) {
      this.#growth = 0;
      if (this.#baseline.isLike(reading.ms, reading.error)) this.#range.setSound();
      return this.#schedule.isDue ? this.#beginTrial('usual', limit, reading, nowMs) : limit;
    }
    if (limit < this.#range.sound) return Math.min(this.#range.sound, limit + Math.max(1, limit >> 1));
    if (this.#schedule.isDue) return this.#beginTrial('usual', limit, reading, nowMs);
    this.#range.setSound();
    this.#growth = Math.min(Math.max(1, 2 * this.#growth), quarterOf(limit));
    return limit + this.#growth;
  }

  #shrink(reading: Reading, nowMs: number): number {
    const limit = this.#range.limit;
    this.#growth = 0;
    if (limit <= this.#range.floor) {
      return this.#schedule.isDue ? this.#beginTrial('incident', limit, reading, nowMs) : limit;
    }
    const inService = reading.active - downstreamQueue(reading, this.#baseline.ms);
    const fit = Math.min(limit - 1, Math.round(inService + 0.75 * allowedQueue(reading.active)));
    if (fit > this.#range.floor) {
      this.#range.sound = fit;
      return fit;
    }
    this.#schedule.hurry();
    return this.#range.floor;
  }

  #beginTrial(kind: TrialKind, from: number, before: Reading, nowMs: number): number {
    const trial = new ConcurrencyTrial(kind, from, before);
    const limit = this.#range.clamp(trial.limit);
    this.#growth = 0;
    if (trial.isFeltAt(limit)) {
      this.#trial = trial;
      return limit;
    }
    this.#adoptIfLasting(before, nowMs);
    this.#prove();
    return from;
  }

  #endTrial(trial: ConcurrencyTrial, reading: Reading, nowMs: number): number {
    const { ms, error } = reading;
    const baseline = this.#baseline;
    this.#trial = null;
    if (trial.isHelped(reading, baseline.ms)) {
      baseline.learnIfFallen(ms, error);
      this.#range.floor = this.#range.limit;
      this.#schedule.restart();
      // The end of an incident helps too: then it is not known that so low a limit is needed.
      if (trial.kind !== 'incident') this.#range.sound = this.#range.limit;
      else if (baseline.isLike(ms, error)) return this.#range.limit;
      return this.#beginTrial(trial.kind, this.#range.limit, reading, nowMs);
    }
    if (baseline.isLike(ms, error)) baseline.learn(ms, error);
    else if (this.#isProven) this.#adoptIfLasting(reading, nowMs);
    else baseline.replace(ms, error);
    this.#prove();
    return trial.from;
  }

  #endSearch(): void {
    this.#isSearching = false;
    this.#schedule.hurry();
  }

  #prove(): void {
    this.#isProven = true;
    this.#schedule.conclude(this.#baseline.isVaguerThan(VAGUE));
  }

  #adoptIfLasting({ ms, error }: Reading, nowMs: number): void {
    if (this.#strangeSinceMs === undefined || nowMs - this.#strangeSinceMs < NEW_NORMAL_MS) return;
    this.#baseline.replace(ms, error);
    this.#strangeSinceMs = undefined;
  }
}

function quarterOf(limit: number): number {
  return Math.max(1, limit >> 2);
}
