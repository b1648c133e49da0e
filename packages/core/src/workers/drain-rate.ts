/** A gap longer than this, and than three times the usual one, is a stall and not a rate. */
const GAP_S = 1;
/** The least weight of Little's law, in seconds, while there has been no saturated time. */
const LITTLE_S = 1;
/** A stall this long, and of ten mean service times, is reported. */
const STALLED_MS = 10_000;
/** After a stall, the quick average is not used to correct the others for this long, and then is for at least as long. */
const SETTLING_MS = 10_000;

/** Completions beyond one for each worker before the rate is sure. */
const LEAST_SURE = 3;
/** How many of the last service times the fastest is taken from. */
const LATEST = 4;

/** What is recorded of a delivery when its handling starts. */
export interface Begun {
  beganMs: number;
  saturatedAtStartMs: number;
  stalledAtStartMs: number;
}

/**
 * The drain rate μ: completions per second that the workers can sustain. All times are lived time (see `LivedTime`): a
 * blocked process completes nothing, but its workers are as fast as before.
 *
 * A moving average of completions is wrong when it matters most. After a quiet minute at 30 % load it reads the load and
 * not the ability, and during a stall it still reads the past. So completions are counted while all workers are busy,
 * blended with Little's law (see {@link Average}), and a gap g since the last completion that is longer than usual caps
 * the rate at 3/g. The rest of a stall is not counted, so the earlier rate is valid again when the stall ends. Nothing
 * changes while the workers are idle.
 */
export class DrainRate {
  saturated = false;
  /** Follows a change within three seconds, and fluctuates by about 7 % if service times are random. */
  readonly #quick: Average = new Average(1.8, 50);
  /** Distinguishes a change of the steady rate from chance. */
  readonly #middle: Average = new Average(30, 1000);
  /** For a horizon of minutes, where an error of 10 % makes thousands of bookings collide. */
  readonly #steady: Average = new Average(120, 4000);
  /** Total saturated time without stalls, in ms. */
  #saturatedMs = 0;
  /** Total time of stalls, in ms. */
  #stalledMs = 0;
  /** The last few service times, in seconds. */
  readonly #latestS: number[] = new Array<number>(LATEST).fill(Infinity);
  #latest = 0;
  /** The time up to which time is counted. */
  #countedMs = 0;
  /** The last completion under saturation, or the beginning of saturation. */
  #progressMs = 0;
  /** From this time on the quick average is free of the last stall. */
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

  /** @param beganMs - earlier than now if it has been handled for some time already. */
  begin(delivery: Begun, nowMs: number, concurrency: number, beganMs: number = nowMs): void {
    if (this.saturated) this.#count(nowMs, concurrency);
    delivery.beganMs = beganMs;
    delivery.saturatedAtStartMs = this.#saturatedMs;
    delivery.stalledAtStartMs = this.#stalledMs;
  }

