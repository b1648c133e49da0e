import { Alarm } from '../time/alarm.ts';
import type { Clock } from '../time/clock.ts';
import { Deadlines } from '../time/deadlines.ts';
import type { AdmittedDelivery } from './admitted-delivery.ts';
import { DrainMeter } from './drain-meter.ts';
import type { Outcome } from '../delivery/events.ts';
import type { FairQueue } from '../queue/fair-queue.ts';
import { FairShares } from './fair-shares.ts';
import { Limits, workersPerKey, type LimitSettings } from '../limits/limits.ts';
import { Pacer } from './pacer.ts';
import { TooLate } from '../queue/too-late.ts';
import { Workers } from './workers.ts';

/** The options of an intake that its dispatcher depends on. */
export interface DispatcherSettings extends LimitSettings {
  readonly maxConcurrencyPerKey: number | undefined;
  readonly maxHandlingMs: number;
}

/** What the timers of a dispatcher report. The receiver decides what follows. */
export interface TimerEvents {
  /** A delivery has been queued, or handled, for as long as it may. */
  due(admitted: AdmittedDelivery, now: number): void;
  /** The pace allows the next start. */
  paced(now: number): void;
  /** A step of the shared timer, which runs while there are admitted deliveries. */
  step(now: number): void;
}

/**
 * The queue and the workers: where each admitted delivery is, and when the next one may start. What a start, an end or a
 * withdrawal leads to is decided by the caller, which also counts and reports it.
 */
export class Dispatcher {
  readonly queue: FairQueue<AdmittedDelivery>;
  readonly shares: FairShares<AdmittedDelivery>;
  readonly drain: DrainMeter;
  /** Deliveries that are handled without a worker. Only a dry run has any. */
  #outside = 0;
  #settings: DispatcherSettings;
  readonly #isDryRun: boolean;
  readonly #limits: Limits;
  readonly #workers: Workers;
  readonly #deadlines: Deadlines<AdmittedDelivery>;
  readonly #tooLate: TooLate<AdmittedDelivery>;
  readonly #paceAlarm: Alarm;
  #pacer: Pacer;

