import { Deadlines, Timer } from '@webhook-backpressure/base';
import { DrainRate, Limits, Pacer } from '@webhook-backpressure/core/extend';
import type { DrainReading } from '../capacity/drain-rate.ts';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { HandlerRun } from './handler-run.ts';

/** The share of finished attempts is averaged over about this many. */
const MEMORY = 100;
/** A lower bound: an inbox whose attempts all fail is expected to recover. */
const MIN_SHARE = 0.05;
/** A longer gap between two attempts says nothing about the speed of the workers. */
const LONG_GAP_MS = 1000;
/** While a result is being stored, its deadline only keeps the timer going, which notices a stall. */
const SETTLING_MS = 60_000;

/**
 * Counts the handlers that run, starts others as `concurrency` and `maxStartsPerSecond` allow, and measures how fast
 * they finish deliveries: attempts that must be repeated do not count. A handler has its worker until its result is stored.
 */
export class RunningHandlers implements DrainReading {
  /** How many handlers may run concurrently. */
  concurrency: number;
  readonly #inbox: InboxState;
  readonly #begin: (run: HandlerRun) => void;
  readonly #overdue: (run: HandlerRun) => void;
  readonly #limits: Limits;
  readonly #drain: DrainRate;
  readonly #deadlines: Deadlines<HandlerRun>;
  /** Null without a limit on starts per second. */
  #pacer: Pacer | null = null;
  readonly #paceTimer: Timer;
  /** Claimed runs, in order, for which the pace or the concurrency leaves no room yet. */
  #waiting: HandlerRun[] = [];
  #active = 0;
  /** Since the event `stalled`. */
  #hasStalled = false;
  #finishedShare = 1;
  /** The mean number of deliveries that one call of a handler finishes, and how many calls it is the mean of. */
  #perRun = 1;
  #runs = 0;
  #progressMs = 0;
  #measuredMs = 0;

  /**
   * @param begin - runs the handler.
   * @param overdue - called when a handler has run for `maxHandlingMs`.
   */
  constructor(inbox: InboxState, begin: (run: HandlerRun) => void, overdue: (run: HandlerRun) => void) {
    this.#inbox = inbox;
    this.#begin = begin;
    this.#overdue = overdue;
    this.#limits = new Limits(inbox.settings);
    this.concurrency = this.#limits.concurrency;
    this.#drain = new DrainRate(this.concurrency);
    this.#deadlines = new Deadlines(inbox.clock, inbox.now, this.#due, this.#step);
    this.#paceTimer = new Timer(inbox.clock, () => {
      this.#fill(true);
    });
    this.#applyLimits();
  }

  /** Null before the first attempt has ended. */
  get perSecond(): number | null {
    const rate = this.#drain.rate(this.#deadlines.livedMs(this.#inbox.now()));
    return rate === null ? null : rate * this.#perRun * Math.max(MIN_SHARE, this.#finishedShare);
  }

  /** All workers are busy, and none has ended an attempt for long. */
  get isStalled(): boolean {
    return this.#drain.isStalled(this.#deadlines.livedMs(this.#inbox.now()));
  }

  get measuredS(): number {
    return this.#measuredMs / 1000;
  }

  gapMs(nowMs: number): number {
    return nowMs - this.#progressMs;
  }

  /** Starts the measurement again after a time without work. */
  resume(nowMs: number): void {
    this.#progressMs = nowMs;
  }

  /** Records the end of an attempt. */
  note(isFinished: boolean, nowMs: number): void {
    this.#finishedShare += (Number(isFinished) - this.#finishedShare) / MEMORY;
    this.#measuredMs += Math.min(LONG_GAP_MS, nowMs - this.#progressMs);
    this.#progressMs = nowMs;
  }

  /** Applies changed options. */
  retune(): void {
    this.#limits.retune(this.#inbox.settings);
    this.#applyLimits();
    this.#fill();
  }

  /** Starts the run, now or when there is room. */
  add(run: HandlerRun): void {
    this.#waiting.push(run);
    this.#fill();
  }

  /** The run is over. Frees its worker, or its place among those that wait. */
  end(run: HandlerRun, isSuccess: boolean): void {
    this.#deadlines.clear(run);
    if (!run.hasWorker) {
      this.#waiting = this.#waiting.filter((one) => one !== run);
      return;
    }
    const nowMs = this.#inbox.now();
    const livedMs = this.#deadlines.livedMs(nowMs);
    const tookMs = livedMs - run.beganMs;
    run.hasWorker = false;
    this.#runs = Math.min(MEMORY, this.#runs + 1);
    this.#perRun += (run.size - this.#perRun) / this.#runs;
    this.#drain.complete(tookMs, livedMs, this.#deadlines.lateInAllMs(nowMs) - run.lateAtStartMs);
    if (this.#limits.isAdaptive) {
      this.#limits.observe(nowMs, tookMs, isSuccess ? 'success' : 'failure', this.#active);
      this.#applyLimits();
    }
    this.#active -= 1;
    if (this.#hasStalled) {
      this.#hasStalled = false;
      this.#inbox.report.emit({ type: 'recovered' });
    }
    this.#fill();
  }

  stop(): void {
    this.#deadlines.stop();
    this.#paceTimer.clear();
  }

  #fill(isPaced = this.#paceTimer.isSet): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#active >= this.concurrency) break;
      if (!next.isWaiting) {
        // It is being given back.
        this.#waiting.shift();
        continue;
      }
      const nowMs = this.#inbox.now();
      const delayMs = this.#pacer?.delayMs(nowMs) ?? 0;
      if (delayMs > 0) {
        this.#paceTimer.set(nowMs, delayMs);
        break;
      }
      this.#waiting.shift();
      this.#start(next, nowMs, isPaced);
    }
    this.#drain.look(this.#active >= this.concurrency, this.#deadlines.livedMs(this.#inbox.now()));
  }

  #start(run: HandlerRun, nowMs: number, isPaced: boolean): void {
    this.#active += 1;
    this.#pacer?.started(nowMs, isPaced);
    run.hasWorker = true;
    run.startedAtMs = nowMs;
    this.#deadlines.set(run, nowMs + this.#inbox.settings.maxHandlingMs, nowMs);
    run.beganMs = this.#deadlines.livedMs(nowMs);
    run.lateAtStartMs = this.#deadlines.lateInAllMs(nowMs);
    if (this.#active >= this.concurrency) this.#drain.look(true, run.beganMs);
    this.#begin(run);
  }

  #applyLimits(): void {
    const { concurrency, rate } = this.#limits;
    this.concurrency = this.#drain.workers = concurrency;
    if (rate === this.#pacer?.rate) return;
    this.#pacer = rate === undefined ? null : new Pacer(rate, this.#pacer);
    this.#drain.cap = rate ?? Infinity;
    this.#paceTimer.clear();
  }

  readonly #due = (run: HandlerRun, nowMs: number): void => {
    if (run.isRunning) this.#overdue(run);
    if (run.hasWorker) this.#deadlines.set(run, nowMs + SETTLING_MS, nowMs);
  };

  /** A step of the timer, which goes on while handlers have workers. */
  readonly #step = (): void => {
    if (this.#hasStalled || !this.isStalled) return;
    this.#hasStalled = true;
    this.#inbox.report.emit({ type: 'stalled' });
  };
}