  /**
   * @param delivery - what {@link begin} recorded of it.
   * @param weight - how much its service time says about the workers, above 0 and at most 1.
   * @returns how long its handling took.
   */
  complete(nowMs: number, delivery: Begun, concurrency: number, weight = 1): number {
    const serviceMs = nowMs - delivery.beganMs;
    if (this.saturated) {
      if (this.gapFactor(nowMs, concurrency) > 1 && nowMs >= this.#settledMs + SETTLING_MS) {
        this.#settledMs = nowMs + SETTLING_MS;
      }
      this.#count(nowMs, concurrency, weight);
      this.#progressMs = nowMs;
    }
    const workedMs = serviceMs - (this.#stalledMs - delivery.stalledAtStartMs);
    // The part of it under saturation: all, unless workers were idle in between.
    const share =
      workedMs > 0
        ? Math.min(1, (this.#saturatedMs - delivery.saturatedAtStartMs) / workedMs)
        : Number(this.saturated);
    this.#latestS[this.#latest] = serviceMs / 1000;
    this.#latest = (this.#latest + 1) % LATEST;
    // The quick average takes slow handlers for a change immediately; the others wait until they stay slow.
    this.#quick.complete(serviceMs / 1000, share, weight);
    this.#middle.complete(workedMs / 1000, share, weight);
    this.#steady.complete(workedMs / 1000, share, weight);
    this.#age(nowMs, concurrency);
    if (nowMs >= this.#settledMs) {
      // Four to five standard deviations of random service times: a change, and not chance.
      this.#middle.restartIfOff(this.#quick, 1.35, concurrency);
      this.#steady.restartIfOff(this.#middle, 1.12, concurrency);
    }
    return serviceMs;
  }

  /** The workers were as fast as before, and there are `factor` times as many from now on. */
  scale(factor: number): void {
    this.#quick.scale(factor);
    this.#middle.scale(factor);
    this.#steady.scale(factor);
  }

  /** Completions per second; null before the first completion. */
  rate(nowMs: number, concurrency: number): number | null {
    return this.#quick.isEmpty ? null : this.#capped(this.#quick.rate(concurrency), nowMs, concurrency);
  }

  /** The same, from minutes of completions, and not capped in a stall. */
  steadyRate(concurrency: number): number | null {
    return this.#steady.isEmpty ? null : this.#steady.rate(concurrency);
  }

  /**
   * A rate that the workers hardly exceed, for decisions that must not depend on one unlucky sample: two standard
   * deviations above the measured rate, for random service times, or the rate of the fastest of the last few. Null until
   * deliveries complete that began after the first completion, since everything before may be a cold start. Unchanged
   * while the workers are stalled, since it is not known for how long.
   */
  sureRate(concurrency: number): number | null {
    const { samples } = this.#steady;
    if (samples < concurrency + LEAST_SURE) return null;
    const fastestS = Math.max(1e-6, Math.min(...this.#latestS));
    return Math.max(this.#steady.rate(concurrency) * (1 + 2 / Math.sqrt(samples)), concurrency / fastestS);
  }

  /** For how many seconds deliveries have completed at the steady rate. A change of pace resets it. */
  get paceAgeS(): number {
    return this.#steady.ageS;
  }

  /** The gap since the last completion as a multiple of the longest usual gap; at least 1. */
  gapFactor(nowMs: number, concurrency: number): number {
    return Math.max(1, this.gapMs(nowMs) / 1000 / this.#longGapS(concurrency));
  }

  /** Milliseconds without a completion while all workers are busy; 0 if not all are. */
  gapMs(nowMs: number): number {
    return this.saturated ? nowMs - this.#progressMs : 0;
  }

  /** Whether the workers are stalled. Also true if nothing has ever completed, such as with a database down at boot. */
  isStalled(nowMs: number): boolean {
    return this.saturated && this.gapMs(nowMs) > Math.max(STALLED_MS, 10_000 * this.#quick.serviceS);
  }

  /** A pace ages while deliveries complete, at any load. Of a long gap only the usual part counts. */
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

  #count(nowMs: number, concurrency: number, weight = 1): void {
    const elapsedMs = nowMs - this.#countedMs;
    if (elapsedMs <= 0) return;
    // Only the beginning of a long gap counts: the rest of that beginning if the gap began earlier.
    const longGapMs = this.#longGapS(concurrency) * 1000;
    const left = Math.max(0, this.#progressMs + longGapMs - this.#countedMs);
    const countedMs = Math.min(elapsedMs, left);
    this.#countedMs = nowMs;
    this.#stalledMs += elapsedMs - countedMs;
    if (countedMs <= 0) return;
    this.#saturatedMs += countedMs;
    this.#quick.elapse(countedMs / 1000, weight);
    this.#middle.elapse(countedMs / 1000, weight);
    this.#steady.elapse(countedMs / 1000, weight);
  }
}

/**
 * A rate from two counts of completions and their times: N under saturation in a time T, both decaying with τ, and, by
 * Little's law, the last n at L ÷ S̄, saturated or not: `μ̂ = (N + n) / (T + n·S̄/L)`, where n·S̄/L is at least a second
 * while T is short.
 */
class Average {
  /** S̄, in seconds; 0 before the first completion. */
  serviceS = 0;
  /** For how many seconds it has measured its present pace. */
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

  /** @param weight - of this time, above 0 and at most 1. */
  elapse(seconds: number, weight: number): void {
    const kept = Math.exp(-seconds / this.#tauS);
    this.#completions *= kept;
    this.#saturatedS = this.#saturatedS * kept + this.#tauS * (1 - kept) * weight;
  }

  /**
   * @param share - the part of it under saturation, from 0 to 1.
   * @param weight - of it and its service time, above 0 and at most 1.
   */
  complete(serviceS: number, share: number, weight: number): void {
    this.#completions += share * weight;
    this.#samples = Math.min(this.#memory, this.#samples + weight);
    this.serviceS += ((serviceS - this.serviceS) * weight) / this.#samples;
  }

  scale(factor: number): void {
    this.#completions *= factor;
  }

  rate(concurrency: number): number {
    // A mean service time of zero is a handler faster than the clock, so the finest step of real clocks is used.
    const byLittle = concurrency / Math.max(this.serviceS, 1e-6);
    // At first, most deliveries that began under saturation have not completed, and N is too small for T.
    const littleS = Math.max(this.#samples / byLittle, LITTLE_S * (1 - this.#saturatedS / this.#tauS));
    return (this.#completions + littleS * byLittle) / (this.#saturatedS + littleS);
  }

  /** Takes over the state of a quicker average, if the two differ by more than chance explains. */
  restartIfOff(quicker: Average, tolerance: number, concurrency: number): void {
    const ratio = quicker.rate(concurrency) / this.rate(concurrency);
    if (ratio <= tolerance && ratio >= 1 / tolerance) return;
    this.serviceS = quicker.serviceS;
    // The quicker one has known it for at most this long, since it forgets what is older.
    this.ageS = Math.min(quicker.ageS, quicker.#tauS);
    this.#samples = quicker.#samples;
    this.#completions = quicker.#completions;
    this.#saturatedS = quicker.#saturatedS;
  }
}
