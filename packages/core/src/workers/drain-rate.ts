/** A gap between completions that is longer than this, and than three times the usual one, is a stall and not a rate. */
const GAP_S = 1;
/** A stall of so long, and of ten mean handling times, is reported. */
const STALLED_MS = 10_000;
/** After a stall the quick average contains it for so long, and is then used for at least as long. */
const SETTLING_MS = 10_000;
/** Four to five standard deviations of the quick average, for random handling times: a new pace, and not chance. */
const NEW_PACE = 1.35;
/** A slower pace may be a short slowdown: its age counts as at most 1.25 s until it has lasted for 7 s. */
const SLOWDOWN_S = 7;
const SLOWDOWN_AGE_S = 1.25;
/** The least weight of a handling time in which the process was late: enough to know a rate until another one says more. */
const MIN_WEIGHT = 0.05;

/**
 * The drain rate μ: completions per second that the workers can sustain.
 *
 *     μ = (N + n) ÷ (T + n·S̄ ÷ L)
 *
 * N completions in the time T in which all L workers were busy, both fading, and by Little's law n deliveries with the mean
 * handling time S̄, at any load. A moving average of completions would be wrong when it matters most: after a quiet minute
 * at 30 % load it reads the load and not the ability. Nothing changes while workers are idle. A gap g since the last
 * completion that is longer than usual caps μ at 3 ÷ g; the rest of a stall is not counted, so the earlier rate is valid
 * again when the stall ends.
 *
 * All times are lived time (see `LivedTime`): a blocked process completes nothing, but its workers are as fast as before.
 */
export class DrainRate {
  /** L: the concurrency. */
  workers: number;
  /** A cap on starts per second, which μ does not exceed. */
  cap: number;
  #isSaturated = false;
  /** Follows a change within three seconds, and fluctuates by about 7 % if handling times are random. */
  readonly #quick = new Average(1.8, 50);
  /** For a horizon of minutes, where an error of 10 % makes thousands of booked retries collide. */
  readonly #steady = new Average(120, 4000);
  /** The time up to which time is counted. */
  #countedMs = 0;
  /** The last completion under saturation, or the beginning of saturation. */
  #progressMs = 0;
  /** The last completion, saturated or not. */
  #completedMs = -Infinity;
  /** From then on the quick average is free of the last stall. */
  #settledMs = -SETTLING_MS;
  /** When the last stall ended, and for how long it was one. */
  #stallEndMs = -Infinity;
  #stallMs = 0;

  constructor(workers: number) {
    this.workers = workers;
    this.cap = Infinity;
  }

