/** A window lasts at least this long and has at least this many successes. */
const SHORTEST_MS = 1000;
const FEWEST = 50;
/** The relative standard error that a latency may have. 650 exponential times have it. */
const ERROR = 0.05;
/** The queue allowed in the downstream, beyond one delivery, as a share of the deliveries in service. */
const QUEUE_SHARE = 0.08;
/** A trial lowers the number in service to this share. */
const CUT = 0.75;
/** Windows between trials. A trial that finds no queue doubles the interval; one that finds a queue resets it. */
const FIRST_EVERY = 3;
const EVERY = 24;
/** The weight of a window in the baseline. */
const GAIN = 0.2;
const NEW_NORMAL_MS = 1_800_000;
const FAILURE_CUT = 0.9;
/** Up to this share, failures are attributed to the deliveries, not to the downstream. */
const TOLERATED_FAILURES = 0.05;

/** The range of an adaptive `concurrency`. */
export interface ConcurrencyRange {
  /** The limit at the start. Integer, from `min` to `max`. */
  readonly initial: number;
  /** The lowest limit. Integer ≥ 1. */
  readonly min: number;
  /** The highest limit. Integer ≥ `initial`. */
  readonly max: number;
}

/** The result of a window. */
interface Reading {
  /** The geometric mean of the successes' handling times. */
  readonly ms: number;
  /** The mean number of deliveries in service. */
  readonly active: number;
}

/**
 * How many deliveries to handle concurrently, learned from their handling times. Beyond its capacity, a downstream
 * queues internally: calls take longer, and throughput stays the same. That queue is estimated once per window as
 *
 *     queue = active × (1 − baseline ÷ latency)
 *
 * `latency` is the mean handling time in the window, `baseline` the one without a queue, and `active` the mean number in
 * service. The limit grows while the queue is below half of `1 + 8 % of active`. Above the whole of it, the limit
 * shrinks by the excess. So it settles about 10 % above the knee of the latency.
 *
 * This is TCP Vegas (Brakmo and Peterson, 1995), which Netflix applied to concurrency limits (concurrency-limits:
 * `VegasLimit`, `Gradient2Limit`), with four additions:
 *
 * - **Trials.** At full use the latency without a queue is unknown. So from time to time the limit falls by a quarter
 *   for one window. If the latency falls with the number in service, there was a queue, and the limit stays down.
 *   Otherwise there was none: the limit returns, and the baseline learns this latency.
 * - **Incidents.** A lower limit does not help a downstream that is slow for other reasons than our load. If the limit
 *   has shrunk to half and the latency has not followed, the limit stays there, and only trials lower it further. A
 *   latency that stays high for half an hour becomes the baseline; until then the baseline is frozen.
 * - **Quick growth.** Below the last sound limit, and at the start until a queue is found, the limit grows by a quarter
 *   per window. Otherwise growth starts at 1 and doubles.
 * - **Failures** do not count as latency, since they are often fast. If more than 1 in 20 in a window fail, the limit
 *   falls to nine tenths. Fewer are attributed to the deliveries. Otherwise one sender with broken payloads would hold
 *   the limit at its minimum.
 *
 * The mean is geometric, so that a few very slow deliveries do not look like a queue. The window stays open until the
 * mean is precise to 5 %. With less than half of the limit in use, the limit stays, and the baseline learns.
 */
export class AdaptiveConcurrency {
  #limit: number;
  #min: number;
  #max: number;
  #baselineMs = 0;
  /** A trial has confirmed the baseline. */
  #isProven = false;
  /** The last limit without a queue. */
  #sound = Infinity;
  #growth = 0;
  /** The reading before the trial, and the limit to restore if there was no queue. */
  #trial: { readonly before: Reading; readonly from: number } | undefined;
  #windowsToTrial = 0;
  #every = FIRST_EVERY;
  /** The reading before the limit began to shrink. */
  #before: Reading | undefined;
  /** Since when the latency has been high whatever the limit. */
  #incidentSinceMs: number | undefined;

