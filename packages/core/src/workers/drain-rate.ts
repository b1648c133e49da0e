/** A gap longer than this, or than three times the usual one, is a stall and not a rate. */
const GAP_S = 1;
/** For so long Little's law weighs at least while no saturated time has been seen. */
const LITTLE_S = 1;
/** A stall this long, or of ten mean service times, is reported. */
const STALLED_MS = 10_000;
/** After a standstill the quick average is not believed for so long, and then for as long at least it is. */
const SETTLING_MS = 10_000;

/** From so many completions on something is sure. */
const LEAST_SURE = 3;
/** Of so many service times the fastest counts. */
const LATEST = 4;

/** What is noted of a delivery when its handling starts. */
export interface Begun {
  beganMs: number;
  saturatedAtStartMs: number;
  stalledAtStartMs: number;
}

/**
 * The drain rate μ: completions per second that the workers can sustain. All its times are lived time (see
 * `LivedTime`): a process that stands still completes nothing, and its workers are as fast as before.
 *
 * A moving average of completions is wrong exactly when it matters. After a quiet minute at 30 % load it reads
 * the load and not the ability, and in a stall it goes on reading the past. So it counts what was done while all
 * workers were busy, blended with Little's law (see {@link Average}), and a gap g since the last completion that
 * is longer than usual caps it at 3/g. The time of a stall beyond that does not count, so that the rate from
 * before is there again when it ends. When idle, nothing moves.
 */
export class DrainRate {
  saturated = false;
  /** Follows a change within three seconds, and fluctuates by some 7 % when service times are random. */
  readonly #quick: Average = new Average(1.8, 50);
  /** Tells a change of the steady rate from chance. */
  readonly #middle: Average = new Average(30, 1000);
  /** For what is minutes away: there an error of 10 % is a minute, and thousands of bookings that collide. */
  readonly #steady: Average = new Average(120, 4000);
  /** Saturated time in all, without what counts as stall, in ms. */
  #saturatedMs = 0;
  /** And what counts as stall. */
  #stalledMs = 0;
  /** The last few service times, in seconds. */
  readonly #latestS: number[] = new Array<number>(LATEST).fill(Infinity);
  #latest = 0;
  /** Up to here it has been counted. */
  #countedMs = 0;
  /** The last completion under saturation, or the moment saturation began. */
  #progressMs = 0;
  /** From here on the quick average is free of the last standstill. */
  #settledMs = 0;
  /** The last completion, saturated or not. */
  #completedMs = -Infinity;

  saturate(nowMs: number): void {
    if (this.saturated) return;
    this.saturated = true;
    this.#countedMs = nowMs;
    this.#progressMs = nowMs;
  }

  relax(nowMs: number, concurrency: number): void {
    if (!this.saturated) return;
    this.#count(nowMs, concurrency);
    this.saturated = false;
  }

  /** @param beganMs - earlier than now when it has been handled for some time already. */
  begin(delivery: Begun, nowMs: number, concurrency: number, beganMs: number = nowMs): void {
    if (this.saturated) this.#count(nowMs, concurrency);
    delivery.beganMs = beganMs;
    delivery.saturatedAtStartMs = this.#saturatedMs;
    delivery.stalledAtStartMs = this.#stalledMs;
  }

