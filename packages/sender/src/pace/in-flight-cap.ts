import type { RateHints } from '../answers/rate-hints.ts';

/** The first cap of an endpoint that is not known. */
const FIRST_CAP = 8;
/** Answers that take this many times the least show a queue: the cap does not grow … */
const HOLD = 2;
/** … and above this it shrinks. */
const SHRINK = 4;
/** One cut at the most halves the cap. */
const DEEPEST_CUT = 0.5;
/** A cut has helped if answers take this share of the time before. */
const HELPED = 0.8;
/** After so many cuts in a row that did not help, the latency has another reason than our requests. */
const USELESS_CUTS = 2;
/** The answers by which a cut is judged: more than for the usual median, because a wrong judgment lasts. */
const JUDGED = 32;
/** How many median times it takes until answers show a changed cap. */
const SETTLING_ROUNDS = 2;
/**
 * The least time is checked by a trial when no reading has confirmed it for so long: at first soon, because the first
 * readings have few answers.
 */
const FIRST_TRIAL_AFTER_MS = 2000;
const TRIAL_AFTER_MS = 120_000;

/** Of a receiver that says how full its queue is: below this the cap grows, above it shrinks … */
const FILL = 0.1;
/** … to this share. */
const FILL_CUT = 0.7;

/** A lower cap whose answers are awaited. */
interface Cut {
  readonly fromCap: number;
  readonly beforeMs: number;
  readonly isTrial: boolean;
  readonly answers: number[];
}

/**
 * How many requests may be in flight at an endpoint: a slow start, as of TCP, that ends before the endpoint has to refuse.
 * An endpoint that holds requests shows its queue as latency, so the cap grows by one for each success while the median
 * stays below twice the least seen, and shrinks above four times.
 *
 * Latency has other reasons too: larger payloads, a slow database, the load of other senders. Shrinking does not help
 * then. So a cut is an experiment: if two in a row change nothing, the cap is restored and the present latency becomes the
 * least. For the same reason a least that no reading has confirmed for two minutes is checked, by a cap at which its own
 * requests would not queue.
 *
 * Senders that fill one queue have seen different least times: the last to begin has never seen the queue empty, and would
 * fill it for all others. So if the receiver says how full its queue is, that decides instead. Then all senders see the
 * same, and grow by equal steps and shrink by equal factors, which leads to equal shares (Chiu and Jain, 1989).
 */
export class InFlightCap {
  /** An integer from 1 to `max`. */
  value: number;
  #max: number;
  readonly #times: AnswerTimes = new AnswerTimes();
  /** Answers before say nothing about the present cap. */
  #settledAtMs = -Infinity;
  #changedAtMs = -Infinity;
  #roundMs = 0;
  #cut: Cut | undefined;
  /** The last value that the receiver sent; undefined if it sends none. */
  #fill: number | undefined;
  /** Whether its queue was fuller than the cap needs: others fill it as well, or the cap is large enough. */
  #hasShared = false;
  /** Successes since the last growth. */
  #steps = 0;
  #trialAfterMs = FIRST_TRIAL_AFTER_MS;
  #uselessCuts = 0;
  #restoreTo = 0;
  #adoptedAtMs = -Infinity;

  constructor(max: number) {
    this.#max = max;
    this.value = Math.min(max, FIRST_CAP);
  }

