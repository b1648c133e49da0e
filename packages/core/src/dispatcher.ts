import { Alarm } from './alarm.ts';
import { Deadlines } from './deadlines.ts';
import { DrainRate } from './drain-rate.ts';
import type { Listeners, Outcome, WithdrawalCause } from './events.ts';
import { FairQueue } from './fair-queue.ts';
import type { Ledger } from './ledger.ts';
import type { Fixtures, Settings } from './options.ts';
import { Limits } from './limits.ts';
import { Pacer } from './pacer.ts';
import type { Place } from './place.ts';
import type { Refusal } from './refusal.ts';
import { WorkerPool } from './worker-pool.ts';

/** What the dispatcher asks of the intake around it. */
export interface Surroundings {
  readonly ledger: Ledger;
  readonly listeners: Listeners;
  now(): number;
  /** The answer to a delivery that is taken out before its start. */
  refusalOf(place: Place, cause: WithdrawalCause, now: number): Refusal;
  /** A delivery is about to leave the queue. */
  leaving(place: Place): void;
  /** A delivery has been taken out before its start. */
  withdrawn(place: Place, now: number): void;
  /** The handling of a delivery has ended. */
  ended(place: Place, outcome: Outcome, now: number): void;
  /** After a stall that was reported, something has completed. */
  recovered(): void;
  /** The queue has become shorter, or a worker is free. */
  relieved(now: number): void;
  /** A step of the shared timer, while there are deliveries. */
  step(now: number): void;
}

/**
 * What has been let in, from admission to end: it waits in the queue, gets a worker when one is free and the pace
 * allows, and ends by release, by its deadline, or by being taken out. It knows nothing of marks and refusals.
 */
export class Dispatcher {
  readonly queue: FairQueue<Place> = new FairQueue<Place>();
  readonly drain: DrainRate = new DrainRate();
  /** In a dry run: handled although refused or taken out. */
  outside = 0;
  #settings: Settings;
  readonly #isDryRun: boolean;
  readonly #around: Surroundings;
  readonly #limits: Limits;
  readonly #pool: WorkerPool;
  readonly #deadlines: Deadlines<Place>;
  readonly #paceAlarm: Alarm;
  #pacer: Pacer;
  #isStalled = false;

  constructor(options: Settings & Fixtures, around: Surroundings) {
    this.#settings = options;
    this.#isDryRun = options.dryRun;
    this.#around = around;
    this.#limits = new Limits(options);
    this.#pool = new WorkerPool(this.#limits.concurrency);
    this.#pacer = new Pacer(this.#limits.rate);
    this.#paceAlarm = new Alarm(options.clock, this.#startPaced);
    this.#deadlines = new Deadlines<Place>(options.clock, () => around.now(), this.#expire, this.#watch);
  }

  /** Deliveries that are being handled. */
  get active(): number {
    return this.#pool.active + this.outside;
  }

  /** How many may be handled at once, now. */
  get concurrency(): number {
    return this.#pool.size;
  }

  /** Deliveries let in that have not ended. */
  get held(): number {
    return this.queue.size + this.active;
  }

