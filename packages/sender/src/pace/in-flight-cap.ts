import { AnswerTimes } from './answer-times.ts';

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
/** The least time is checked by a trial when no reading has confirmed it for so long. */
const TRIAL_AFTER_MS = 120_000;

/** A lower cap whose answers are awaited. */
interface Cut {
  readonly fromCap: number;
  readonly beforeMs: number;
  readonly isTrial: boolean;
}

/**
 * How many requests may be in flight at an endpoint: a slow start, as of TCP, that ends before the endpoint has to refuse.
 * An endpoint that holds requests shows its queue as latency, so the cap grows by one for each success while the median
 * stays below twice the least seen, and shrinks above four times.
 *
 * Latency has other reasons too: larger payloads, a slow database, the load of other senders. Shrinking does not help
 * then. So a cut is an experiment: if two in a row change nothing, the cap is restored and the present latency becomes the
 * least. For the same reason a least that no reading has confirmed for two minutes is checked, by a cap at which our own
 * requests would not queue.
 */
export class InFlightCap {
  /** An integer from 1 to `max`. */
  value: number;
  #max: number;
  readonly #times: AnswerTimes = new AnswerTimes();
  /** Answers of requests that started before say nothing about the present cap. */
  #sinceMs = -Infinity;
  #cut: Cut | undefined;
  #uselessCuts = 0;
  #restoreTo = 0;
  #adoptedAtMs = -Infinity;

  constructor(max: number) {
    this.#max = max;
    this.value = Math.min(max, FIRST_CAP);
  }

  /** Whether answers show no queue, as far as is known. */
  get mayGrow(): boolean {
    return this.#cut === undefined && this.value < this.#max && this.#times.factor < HOLD;
  }

  setMax(max: number): void {
    this.#max = max;
    this.value = Math.min(max, this.value);
  }

  grow(): void {
    this.value = Math.min(this.#max, this.value + 1);
  }

  /** After a refusal. */
  halve(nowMs: number): void {
    this.value = Math.max(1, this.value >> 1);
    this.#restart(nowMs);
  }

  /** The endpoint was down: what is known of it may be wrong. */
  startSlowly(nowMs: number): void {
    this.value = Math.min(this.value, FIRST_CAP);
    this.#restart(nowMs);
  }

  /** Learns how long a request took. */
  note(startedAtMs: number, tookMs: number, nowMs: number): void {
    if (startedAtMs < this.#sinceMs) return;
    const times = this.#times;
    times.note(tookMs, nowMs);
    if (!times.isKnown) return;
    if (this.#cut !== undefined) this.#judge(this.#cut, nowMs);
    else if (times.factor > SHRINK) this.#shrink(nowMs);
    else if (times.factor >= HOLD && nowMs - times.confirmedAtMs >= TRIAL_AFTER_MS) this.#try(nowMs);
  }

  #shrink(nowMs: number): void {
    if (this.value === 1) {
      // Requests one at a time do not wait for each other.
      this.#adopt(nowMs);
      return;
    }
    if (this.#uselessCuts >= USELESS_CUTS) {
      this.#adopt(nowMs);
      return;
    }
    this.#begin(Math.max(DEEPEST_CUT, HOLD / this.#times.factor), false, nowMs);
  }

  #try(nowMs: number): void {
    this.#begin(1 / this.#times.factor, true, nowMs);
  }

  #begin(share: number, isTrial: boolean, nowMs: number): void {
    const fromCap = this.value;
    this.#cut = { fromCap, beforeMs: this.#times.recentMs, isTrial };
    if (this.#uselessCuts === 0) this.#restoreTo = fromCap;
    this.value = Math.max(1, Math.min(fromCap - 1, Math.round(fromCap * share)));
    this.#sinceMs = nowMs;
    this.#times.clear();
  }

  #judge(cut: Cut, nowMs: number): void {
    this.#cut = undefined;
    const hasHelped = this.#times.recentMs <= HELPED * cut.beforeMs;
    if (cut.isTrial) {
      this.value = Math.min(this.#max, cut.fromCap);
      // A trial that helped shows that there was a queue; its answers are then the best that is known.
      this.#times.adopt(nowMs);
      this.#restartTimes(nowMs);
    } else if (hasHelped) this.#uselessCuts = 0;
    else this.#uselessCuts += 1;
  }

  /** At most once in two minutes: if others fill the endpoint, each sender would otherwise raise its least again and again. */
  #adopt(nowMs: number): void {
    if (nowMs - this.#adoptedAtMs < TRIAL_AFTER_MS) return;
    this.#adoptedAtMs = nowMs;
    this.#times.adopt(nowMs);
    if (this.#uselessCuts > 0) this.value = Math.min(this.#max, this.#restoreTo);
    this.#uselessCuts = 0;
    this.#restartTimes(nowMs);
  }

  #restart(nowMs: number): void {
    this.#cut = undefined;
    this.#uselessCuts = 0;
    this.#restartTimes(nowMs);
  }

  #restartTimes(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#times.clear();
  }
}
