import { ConcurrencyTrial, neededTrialError, TrialSchedule, type TrialKind } from './concurrency-trial.ts';
import { allowedQueue, downstreamQueue } from './downstream-queue.ts';
import { LatencyBaseline } from './latency-baseline.ts';
import { LatencyWindow, type Reading } from './latency-window.ts';
import { LimitRange, type ConcurrencyRange } from './limit-range.ts';

/** After this time, a window is used even if it is not precise enough. */
const LONGEST_WINDOW_MS = 10_000;
/** Shorter for the first reading, which only decides whether to begin with a trial or with growth. */
const FIRST_WINDOW_MS = 3000;
/** A baseline with a relative standard error above this needs more frequent trials. */
const VAGUE = 0.03;
/** A latency far above the baseline becomes the new baseline if no trial has lowered it for this long. */
const NEW_NORMAL_MS = 1_800_000;
const FAILURE_CUT = 0.9;

/**
 * How many deliveries to handle concurrently, learned from their handling times. Beyond its capacity, a downstream
 * queues internally: calls take longer, and throughput stays the same. That queue is estimated as
 * `q = active × (1 − baseline ÷ recent)`: `recent` is a high percentile of the handling times of the last second or
 * more, and `baseline` the same percentile without a queue. The limit grows while q is small and shrinks while q is
 * large, so it settles about 10 % above the knee of the latency.
 *
 * The estimate is that of TCP Vegas (Brakmo and Peterson, 1995), which Netflix applied to concurrency limits
 * (concurrency-limits: `VegasLimit`, `Gradient2Limit`). The differences, and the reasons:
 *
 * - Both sides of the comparison are the same percentile. A high percentile compared with an average shows a queue
 *   wherever times merely vary. A window also stays open, up to 10 s, until it is as precise as the decision needs.
 * - The baseline learns only from windows without a queue, so that it does not drift up during an incident. At full
 *   use, trials find such windows: from time to time the limit falls by a fifth for one window. If the latency falls
 *   too, there was a queue, and the limit stays down. If not, this latency is the baseline. The limit never gets stuck.
 * - A lower limit does not help a downstream that is slow for other reasons than our load. So latency alone lowers the
 *   limit to at most 40 % of the last sound limit, and further only while trials show that it helps. A latency that no
 *   trial has lowered for half an hour becomes the new baseline.
 * - Failures do not count as latency, since they are often fast. If more than 1 in 20 in a window fail, the limit falls
 *   to nine tenths, once per window. Fewer failures are attributed to the deliveries. Otherwise one sender with broken
 *   payloads would hold the limit at its minimum.
 *
 * A window with less than half of the limit in use does not change the limit, but teaches the baseline.
 */
export class AdaptiveConcurrency {
  readonly #range: LimitRange;
  readonly #window: LatencyWindow = new LatencyWindow();
  readonly #baseline: LatencyBaseline = new LatencyBaseline();
  #isWarm = false;
  /** No queue has been found yet: the limit grows by a quarter per window, and the windows teach the baseline. */
  #isSearching = true;
  /** A trial, or a window with little use, has confirmed the baseline. */
  #isProven = false;
  #growth = 0;
  #trial: ConcurrencyTrial | null = null;
  readonly #schedule: TrialSchedule = new TrialSchedule();
  /** Since when the latency has been far above the baseline. */
  #highSinceMs: number | undefined;

  constructor(range: ConcurrencyRange) {
    this.#range = new LimitRange(range);
  }

  /** The number of concurrent deliveries: an integer from `min` to `max`. */
  get limit(): number {
    return this.#range.limit;
  }

  /** Sets new bounds and moves the limit between them. The learned state stays, so `initial` has no effect. */
  retune(range: ConcurrencyRange): void {
    this.#range.retune(range, this.#trial?.from);
    this.#trial = null;
    this.#growth = 0;
  }

  /**
   * Notes one completion. O(1), except at the end of a window (at most once a second or every 50 completions), which
   * reads a histogram of fixed size.
   *
   * @param nowMs - from a monotonic clock.
   * @param serviceMs - the handling time.
   * @param isFailure - whether the delivery failed or was overdue.
   * @param active - the number of deliveries in service, including this one.
   * @returns whether the limit changed.
   */
  observe(nowMs: number, serviceMs: number, isFailure: boolean, active: number): boolean {
    const window = this.#window;
    if (!window.note(nowMs, serviceMs, isFailure, active)) return false;
    if (window.isFailing) return this.#moveTo(this.#cut(), nowMs, 0);
    if (!window.isDue) return false;
    const reading = window.read();
    if (!this.#isWarm) {
      // After a start the fastest deliveries complete first, so the first window is biased.
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
    // Leave out deliveries that started under the old limit.
    this.#window.reopen(nowMs + (isMoved ? Math.min(latencyMs, LONGEST_WINDOW_MS) : 0));
    return isMoved;
  }

  #cut(): number {
    const from = this.#trial?.from ?? this.#range.limit;
    this.#trial = null;
    this.#growth = 0;
    return Math.min(from - 1, Math.round(from * FAILURE_CUT));
  }

  /** The maximum relative standard error of a reading for the decision that would follow. */
  #neededError({ ms, active }: Reading): number {
    const baselineMs = this.#baseline.ms;
    const isTrialNext = this.#schedule.isNext && !this.#isSearching && this.#range.limit >= this.#range.sound;
    if (baselineMs === 0 || this.#trial !== null || isTrialNext) return neededTrialError(this.#isProven);
    if (active < this.#range.limit / 2) return Infinity;
    const queue = downstreamQueue({ ms, active }, baselineMs);
    const allowed = allowedQueue(active);
    // Growing on little evidence is harmless, since a queue soon shows. Shrinking on little evidence sheds needlessly.
    if (this.#isSearching ? queue < allowed : queue < allowed / 2 && this.#range.limit < this.#range.sound)
      return Infinity;
    return Math.max(allowed / active / 2, (ms / baselineMs - 1) / 4);
  }

  /** The next limit after a window. */
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
    // Between the two, chance decides, and chance must neither start nor reset this timer.
    if (baseline.isNear(ms, error)) this.#highSinceMs = undefined;
    else if (!baseline.isLike(ms, error)) this.#highSinceMs ??= nowMs;
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
      // With a baseline from one or two windows, the queue may be an artifact.
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
      // The latency may have fallen because the incident ended. Then so low a limit may not be needed.
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
    if (this.#highSinceMs === undefined || nowMs - this.#highSinceMs < NEW_NORMAL_MS) return;
    this.#baseline.replace(ms, error);
    this.#highSinceMs = undefined;
  }
}

function quarterOf(limit: number): number {
  return Math.max(1, limit >> 2);
}
