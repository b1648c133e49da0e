/** How fast saturated time and the completions in it fade. */
const TAU_S = 1.8;
/** S̄ fades over about this many completions. */
const SERVICE_SAMPLES = 50;
/** What Little's law keeps to say once much saturated time was seen: it answers faster to a change. */
const LITTLE_FLOOR_S = 0.5;
/** A gap longer than this, or than three times the usual one, is a stall and not a rate. */
const GAP_S = 1;
/** A stall this long, or of ten mean service times, is reported. */
const STALLED_MS = 10_000;

/**
 * The drain rate μ: completions per second that the workers can sustain.
 *
 * A moving average of completions is wrong exactly when it matters. After a quiet minute at 30 % load it reads
 * the load and not the ability, and in a stall it goes on reading the past. So:
 *
 * - Completions N and time T count only while all workers are busy, and both fade with τ = 1.8 s of such time.
 *   When idle, nothing moves.
 * - They are blended with Little's law, L ÷ S̄: `μ̂ = (N + w·L/S̄) / (T + w)`. The weight w is 1 s while nothing
 *   was seen under saturation, and shrinks to 0.5 s.
 * - In a stall, a gap g since the last completion, longer than usual, caps the rate at 3/g. The time of a stall
 *   beyond that does not count into T, so that the rate from before is there again when it ends.
 */
export class DrainRate {
  saturated = false;
  #completions = 0;
  #saturatedS = 0;
  #serviceS = 0;
  #samples = 0;
  /** Up to here saturated time has been counted. */
  #countedMs = 0;
  /** The last completion under saturation, or the moment saturation began. */
  #progressMs = 0;

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

  complete(nowMs: number, serviceMs: number, concurrency: number): void {
    if (this.saturated) {
      this.#count(nowMs, concurrency);
      this.#completions += 1;
      this.#progressMs = nowMs;
    }
    if (this.#samples < SERVICE_SAMPLES) this.#samples += 1;
    this.#serviceS += (serviceMs / 1000 - this.#serviceS) / this.#samples;
  }

  /** Completions per second, or null before the first completion. */
  rate(nowMs: number, concurrency: number): number | null {
    if (this.#samples === 0) return null;
    const little = Math.max(LITTLE_FLOOR_S, 1 - this.#saturatedS / TAU_S);
    // A mean service time of zero is a handler faster than the clock: the finest step of real ones stands in.
    const byLittle = concurrency / Math.max(this.#serviceS, 1e-6);
    const rate = (this.#completions + little * byLittle) / (this.#saturatedS + little);
    const gapS = this.gapMs(nowMs) / 1000;
    return gapS > this.#longGapS(concurrency) ? Math.min(rate, 3 / gapS) : rate;
  }

  /** Milliseconds without a completion although all workers are busy; 0 when not all are. */
  gapMs(nowMs: number): number {
    return this.saturated ? nowMs - this.#progressMs : 0;
  }

  /** Whether the workers stand still. True also when nothing has ever completed: a database down at boot. */
  isStalled(nowMs: number): boolean {
    return this.saturated && this.gapMs(nowMs) > Math.max(STALLED_MS, 10_000 * this.#serviceS);
  }

  #longGapS(concurrency: number): number {
    return Math.max(GAP_S, (3 * this.#serviceS) / concurrency);
  }

  #count(nowMs: number, concurrency: number): void {
    const seconds = Math.min((nowMs - this.#countedMs) / 1000, this.#longGapS(concurrency));
    this.#countedMs = nowMs;
    if (seconds <= 0) return;
    const kept = Math.exp(-seconds / TAU_S);
    this.#completions *= kept;
    this.#saturatedS = this.#saturatedS * kept + TAU_S * (1 - kept);
  }
}
