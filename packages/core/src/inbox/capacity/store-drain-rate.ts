/** The time constant of the quick average, in seconds: a change is learned within 5 s. */
const QUICK_S = 2;
/** The same of the steady one, which chance hardly moves. */
const STEADY_S = 60;
/** The two averages differ by more than chance beyond this factor, … */
const CHANGE = 1.35;
/** … or this many standard deviations of the completions in the quick one, if that is more. */
const DEVIATIONS = 3;
/** A gap longer than this, and than three times the usual one, is a stall and not a rate. */
const GAP_S = 1;
/** A stall this long, and of ten mean handling times, is reported. */
const STALLED_S = 10;

/** What one look at the store has found. */
export interface DrainSample {
  readonly nowMs: number;
  /** Deliveries that left the unfinished ones since the store exists. */
  readonly drained: number;
  readonly inFlight: number;
  /** Whether deliveries are due that no worker has claimed. */
  readonly isBacklogged: boolean;
}

/**
 * The drain rate of all workers on a store, from the deliveries that left it between two looks. Workers that have nothing
 * to do show how much arrives, and not how much they could handle. So only time counts in which deliveries were due
 * throughout, except that a higher rate is believed at any time. Of a gap without a completion only the beginning counts.
 */
export class StoreDrainRate {
  readonly #quick = new DecayingRate(QUICK_S);
  readonly #steady = new DecayingRate(STEADY_S);
  #last: DrainSample | undefined;
  /** The last look at which something had completed, or nothing was due. */
  #progressMs = 0;

  /** Deliveries per second; null before any were measured. Falls in a gap that is longer than usual. */
  get perSecond(): number | null {
    const rate = this.#steady.perSecond;
    if (rate === null || this.#last === undefined) return null;
    const gapS = this.gapMs(this.#last.nowMs) / 1000;
    return gapS > longGapS(rate) ? Math.min(rate, 3 / gapS) : rate;
  }

  /** For how many seconds deliveries have left at the present rate. */
  get measuredS(): number {
    return this.#steady.ageS;
  }

  /** Milliseconds since a delivery has left, while some were due. */
  gapMs(nowMs: number): number {
    return this.#last?.isBacklogged === true ? nowMs - this.#progressMs : 0;
  }

  /** Whether deliveries are due and none has left for long: no worker runs, or all of them hang. */
  get isStalled(): boolean {
    if (this.#last === undefined) return false;
    const { nowMs, inFlight } = this.#last;
    const rate = this.#steady.perSecond;
    const handlingS = rate === null || rate === 0 ? 0 : inFlight / rate;
    return this.gapMs(nowMs) / 1000 > Math.max(STALLED_S, 10 * handlingS);
  }

  note(sample: DrainSample): void {
    const last = this.#last;
    this.#last = sample;
    const count = last === undefined ? 0 : sample.drained - last.drained;
    // Below zero: the store was restored from a backup.
    if (last === undefined || count !== 0 || !sample.isBacklogged) this.#progressMs = sample.nowMs;
    if (last === undefined || count < 0) return;
    const seconds = (sample.nowMs - last.nowMs) / 1000;
    if (seconds <= 0) return;
    const isSaturated = last.isBacklogged && sample.isBacklogged;
    if (!isSaturated && !this.#isFaster(count, seconds)) return;
    if (count === 0 && this.gapMs(sample.nowMs) / 1000 > longGapS(this.#steady.perSecond)) return;
    this.#quick.add(count, seconds);
    this.#steady.add(count, seconds);
    this.#steady.restartIfOff(this.#quick);
  }

  /** Whether so many completions prove a higher rate than the known one. */
  #isFaster(count: number, seconds: number): boolean {
    const rate = this.#steady.perSecond;
    if (rate === null) return false;
    const expected = rate * seconds;
    return count > expected + DEVIATIONS * Math.sqrt(expected) + 1;
  }
}

/** An unknown rate has gaps of any length. */
function longGapS(rate: number | null): number {
  return rate === null || rate === 0 ? Infinity : Math.max(GAP_S, 3 / rate);
}

/** Completions and the time that they took, both decaying. */
class DecayingRate {
  ageS = 0;
  readonly #tauS: number;
  #count = 0;
  #seconds = 0;

  constructor(tauS: number) {
    this.#tauS = tauS;
  }

  /** Null before the first completion. */
  get perSecond(): number | null {
    return this.#count === 0 ? null : this.#count / this.#seconds;
  }

  add(count: number, seconds: number): void {
    // The time before the first completion is the beginning, and says nothing about the rate.
    if (this.#count === 0 && count === 0) return;
    const kept = Math.exp(-seconds / this.#tauS);
    this.#count = this.#count * kept + count;
    this.#seconds = this.#seconds * kept + seconds;
    this.ageS += seconds;
  }

  /** Takes over the state of a quicker average, if the two differ by more than chance explains. */
  restartIfOff(quicker: DecayingRate): void {
    if (quicker.perSecond === null || this.perSecond === null) return;
    const ratio = quicker.perSecond / this.perSecond;
    const chance = Math.max(CHANGE, 1 + DEVIATIONS / Math.sqrt(quicker.#count));
    if (ratio <= chance && ratio >= 1 / chance) return;
    this.#count = quicker.#count;
    this.#seconds = quicker.#seconds;
    this.ageS = Math.min(quicker.ageS, quicker.#tauS);
  }
}