  /**
   * @param delivery - what {@link begin} noted of it.
   * @returns how long its handling took.
   */
  complete(nowMs: number, delivery: Begun, concurrency: number): number {
    const serviceMs = nowMs - delivery.beganMs;
    if (this.saturated) {
      if (this.gapFactor(nowMs, concurrency) > 1 && nowMs >= this.#settledMs + SETTLING_MS) {
        this.#settledMs = nowMs + SETTLING_MS;
      }
      this.#count(nowMs, concurrency);
      this.#progressMs = nowMs;
    }
    const workedMs = serviceMs - (this.#stalledMs - delivery.stalledAtStartMs);
    // What was done of it under saturation: all, unless the workers have been idle in between.
    const share =
      workedMs > 0
        ? Math.min(1, (this.#saturatedMs - delivery.saturatedAtStartMs) / workedMs)
        : Number(this.saturated);
    this.#latestS[this.#latest] = serviceMs / 1000;
    this.#latest = (this.#latest + 1) % LATEST;
    // The quick one believes at once that handlers have become slow; the others wait whether they stay so.
    this.#quick.complete(serviceMs / 1000, share);
    this.#middle.complete(workedMs / 1000, share);
    this.#steady.complete(workedMs / 1000, share);
    this.#age(nowMs, concurrency);
    if (nowMs >= this.#settledMs) {
      // Four or five standard deviations of random service times: a change, and not chance.
      this.#middle.restartIfOff(this.#quick, 1.35, concurrency);
      this.#steady.restartIfOff(this.#middle, 1.12, concurrency);
    }
    return serviceMs;
  }

  /** Completions per second, or null before the first completion. */
  rate(nowMs: number, concurrency: number): number | null {
    return this.#quick.isEmpty ? null : this.#capped(this.#quick.rate(concurrency), nowMs, concurrency);
  }

  /** Likewise, from minutes of completions, and not capped in a stall. */
  steadyRate(concurrency: number): number | null {
    return this.#steady.isEmpty ? null : this.#steady.rate(concurrency);
  }

  /**
   * The rate that the workers hardly exceed, or null while too little is known: two standard deviations above what was
   * measured, were the service times random, or what the fastest of the last few would come to. Before some have
   * completed that were begun after the first completion, all that is known may be a cold start. For what is not to be
   * done because of one unlucky sample. While the workers stand still it is as before, since nobody knows for how long.
   */
  sureRate(concurrency: number): number | null {
    const { samples } = this.#steady;
    if (samples < concurrency + LEAST_SURE) return null;
    const fastestS = Math.max(1e-6, Math.min(...this.#latestS));
    return Math.max(this.#steady.rate(concurrency) * (1 + 2 / Math.sqrt(samples)), concurrency / fastestS);
  }

  /** For how many seconds deliveries have completed at the steady rate. A change of pace starts it anew. */
  get paceAgeS(): number {
    return this.#steady.ageS;
  }

  /** How many times the longest usual gap the gap since the last completion is; at least 1. */
  gapFactor(nowMs: number, concurrency: number): number {
    return Math.max(1, this.gapMs(nowMs) / 1000 / this.#longGapS(concurrency));
  }

  /** Milliseconds without a completion although all workers are busy; 0 when not all are. */
  gapMs(nowMs: number): number {
    return this.saturated ? nowMs - this.#progressMs : 0;
  }

  /** Whether the workers stand still. True also when nothing has ever completed: a database down at boot. */
  isStalled(nowMs: number): boolean {
    return this.saturated && this.gapMs(nowMs) > Math.max(STALLED_MS, 10_000 * this.#quick.serviceS);
  }

  /** A pace gets older while deliveries complete, at whatever load; a long gap says nothing about it. */
  #age(nowMs: number, concurrency: number): void {
    const sinceS = Math.min((nowMs - this.#completedMs) / 1000, this.#longGapS(concurrency));
    this.#completedMs = nowMs;
    this.#quick.ageS += sinceS;
    this.#middle.ageS += sinceS;
    this.#steady.ageS += sinceS;
  }

  #capped(rate: number, nowMs: number, concurrency: number): number {
    const gapS = this.gapMs(nowMs) / 1000;
    return gapS > this.#longGapS(concurrency) ? Math.min(rate, 3 / gapS) : rate;
  }

  #longGapS(concurrency: number): number {
    return Math.max(GAP_S, (3 * this.#quick.serviceS) / concurrency);
  }

  #count(nowMs: number, concurrency: number): void {
    const elapsedMs = nowMs - this.#countedMs;
    if (elapsedMs <= 0) return;
    // Of a long gap only its beginning counts: what is left of it, if it began before.
    const longGapMs = this.#longGapS(concurrency) * 1000;
    const left = Math.max(0, this.#progressMs + longGapMs - this.#countedMs);
    const countedMs = Math.min(elapsedMs, left);
    this.#countedMs = nowMs;
    this.#stalledMs += elapsedMs - countedMs;
    if (countedMs <= 0) return;
    this.#saturatedMs += countedMs;
    this.#quick.elapse(countedMs / 1000);
    this.#middle.elapse(countedMs / 1000);
    this.#steady.elapse(countedMs / 1000);
  }
}

/**
 * A rate from two counts of completions and the time that they took: N under saturation in a time T, both fading
 * with τ, and, by Little's law, the last n at L ÷ S̄, whether there was saturation or not:
 * `μ̂ = (N + n) / (T + n·S̄/L)`, where n·S̄/L counts for a second at least as long as T is short.
 */
class Average {
  /** S̄, in seconds; 0 before the first completion. */
  serviceS = 0;
  /** For how many seconds it has measured the pace that it knows. */
  ageS = 0;
  readonly #tauS: number;
  readonly #memory: number;
  #samples = 0;
  #completions = 0;
  #saturatedS = 0;

  constructor(tauS: number, memory: number) {
    this.#tauS = tauS;
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#samples === 0;
  }

  get samples(): number {
    return this.#samples;
  }

  elapse(seconds: number): void {
    const kept = Math.exp(-seconds / this.#tauS);
    this.#completions *= kept;
    this.#saturatedS = this.#saturatedS * kept + this.#tauS * (1 - kept);
  }

  /** @param share - what was done of it under saturation, from 0 to 1. */
  complete(serviceS: number, share: number): void {
    this.#completions += share;
    if (this.#samples < this.#memory) this.#samples += 1;
    this.serviceS += (serviceS - this.serviceS) / this.#samples;
  }

  rate(concurrency: number): number {
    // A mean service time of zero is a handler faster than the clock: the finest step of real ones stands in.
    const byLittle = concurrency / Math.max(this.serviceS, 1e-6);
    // At first most of what was begun under saturation has not completed yet, and N is too small for T.
    const littleS = Math.max(this.#samples / byLittle, LITTLE_S * (1 - this.#saturatedS / this.#tauS));
    return (this.#completions + littleS * byLittle) / (this.#saturatedS + littleS);
  }

  /** Forgets what it knew for what a quicker one knows, when the two differ by more than chance makes them. */
  restartIfOff(quicker: Average, tolerance: number, concurrency: number): void {
    const ratio = quicker.rate(concurrency) / this.rate(concurrency);
    if (ratio <= tolerance && ratio >= 1 / tolerance) return;
    this.serviceS = quicker.serviceS;
    // For so long the quicker one has known it at the most: what is older it has forgotten.
    this.ageS = Math.min(quicker.ageS, quicker.#tauS);
    this.#samples = quicker.#samples;
    this.#completions = quicker.#completions;
    this.#saturatedS = quicker.#saturatedS;
  }
}