  constructor(
    options: DispatcherSettings & { readonly dryRun: boolean; readonly clock: Clock },
    now: () => number,
    events: TimerEvents,
  ) {
    const { dryRun, clock } = options;
    this.#settings = options;
    this.#isDryRun = dryRun;
    this.#limits = new Limits(options);
    this.#workers = new Workers(this.#limits.concurrency);
    this.shares = new FairShares<AdmittedDelivery>(workersPerKey(options, this.#workers.size));
    this.queue = this.shares.queue;
    this.#tooLate = new TooLate<AdmittedDelivery>(this.queue);
    this.#pacer = new Pacer(this.#limits.rate);
    this.#paceAlarm = new Alarm(clock, () => {
      events.paced(now());
    });
    this.#deadlines = new Deadlines<AdmittedDelivery>(
      clock,
      now,
      (admitted, nowMs) => {
        events.due(admitted, nowMs);
      },
      (nowMs) => {
        events.step(nowMs);
      },
      () => this.queue.size > 0,
    );
    this.drain = new DrainMeter({
      workers: this.#workers,
      pacer: () => this.#pacer,
      deadlines: this.#deadlines,
    });
  }

  /** Deliveries that are being handled. */
  get active(): number {
    return this.#workers.active + this.#outside;
  }

  /** How many deliveries may be handled concurrently, now. */
  get concurrency(): number {
    return this.#workers.size;
  }

  /** How many deliveries could be handled concurrently now, if `concurrency` were larger. */
  get wanted(): number {
    const { queue, active } = this;
    const { concurrency, mostConcurrency } = this.#limits;
    const { maxConcurrencyPerKey: most = 0 } = this.#settings;
    // A fraction grows with the concurrency.
    const wanted = active + (most < 1 ? queue.size : Math.min(queue.size, queue.keys * most));
    // A limit that was learned is what the downstream can bear, and grows by a quarter at most.
    return concurrency < mostConcurrency ? Math.min(wanted, Math.ceil(1.25 * concurrency)) : wanted;
  }

  /** Admitted deliveries that have not ended. */
  get held(): number {
    return this.queue.size + this.active;
  }

  /** Whether the next start waits only for the pace. */
  get isPaced(): boolean {
    return this.#paceAlarm.isSet;
  }

  /** Whether a delivery of the key could start now without overtaking a queued one. */
  isIdle(key: string, now: number): boolean {
    const isFree = !this.queue.hasTurns && this.#workers.isFree && this.#pacer.delayMs(now) === 0;
    return isFree && !this.shares.isAtLimit(key);
  }

  retune(settings: DispatcherSettings): void {
    this.#settings = settings;
    this.#limits.retune(settings);
    this.#applyLimits();
  }

  /** Starts a delivery that has not been queued. */
  startNow(admitted: AdmittedDelivery, now: number): void {
    this.shares.skip(admitted, now);
    this.#start(admitted, now, false);
  }

  enqueue(admitted: AdmittedDelivery, now: number): void {
    // A dry run handles a delivery from its admission on.
    if (this.#isDryRun) admitted.startedAtMs = admitted.admittedAtMs;
    else admitted.wait();
    this.shares.push(admitted);
    this.#deadlines.set(admitted, admitted.expiresAtMs, now);
  }

  /** The queued delivery that may start now, or null. Where only the pace delays it, the timer will report that. */
  next(now: number): AdmittedDelivery | null {
    const admitted = this.#workers.isFree ? this.queue.peek() : null;
    if (admitted === null) return null;
    const delayMs = this.#pacer.delayMs(now);
    if (delayMs === 0) return admitted;
    this.#paceAlarm.set(now, delayMs);
    return null;
  }

  /** Starts the delivery that {@link next} returned. `isTimed`: see {@link Pacer.started}. */
  startNext(admitted: AdmittedDelivery, now: number, isTimed: boolean): void {
    this.shares.shift(admitted, now);
    this.#deadlines.clear(admitted);
    this.#start(admitted, now, isTimed);
    admitted.grant();
  }

  /** Handles a delivery without a worker, in a dry run. */
  runOutside(admitted: AdmittedDelivery, now: number): void {
    admitted.state = 'outside';
    admitted.startedAtMs = admitted.admittedAtMs;
    this.#outside += 1;
    this.#deadlines.set(admitted, admitted.startedAtMs + this.#settings.maxHandlingMs, now);
  }

  /**
   * Ends a delivery that is being handled, and frees its worker.
   *
   * @param teaches - whether it took as long as its work takes, and was not interrupted.
   */
  end(admitted: AdmittedDelivery, outcome: Outcome, now: number, teaches: boolean): void {
    const { state } = admitted;
    this.#deadlines.clear(admitted);
    admitted.state = 'ended';
    if (state === 'active') {
      const serviceMs = this.drain.end(admitted, now, teaches);
      const hasChanged = this.#limits.observe(now, serviceMs, outcome, this.#workers.active);
      this.shares.end(admitted, now, serviceMs, teaches);
      this.#workers.active -= 1;
      if (hasChanged) this.#applyLimits();
    } else if (state === 'outside') {
      this.#outside -= 1;
    } else {
      this.queue.remove(admitted);
    }
  }

  /** A queued delivery may wait longer. */
  extend(admitted: AdmittedDelivery, untilMs: number, now: number): void {
    this.#deadlines.clear(admitted);
    this.#deadlines.set(admitted, untilMs, now);
  }

  /** Removes a queued delivery. */
  remove(admitted: AdmittedDelivery): void {
    this.#deadlines.clear(admitted);
    this.queue.remove(admitted);
  }

  /** Passes on queued deliveries that cannot start in time, since the drain rate has become known or has fallen. */
  findLate(now: number, found: (admitted: AdmittedDelivery) => void): void {
    const { sureRate } = this.drain;
    // While the workers are stalled it is not known what can start in time.
    if (this.queue.size === 0 || sureRate === null || this.drain.gapFactor(now) > 1) return;
    const share = this.shares.shareOf(this.#workers.size);
    this.#tooLate.step(now, { perMs: sureRate / 1000, scale: this.shares.scale, share }, found);
  }

  /** Ends the timers. Deliveries that are being handled may end later. */
  stop(): void {
    this.#deadlines.stop();
    this.#paceAlarm.clear();
  }

  #start(admitted: AdmittedDelivery, now: number, isTimed: boolean): void {
    admitted.state = 'active';
    this.#workers.active += 1;
    // A dry run handles a delivery from its admission on, and the drain rate needs the true times.
    admitted.startedAtMs = this.#isDryRun ? admitted.admittedAtMs : now;
    this.#pacer.started(now, isTimed);
    this.#deadlines.set(admitted, admitted.startedAtMs + this.#settings.maxHandlingMs, now);
    this.drain.begin(admitted, now);
  }

  #applyLimits(): void {
    const { concurrency, rate } = this.#limits;
    this.#workers.size = concurrency;
    this.shares.limit(workersPerKey(this.#settings, concurrency));
    if (rate === this.#pacer.rate) return;
    this.#pacer = new Pacer(rate, this.#pacer);
    this.#paceAlarm.clear();
  }
}
