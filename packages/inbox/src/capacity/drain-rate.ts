/** How fast deliveries are finished. */
export interface DrainReading {
  /** Deliveries per second; null while unknown. */
  readonly perSecond: number | null;
  readonly isStalled: boolean;
  /** For how many seconds that rate has been measured. */
  readonly measuredS: number;
  /** Milliseconds since a delivery was finished, or an attempt ended. */
  gapMs(nowMs: number): number;
}

/** The looks of the quick average: with two per second, a change is learned within 5 s. */
const QUICK_LOOKS = 6;
/** The time constant of the steady average, in seconds, which chance hardly moves. */
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
export class StoreDrainRate implements DrainReading {
  readonly #quick = new LatestRate();
  readonly #steady = new DecayingRate();
  /** So many looks until the quick average contains none from before the last change. */
  #settling = 0;
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
    // Without workers nothing completes, which says nothing about those that will start.
    if (count === 0 && this.gapMs(sample.nowMs) / 1000 > longGapS(this.#steady.perSecond)) return;
    this.#quick.add(count, seconds);
    this.#steady.add(count, seconds);
    if (this.#steady.isOff(this.#quick)) this.#settling = QUICK_LOOKS;
    if (this.#settling === 0) return;
    this.#settling -= 1;
    this.#steady.restart(this.#quick);
  }

  /** Whether so many completions prove a higher rate than the known one. */
  #isFaster(count: number, seconds: number): boolean {
    const rate = this.#steady.perSecond;
    if (rate === null) return false;
    const expected = rate * seconds;
    return count > expected + DEVIATIONS * Math.sqrt(expected) + 1;
  }
}

/** Before the first completion every gap is long. */
function longGapS(rate: number | null): number {
  return rate === null || rate === 0 ? 0 : Math.max(GAP_S, 3 / rate);
}

/** Completions in the last few looks, and their time. */
class LatestRate {
  count = 0;
  seconds = 0;
  readonly #looks: { readonly count: number; readonly seconds: number }[] = [];

  add(count: number, seconds: number): void {
    this.#looks.push({ count, seconds });
    this.count += count;
    this.seconds += seconds;
    if (this.#looks.length <= QUICK_LOOKS) return;
    const oldest = this.#looks.shift();
    this.count -= oldest?.count ?? 0;
    this.seconds -= oldest?.seconds ?? 0;
  }
}

/** Completions and the time that they took, both decaying. */
class DecayingRate {
  ageS = 0;
  #count = 0;
  #seconds = 0;

  /** Null before the first completion. */
  get perSecond(): number | null {
    return this.#count === 0 ? null : this.#count / this.#seconds;
  }

  add(count: number, seconds: number): void {
    const kept = Math.exp(-seconds / STEADY_S);
    this.#count = this.#count * kept + count;
    this.#seconds = this.#seconds * kept + seconds;
    this.ageS += seconds;
  }

  /** Whether the two averages differ by more than chance explains. */
  isOff({ count, seconds }: LatestRate): boolean {
    if (this.perSecond === null || count === 0) return false;
    const ratio = count / seconds / this.perSecond;
    const chance = Math.max(CHANGE, 1 + DEVIATIONS / Math.sqrt(count));
    return ratio > chance || ratio < 1 / chance;
  }

  restart({ count, seconds }: LatestRate): void {
    if (count === 0) return;
    this.#count = count;
    this.#seconds = seconds;
    this.ageS = Math.min(this.ageS, seconds);
  }
}