  #opensAtMs: number | undefined;
  #completions = 0;
  #failures = 0;
  #activeSum = 0;
  #logSum = 0;
  #logSquareSum = 0;

  constructor({ initial, min, max }: ConcurrencyRange) {
    this.#limit = initial;
    this.#min = min;
    this.#max = max;
  }

  /** The number of concurrent deliveries: an integer from `min` to `max`. */
  get limit(): number {
    return this.#limit;
  }

  /** Sets new bounds and moves the limit between them. The learned state stays, so `initial` has no effect. */
  retune({ min, max }: ConcurrencyRange): void {
    this.#min = min;
    this.#max = max;
    this.#limit = this.#clamp(this.#leaveTrial());
  }

  /**
   * Notes one completion. O(1).
   *
   * @param nowMs - from a monotonic clock.
   * @param serviceMs - the handling time.
   * @param isFailure - whether the delivery failed or was overdue.
   * @param active - the number of deliveries in service, including this one.
   * @returns whether the limit changed.
   */
  observe(nowMs: number, serviceMs: number, isFailure: boolean, active: number): boolean {
    this.#opensAtMs ??= nowMs;
    if (nowMs < this.#opensAtMs) return false;
    this.#note(serviceMs, isFailure, active);
    if (nowMs - this.#opensAtMs < SHORTEST_MS) return false;
    if (this.#failures > TOLERATED_FAILURES * Math.max(this.#completions, FEWEST)) {
      const from = this.#leaveTrial();
      return this.#moveTo(Math.min(from - 1, Math.round(from * FAILURE_CUT)), nowMs, 0);
    }
    const successes = this.#completions - this.#failures;
    if (successes < FEWEST) return false;
    const mean = this.#logSum / successes;
    const error = Math.sqrt(Math.max(0, this.#logSquareSum / successes - mean * mean) / successes);
    if (error > 2 * ERROR) return false;
    const reading = { ms: Math.exp(mean), active: this.#activeSum / this.#completions };
    if (error > ERROR && !this.#growsQuickly(reading)) return false;
    return this.#moveTo(this.#judge(reading, nowMs), nowMs, reading.ms);
  }

  #note(serviceMs: number, isFailure: boolean, active: number): void {
    this.#completions += 1;
    this.#activeSum += active;
    if (isFailure) {
      this.#failures += 1;
      return;
    }
    const log = Math.log(Math.max(0.01, serviceMs));
    this.#logSum += log;
    this.#logSquareSum += log * log;
  }

  #moveTo(limit: number, nowMs: number, latencyMs: number): boolean {
    const before = this.#limit;
    this.#limit = this.#clamp(limit);
    const isMoved = this.#limit !== before;
    // Leave out the deliveries that started under the old limit.
    this.#opensAtMs = nowMs + (isMoved ? latencyMs : 0);
    this.#completions = this.#failures = this.#activeSum = this.#logSum = this.#logSquareSum = 0;
    return isMoved;
  }

  #clamp(limit: number): number {
    return Math.min(this.#max, Math.max(this.#min, limit));
  }

  /** Growth up to a sound limit is harmless, so half the precision is enough. */
  #growsQuickly(reading: Reading): boolean {
    return (
      this.#baselineMs > 0 &&
      this.#trial === undefined &&
      this.#limit < Math.min(this.#sound, this.#max) &&
      this.#queueOf(reading) <= allowedQueue(reading.active)
    );
  }

  /** The next limit after a window. */
  #judge(reading: Reading, nowMs: number): number {
    const limit = this.#limit;
    if (this.#baselineMs === 0) this.#baselineMs = reading.ms;
    if (this.#trial !== undefined) return this.#endTrial(reading);
    const growth = this.#growth;
    this.#growth = 0;
    if (reading.active < limit / 2) {
      this.#learn(reading);
      return limit;
    }
    this.#windowsToTrial -= 1;
    const queue = this.#queueOf(reading);
    const allowed = allowedQueue(reading.active);
    if (queue > allowed) return this.#shrink(reading, nowMs);
    this.#before = this.#incidentSinceMs = undefined;
    if (this.#sound === Infinity) this.#learn(reading);
    const quarter = Math.max(1, limit >> 2);
    if (limit < Math.min(this.#sound, this.#max)) return Math.min(this.#sound, limit + quarter);
    if (this.#windowsToTrial <= 0) return this.#beginTrial(reading, limit);
    this.#sound = limit;
    if (queue >= allowed / 2) return limit;
    this.#growth = Math.min(Math.max(1, 2 * growth), quarter);
    return limit + this.#growth;
  }

  #shrink(reading: Reading, nowMs: number): number {
    const limit = this.#limit;
    // The first baseline may be from a window with a queue.
    if (!this.#isProven) return this.#beginTrial(reading, limit);
    if (this.#incidentSinceMs !== undefined) {
      if (nowMs - this.#incidentSinceMs >= NEW_NORMAL_MS) this.#baselineMs = reading.ms;
      return this.#windowsToTrial > 0 ? limit : this.#beginTrial(reading, limit);
    }
    this.#before ??= reading;
    if (limit <= Math.round(this.#before.active / 2)) {
      if (!hasFollowed(reading, this.#before, this.#before.ms)) {
        this.#incidentSinceMs = nowMs;
        // The load or the downstream may have changed in the middle of the window before, so compare once more.
        return this.#beginTrial(reading, limit);
      }
      this.#before = reading;
    }
    const least = Math.round(this.#before.active / 2);
    const fit = Math.round(reading.active - this.#queueOf(reading) + 0.75 * allowedQueue(reading.active));
    if (fit >= least) this.#sound = Math.min(fit, limit - 1);
    return Math.min(limit - 1, Math.max(fit, least));
  }

  #beginTrial(before: Reading, from: number): number {
    this.#before = undefined;
    this.#trial = { before, from };
    return Math.floor(CUT * before.active);
  }

  #endTrial(reading: Reading): number {
    const { before, from } = this.#trial as { before: Reading; from: number };
    this.#trial = undefined;
    const isIncident = this.#incidentSinceMs !== undefined;
    const isUsual = this.#isProven && !isIncident;
    const isQueue = hasFollowed(reading, before, isUsual ? Math.min(before.ms, this.#baselineMs) : before.ms);
    if (this.#isProven) this.#learn(reading);
    else this.#baselineMs = reading.ms;
    if (isQueue) {
      // In an incident the latency may have fallen because the incident ended.
      if (!isIncident) this.#sound = this.#limit;
      this.#every = FIRST_EVERY;
      return this.#beginTrial(reading, this.#limit);
    }
    this.#isProven = true;
    this.#windowsToTrial = this.#every;
    this.#every = Math.min(EVERY, 2 * this.#every);
    return from;
  }

  /** Returns the limit from which to continue. */
  #leaveTrial(): number {
    const from = this.#trial?.from ?? this.#limit;
    this.#trial = this.#before = undefined;
    this.#growth = 0;
    return from;
  }

  #learn(reading: Reading): void {
    if (this.#queueOf(reading) > allowedQueue(reading.active)) return;
    this.#baselineMs += GAIN * (reading.ms - this.#baselineMs);
  }

  /** The estimated queue inside the downstream. Below 0 if the downstream is faster than the baseline. */
  #queueOf({ ms, active }: Reading): number {
    return active * (1 - this.#baselineMs / ms);
  }
}

function allowedQueue(active: number): number {
  return 1 + QUEUE_SHARE * active;
}

/**
 * Whether the latency fell with the number in service, so that there was a queue. It does so proportionally above the
 * knee and not at all below, so the bound is half way between.
 */
function hasFollowed(reading: Reading, before: Reading, referenceMs: number): boolean {
  const share = reading.active / before.active;
  return share < 0.95 && reading.ms < referenceMs * Math.sqrt(share);
}