  /** Completions per second that the workers can sustain, or null before the first one. */
  drainRate(now: number): number | null {
    const rate = this.drain.rate(this.#deadlines.livedMs(now), this.#pool.size);
    return rate === null ? null : Math.min(rate, this.#pacer.rate ?? Infinity);
  }

  /** Likewise, less swayed by chance and by stalls, for what lies minutes ahead. */
  get steadyRate(): number | null {
    const rate = this.drain.steadyRate(this.#pool.size);
    return rate === null ? null : Math.min(rate, this.#pacer.rate ?? Infinity);
  }

  /** Milliseconds without a completion although all workers are busy; 0 when not all are. */
  gapMs(now: number): number {
    return this.drain.gapMs(this.#deadlines.livedMs(now));
  }

  /** How many times the longest usual gap that is; at least 1. */
  gapFactor(now: number): number {
    return this.drain.gapFactor(this.#deadlines.livedMs(now), this.#pool.size);
  }

  /** Whether the workers stand still. */
  isStalled(now: number): boolean {
    return this.drain.isStalled(this.#deadlines.livedMs(now));
  }

  /** For how long the process has not looked at anything: what comes to light now may have waited for so long. */
  lagMs(now: number): number {
    return this.#deadlines.lateMs(now);
  }

  /** The part of the last seconds in which the process was late, from 0 to 1. */
  get lateShare(): number {
    return this.#deadlines.lateShare;
  }

  /** Whether a delivery could start now without passing one that waits. */
  isIdle(now: number): boolean {
    return this.queue.size === 0 && this.#pool.isFree && this.#pacer.delayMs(now) === 0;
  }

  retune(settings: Settings, now: number): void {
    this.#settings = settings;
    this.#limits.retune(settings);
    this.#applyLimits();
    this.dispatch(now);
  }

  /** Gives the place a worker. `isTimed`: see {@link Pacer.started}. */
  start(place: Place, now: number, isTimed: boolean): void {
    const { ledger, listeners } = this.#around;
    place.state = 'active';
    // In a dry run it is handled from its admission on, and the drain rate has to come from the true times.
    place.startedAtMs = this.#isDryRun ? place.admittedAtMs : now;
    this.#pool.take();
    this.#pacer.started(now, isTimed);
    this.#deadlines.set(place, place.startedAtMs + this.#settings.maxHandlingMs, now);
    const lived = this.#deadlines.livedMs(now);
    if (!this.#pool.isFree) this.drain.saturate(lived);
    this.drain.begin(place, lived, this.#pool.size, lived - (now - place.startedAtMs));
    ledger.started += 1;
    if (listeners.any) listeners.emit(now, { type: 'started', key: place.key, waitedMs: place.waitedMs });
  }

  /** Lets the place wait. To be followed by {@link dispatch}. */
  enqueue(place: Place, now: number): void {
    // In a dry run it is handled from its admission on.
    if (this.#isDryRun) place.startedAtMs = place.admittedAtMs;
    else place.wait();
    this.queue.push(place);
    this.#deadlines.set(place, place.expiresAtMs, now);
  }

  /** Only in a dry run: lets a delivery be handled that has no worker. */
  runOutside(place: Place, now: number): void {
    place.state = 'outside';
    place.startedAtMs = place.admittedAtMs;
    this.outside += 1;
    this.#deadlines.set(place, place.startedAtMs + this.#settings.maxHandlingMs, now);
    this.#around.ledger.started += 1;
  }

  /** Gives free workers what waits, as far as the pace allows. */
  dispatch(now: number, isPaced: boolean = this.#paceAlarm.isSet): void {
    for (;;) {
      const place = this.#pool.isFree ? this.queue.peek() : null;
      if (place === null) break;
      const delayMs = this.#pacer.delayMs(now);
      if (delayMs > 0) {
        this.#paceAlarm.set(now, delayMs);
        break;
      }
      if (now >= place.expiresAtMs) {
        this.withdraw(place, 'expired', now);
        continue;
      }
      this.#around.leaving(place);
      this.queue.shift();
      this.#deadlines.clear(place);
      // Settled before the start is reported: a listener may start the next one, whose turn is after this one.
      place.settle(place);
      this.start(place, now, isPaced);
    }
    const lived = this.#deadlines.livedMs(now);
    if (this.#pool.isFree) this.drain.relax(lived, this.#pool.size);
    else this.drain.saturate(lived);
  }

  /** Ends the handling of a delivery, however it came about. */
  end(place: Place, outcome: Outcome, now: number, isOverdue = false): void {
    const { ledger, listeners } = this.#around;
    const { key, state } = place;
    const tookMs = now - (state === 'waiting' ? place.admittedAtMs : place.startedAtMs);
    this.#deadlines.clear(place);
    place.state = 'ended';
    if (state === 'active') {
      const serviceMs = this.drain.complete(this.#deadlines.livedMs(now), place, this.#pool.size);
      const hasChanged = this.#limits.observe(now, serviceMs, outcome, this.#pool.active);
      this.#pool.give();
      if (hasChanged) this.#applyLimits();
    } else if (state === 'outside') {
      this.outside -= 1;
    } else {
      ledger.started += 1;
      this.#around.leaving(place);
      this.queue.remove(place);
    }
    ledger[outcome === 'success' ? 'completed' : 'failed'] += 1;
    if (listeners.any) {
      if (isOverdue) listeners.emit(now, { type: 'overdue', key, heldMs: tookMs });
      listeners.emit(now, { type: 'completed', key, tookMs, outcome });
    }
    if (state === 'active' && this.#isStalled) {
      this.#isStalled = false;
      this.#around.recovered();
      listeners.emit(now, { type: 'recovered' });
    }
    this.#around.ended(place, outcome, now);
    this.dispatch(now);
    this.#around.relieved(now);
  }

  /** Takes a delivery out that waits, and tells it why. */
  withdraw(place: Place, cause: WithdrawalCause, now: number): void {
    const { ledger, listeners } = this.#around;
    const refusal = this.#around.refusalOf(place, cause, now);
    this.#deadlines.clear(place);
    this.#around.leaving(place);
    this.queue.remove(place);
    if (this.#isDryRun) {
      this.runOutside(place, now);
    } else {
      place.state = 'ended';
      ledger.withdrawn[cause] += 1;
      place.settle(refusal);
    }
    if (listeners.any) {
      listeners.emit(now, { type: 'withdrawn', key: place.key, cause, waitedMs: now - place.admittedAtMs });
    }
    this.#around.withdrawn(place, now);
    // A newer one takes the place of the displaced at once, and between the two there is nothing to decide.
    if (cause !== 'displaced') this.#around.relieved(now);
  }

  /** Takes out all that wait. Returns how many were refused by it. */
  withdrawAll(): number {
    const now = this.#around.now();
    const { withdrawn } = this.#around.ledger;
    const before = withdrawn.closing;
    for (let place = this.queue.peek(); place !== null; place = this.queue.peek()) {
      this.withdraw(place, 'closing', now);
    }
    return withdrawn.closing - before;
  }

  /** Ends timers and workers. What is still being handled may end whenever it does. */
  stop(): void {
    this.#deadlines.stop();
    this.#paceAlarm.clear();
    this.#pool.close();
  }

  readonly #startPaced = (): void => {
    const now = this.#around.now();
    this.dispatch(now, true);
    this.#around.relieved(now);
  };

  /** A deadline has come: of the wait, or of the handling. */
  readonly #expire = (place: Place, now: number): void => {
    if (place.state === 'waiting') {
      this.withdraw(place, 'expired', now);
    } else if (place.state !== 'ended') {
      this.#around.ledger.overdue += 1;
      this.end(place, 'failure', now, true);
    }
  };

  readonly #watch = (now: number): void => {
    this.#around.step(now);
    if (this.#isStalled || !this.isStalled(now)) return;
    this.#isStalled = true;
    this.#around.listeners.emit(now, { type: 'stalled', gapMs: this.gapMs(now) });
  };

  #applyLimits(): void {
    const { concurrency, rate } = this.#limits;
    if (concurrency !== this.#pool.size) this.#pool.resize(concurrency);
    if (rate === this.#pacer.rate) return;
    this.#pacer = new Pacer(rate, this.#pacer);
    this.#paceAlarm.clear();
  }
}