  /** Whether answers show no queue, as far as is known. */
  get mayGrow(): boolean {
    const { isKnown, factor } = this.#times;
    if (this.#cut !== undefined || this.value >= this.#max || !isKnown) return false;
    return this.#fill === undefined ? factor < HOLD : this.#fill < FILL;
  }

  setMax(max: number): void {
    this.#max = max;
    this.value = Math.min(max, this.value);
  }

  /** After a success, if it {@link mayGrow}. */
  grow(): void {
    // Senders that fill one queue reach equal shares only if they grow by equal steps, not by equal factors.
    if (this.#hasShared && (this.#steps += 1) < this.value) return;
    this.#steps = 0;
    this.value += 1;
  }

  /** The endpoint was down: its learned figures may be outdated. */
  startSlowly(nowMs: number): void {
    this.value = Math.min(this.value, FIRST_CAP);
    this.#trialAfterMs = FIRST_TRIAL_AFTER_MS;
    this.#hasShared = false;
    this.#cut = undefined;
    this.#uselessCuts = 0;
    this.#awaitNews(this.#times.recentMs, nowMs);
  }

  /** Learns how long a request took. */
  note(startedAtMs: number, tookMs: number, hints: RateHints | undefined, nowMs: number): void {
    const fill = hints?.fill;
    this.#fill = fill;
    this.#hasShared ||= fill !== undefined && fill >= FILL;
    if (startedAtMs < this.#changedAtMs)
      this.#settledAtMs = Math.max(this.#settledAtMs, nowMs + this.#roundMs);
    if (nowMs < this.#settledAtMs) return;
    const times = this.#times;
    if (this.#cut !== undefined) {
      this.#cut.answers.push(tookMs);
      if (this.#cut.answers.length >= JUDGED) this.#judge(this.#cut, nowMs);
      return;
    }
    times.note(tookMs, nowMs);
    if (fill !== undefined) {
      // Where keys take turns, a full queue may be that of another key.
      const isOurs = times.factor >= HOLD || times.recentMs >= (hints?.resetMs ?? 0) / 2;
      if (fill >= FILL && times.recentMs > 0 && isOurs) this.#yield(nowMs);
    } else if (times.factor > SHRINK) this.#shrink(nowMs);
    else if (times.factor >= HOLD && nowMs - times.confirmedAtMs >= this.#trialAfterMs) this.#try(nowMs);
  }

  #yield(nowMs: number): void {
    this.value = Math.max(1, Math.floor(this.value * FILL_CUT));
    this.#awaitNews(this.#times.recentMs, nowMs);
  }

  #shrink(nowMs: number): void {
    // Requests one at a time do not wait for each other, and cuts that do not help are not repeated.
    if (this.value === 1 || this.#uselessCuts >= USELESS_CUTS) {
      this.#adopt(this.#times.recentMs, nowMs);
      return;
    }
    this.#begin(Math.max(DEEPEST_CUT, HOLD / this.#times.factor), false, nowMs);
  }

  #try(nowMs: number): void {
    this.#trialAfterMs = Math.min(TRIAL_AFTER_MS, 2 * this.#trialAfterMs);
    this.#begin(1 / this.#times.factor, true, nowMs);
  }

  #begin(share: number, isTrial: boolean, nowMs: number): void {
    const fromCap = this.value;
    this.#cut = { fromCap, beforeMs: this.#times.recentMs, isTrial, answers: [] };
    if (this.#uselessCuts === 0) this.#restoreTo = fromCap;
    this.value = Math.max(1, Math.min(fromCap - 1, Math.round(fromCap * share)));
    this.#awaitNews(this.#times.recentMs, nowMs);
  }

  #judge({ fromCap, beforeMs, isTrial, answers }: Cut, nowMs: number): void {
    this.#cut = undefined;
    const ms = medianOf(answers);
    const hasHelped = ms <= HELPED * beforeMs;
    if (!hasHelped) this.#uselessCuts += 1;
    else if (!isTrial) this.#uselessCuts = 0;
    if (isTrial) {
      // Answers that the trial made faster are the best that is known; others have another reason than our requests.
      this.#times.replaceLeast(ms, nowMs);
      this.value = Math.min(this.#max, fromCap);
      this.#uselessCuts = 0;
    } else if (this.#uselessCuts >= USELESS_CUTS) {
      this.#adopt(ms, nowMs);
    }
    this.#awaitNews(ms, nowMs);
  }

  /** At most once in two minutes: if others fill the endpoint, each sender would otherwise raise its least again and again. */
  #adopt(ms: number, nowMs: number): void {
    if (nowMs - this.#adoptedAtMs < TRIAL_AFTER_MS) return;
    this.#adoptedAtMs = nowMs;
    this.#times.replaceLeast(ms, nowMs);
    this.value = Math.max(this.value, Math.min(this.#max, this.#restoreTo));
    this.#uselessCuts = 0;
  }

  /**
   * Drops what is known of the recent answers. Of requests that are started from now on, the fastest end first, so the
   * answers of the next round trips are not the usual ones. Nor are they while requests are in flight that were started
   * before: the queue may be that of the cap before.
   */
  #awaitNews(medianMs: number, nowMs: number): void {
    this.#changedAtMs = nowMs;
    this.#roundMs = medianMs;
    this.#settledAtMs = nowMs + SETTLING_ROUNDS * medianMs;
    this.#times.clear();
  }
}

/** The recent answers whose median is compared. */
const RECENT = 16;
/** The fewest answers that have a useful median. */
const FEWEST = 8;
/** A reading for the least median contains at first 8, in the end so many answers. */
const LARGEST_READING = 64;
/** How far a lower reading lowers the least: chance makes single readings too low. */
const GAIN = 0.25;
/** A least that was confirmed by a reading up to this factor above it is still right. */
const LIKE = 1.25;
/** The least counts as at least so much: below, differences come from the two event loops, not from a queue. */
const NOISE_MS = 25;

/**
 * How long the answers of an endpoint take: the median of the last 16, and the least median so far. The median, because
 * large payloads and single slow answers are no queue; the least of medians and not of answers, because times vary: the
 * fastest of many answers is far below what is usual, without any queue.
 */
class AnswerTimes {
  /** The median of recent answers, in milliseconds; 0 while there are too few. */
  recentMs = 0;
  /** The least median; 0 before the first reading. */
  leastMs = 0;
  /** When a reading was last as low as the least. */
  confirmedAtMs = 0;
  readonly #ring: Float64Array = new Float64Array(RECENT);
  readonly #sorted: Float64Array = new Float64Array(RECENT);
  #count = 0;
  #reading: number[] = [];
  #readingSize = FEWEST;

  /** How many times the least the recent answers take; 1 while that is unknown. */
  get factor(): number {
    if (this.recentMs === 0 || this.leastMs === 0) return 1;
    return Math.max(1, this.recentMs / Math.max(this.leastMs, NOISE_MS));
  }

  /** Whether there is something to compare, or nothing was ever noted. */
  get isKnown(): boolean {
    return this.recentMs > 0 || this.leastMs === 0;
  }

  note(tookMs: number, nowMs: number): void {
    this.#ring[this.#count % RECENT] = tookMs;
    this.#count += 1;
    if (this.#count >= FEWEST) {
      const sorted = this.#sorted.subarray(0, Math.min(RECENT, this.#count));
      sorted.set(this.#ring.subarray(0, sorted.length));
      this.recentMs = middle(sorted.sort());
    }
    this.#reading.push(tookMs);
    if (this.#reading.length >= this.#readingSize) this.#read(nowMs);
  }

  /** Drops recent answers, because they were made under other limits. */
  clear(): void {
    this.#count = 0;
    this.recentMs = 0;
    this.#reading = [];
  }

  /** So long is usual now. */
  replaceLeast(ms: number, nowMs: number): void {
    this.leastMs = ms;
    this.confirmedAtMs = nowMs;
  }

  #read(nowMs: number): void {
    const ms = medianOf(this.#reading);
    this.#reading = [];
    this.#readingSize = Math.min(LARGEST_READING, 2 * this.#readingSize);
    if (this.leastMs === 0) this.leastMs = ms;
    else if (ms < this.leastMs) this.leastMs += GAIN * (ms - this.leastMs);
    if (ms <= LIKE * Math.max(this.leastMs, NOISE_MS)) this.confirmedAtMs = nowMs;
  }
}

function medianOf(values: readonly number[]): number {
  return middle(Float64Array.from(values).sort());
}

/** The median of sorted values: of two in the middle the lower one. */
function middle(sorted: Float64Array): number {
  return sorted[(sorted.length - 1) >> 1] as number;
}