  /** Notes whether all workers are busy. */
  look(isSaturated: boolean, nowMs: number): void {
    if (isSaturated === this.#isSaturated) return;
    if (isSaturated) this.#countedMs = this.#progressMs = nowMs;
    else this.#count(nowMs);
    this.#isSaturated = isSaturated;
  }

  /**
   * A delivery that took so long has been handled.
   *
   * @param lateMs - for how much of that time the process was late. The end of a handler is then noticed late, and during a
   * cold start that is most of the time.
   */
  complete(tookMs: number, nowMs: number, lateMs: number): void {
    const weight = lateMs === 0 ? 1 : Math.min(1, Math.max(MIN_WEIGHT, 1 - lateMs / tookMs));
    const stallMs = this.gapMs(nowMs) - this.#longGapS() * 1000;
    if (stallMs > 0) {
      this.#stallEndMs = nowMs;
      this.#stallMs = stallMs;
      if (nowMs >= this.#settledMs + SETTLING_MS) this.#settledMs = nowMs + SETTLING_MS;
    }
    this.#count(nowMs, weight);
    this.#progressMs = nowMs;
    // Of a long gap only the usual part counts toward the age of the pace.
    const sinceS = Math.min((nowMs - this.#completedMs) / 1000, this.#longGapS());
    this.#completedMs = nowMs;
    const counted = Number(this.#isSaturated);
    this.#quick.complete(tookMs / 1000, counted, sinceS, weight);
    // The quick average takes slow handlers for a change immediately; the steady one until they stay slow.
    const stalledMs = Math.max(0, Math.min(this.#stallMs, this.#stallEndMs - (nowMs - tookMs)));
    this.#steady.complete((tookMs - stalledMs) / 1000, counted, sinceS, weight);
    if (nowMs >= this.#settledMs) this.#steady.restartIfOff(this.#quick, this.workers);
  }

  /** The workers were as fast as before, and there are `factor` times as many from now on. */
  scale(factor: number): void {
    this.#quick.scale(factor);
    this.#steady.scale(factor);
  }

  /** μ of the last seconds; null before the first completion. */
  rate(nowMs: number): number | null {
    if (this.#quick.isEmpty) return null;
    const gapS = this.gapMs(nowMs) / 1000;
    const rate = this.#quick.rate(this.workers);
    return Math.min(this.cap, gapS > this.#longGapS() ? Math.min(rate, 3 / gapS) : rate);
  }

  /** μ of the last minutes, less affected by chance and by stalls; null before the first completion. */
  get steadyRate(): number | null {
    return this.#steady.isEmpty ? null : Math.min(this.cap, this.#steady.rate(this.workers));
  }

  /** For how many seconds deliveries have been completed at the steady rate, at any load; see {@link SLOWDOWN_S}. */
  get paceAgeS(): number {
    const { ageS, isSlower } = this.#steady;
    return isSlower && ageS < SLOWDOWN_S ? Math.min(SLOWDOWN_AGE_S, ageS) : ageS;
  }

  /** Milliseconds without a completion while all workers are busy; 0 if not all are. */
  gapMs(nowMs: number): number {
    return this.#isSaturated ? nowMs - this.#progressMs : 0;
  }

  /** That gap as a multiple of the longest usual gap; at least 1. */
  gapFactor(nowMs: number): number {
    return Math.max(1, this.gapMs(nowMs) / 1000 / this.#longGapS());
  }

  /** Whether the workers are stalled. Also true if nothing has ever completed, such as with a database down at boot. */
  isStalled(nowMs: number): boolean {
    return this.gapMs(nowMs) > Math.max(STALLED_MS, 10_000 * this.#quick.meanS);
  }

  #longGapS(): number {
    return Math.max(GAP_S, (3 * this.#quick.meanS) / this.workers);
  }

  /** Counts the time under saturation. Of a long gap only the beginning counts. */
  #count(nowMs: number, weight = 1): void {
    if (!this.#isSaturated) return;
    const elapsedMs = nowMs - this.#countedMs;
    const leftMs = Math.max(0, this.#progressMs + this.#longGapS() * 1000 - this.#countedMs);
    this.#countedMs = nowMs;
    const seconds = Math.min(elapsedMs, leftMs) / 1000;
    if (seconds <= 0) return;
    this.#quick.elapse(seconds, weight);
    this.#steady.elapse(seconds, weight);
  }
}

/** The formula of {@link DrainRate}, where T and N fade with τ, and n is at most `memory`. */
class Average {
  /** S̄, in seconds; 0 before the first completion. */
  meanS = 0;
  /** For how many seconds it has measured its present pace. */
  ageS = 0;
  /** Whether that is slower than the one before. */
  isSlower = false;
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

  elapse(seconds: number, weight: number): void {
    const kept = Math.exp(-seconds / this.#tauS);
    this.#completions *= kept;
    this.#saturatedS = this.#saturatedS * kept + this.#tauS * (1 - kept) * weight;
  }

  complete(tookS: number, counted: number, sinceS: number, weight: number): void {
    this.#completions += counted * weight;
    this.#samples = Math.min(this.#memory, this.#samples + weight);
    this.meanS += ((tookS - this.meanS) * weight) / this.#samples;
    this.ageS += sinceS;
  }

  scale(factor: number): void {
    this.#completions *= factor;
  }

  rate(workers: number): number {
    // A mean of zero is a handler faster than the clock, so the finest step of real clocks is used.
    const byLittle = workers / Math.max(this.meanS, 1e-6);
    // At least a second's worth of Little's law while there has been little saturated time.
    const littleS = Math.max(this.#samples / byLittle, 1 - this.#saturatedS / this.#tauS);
    return (this.#completions + littleS * byLittle) / (this.#saturatedS + littleS);
  }

  /** Takes over the state of a quicker average if the pace is a new one. */
  restartIfOff(quicker: Average, workers: number): void {
    const ratio = quicker.rate(workers) / this.rate(workers);
    if (ratio <= NEW_PACE && ratio >= 1 / NEW_PACE) return;
    this.meanS = quicker.meanS;
    // The quicker one forgets what is older.
    this.ageS = Math.min(quicker.ageS, quicker.#tauS);
    this.isSlower = ratio < 1;
    this.#samples = quicker.#samples;
    this.#completions = quicker.#completions;
    this.#saturatedS = quicker.#saturatedS;
  }
}
