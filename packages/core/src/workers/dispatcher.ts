import { timeoutError } from '../base/abort.ts';
import { Alarm } from '../time/alarm.ts';
import type { Clock } from '../time/clock.ts';
import { Deadlines } from '../time/deadlines.ts';
import { DrainMeter } from './drain-meter.ts';
import type { Listeners, Outcome, WithdrawalCause } from '../delivery/events.ts';
import type { FairQueue } from '../queue/fair-queue.ts';
import { FairShares } from './fair-shares.ts';
import type { Ledger } from '../delivery/ledger.ts';
import { Limits, workersPerKey, type LimitSettings } from '../limits/limits.ts';
import { Pacer } from './pacer.ts';
import type { AdmittedDelivery } from './admitted-delivery.ts';
import type { Refusal } from '../delivery/refusal.ts';
import { TooLate } from '../queue/too-late.ts';
import { WorkerPool } from './worker-pool.ts';

/** The options of an intake that its dispatcher depends on. */
export interface DispatcherSettings extends LimitSettings {
  readonly maxConcurrencyPerKey: number | undefined;
  readonly maxHandlingMs: number;
}

/** What the dispatcher asks of the intake around it. */
export interface Surroundings {
  readonly ledger: Ledger;
  readonly listeners: Listeners;
  now(): number;
  /** The answer to a delivery that is taken out before its start. */
  refusalOf(admitted: AdmittedDelivery, cause: WithdrawalCause, now: number): Refusal;
  /** A delivery is about to leave the queue. */
  leaving(admitted: AdmittedDelivery): void;
  /** A delivery has been taken out before its start. */
  withdrawn(admitted: AdmittedDelivery, now: number): void;
  /** The handling of a delivery has ended. */
  ended(admitted: AdmittedDelivery, outcome: Outcome, now: number): void;
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
  readonly queue: FairQueue<AdmittedDelivery>;
  readonly shares: FairShares<AdmittedDelivery>;
  readonly drain: DrainMeter;
  /** In a dry run: handled although refused or taken out. */
  outside = 0;
  #settings: DispatcherSettings;
  readonly #isDryRun: boolean;
  readonly #around: Surroundings;
  readonly #limits: Limits;
  readonly #pool: WorkerPool;
  readonly #deadlines: Deadlines<AdmittedDelivery>;
  readonly #tooLate: TooLate<AdmittedDelivery>;
  readonly #paceAlarm: Alarm;
  #pacer: Pacer;
  #isStalled = false;

  constructor(
    options: DispatcherSettings & { readonly dryRun: boolean; readonly clock: Clock },
    around: Surroundings,
  ) {
    this.#settings = options;
    this.#isDryRun = options.dryRun;
    this.#around = around;
    this.#limits = new Limits(options);
    this.#pool = new WorkerPool(this.#limits.concurrency);
    this.shares = new FairShares<AdmittedDelivery>(workersPerKey(options, this.#pool.size));
    this.queue = this.shares.queue;
    this.#tooLate = new TooLate<AdmittedDelivery>(this.queue);
    this.#pacer = new Pacer(this.#limits.rate);
    this.#paceAlarm = new Alarm(options.clock, this.#startPaced);
    this.#deadlines = new Deadlines<AdmittedDelivery>(
      options.clock,
      () => around.now(),
      this.#expire,
      this.#watch,
      () => this.queue.size > 0,
    );
    this.drain = new DrainMeter({
      pool: this.#pool,
      pacer: () => this.#pacer,
      deadlines: this.#deadlines,
    });
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

  /** Whether a delivery of the key could start now without passing one that waits for its turn. */
  isIdle(key: string, now: number): boolean {
    const isFree = !this.queue.hasTurns && this.#pool.isFree && this.#pacer.delayMs(now) === 0;
    return isFree && !this.shares.isAtLimit(key);
  }

  retune(settings: DispatcherSettings, now: number): void {
    this.#settings = settings;
    this.#limits.retune(settings);
    this.#applyLimits();
    this.dispatch(now);
  }

  /** Gives a place that has not waited a worker. */
  startNow(admitted: AdmittedDelivery, now: number): void {
    this.shares.skip(admitted, now);
    this.#start(admitted, now, false);
  }

  /** `isTimed`: see {@link Pacer.started}. */
  #start(admitted: AdmittedDelivery, now: number, isTimed: boolean): void {
    const { ledger, listeners } = this.#around;
    admitted.state = 'active';
    // In a dry run it is handled from its admission on, and the drain rate has to come from the true times.
    admitted.startedAtMs = this.#isDryRun ? admitted.admittedAtMs : now;
    this.#pool.take();
    this.#pacer.started(now, isTimed);
    this.#deadlines.set(admitted, admitted.startedAtMs + this.#settings.maxHandlingMs, now);
    this.drain.begin(admitted, now);
    ledger.started += 1;
    if (listeners.any)
      listeners.emit(now, { type: 'started', key: admitted.key, waitedMs: admitted.waitedMs });
  }

  /** Lets the place wait. To be followed by {@link dispatch}. */
  enqueue(admitted: AdmittedDelivery, now: number): void {
    // In a dry run it is handled from its admission on.
    if (this.#isDryRun) admitted.startedAtMs = admitted.admittedAtMs;
    else admitted.wait();
    this.shares.push(admitted);
    this.#deadlines.set(admitted, admitted.expiresAtMs, now);
  }

  /** Only in a dry run: lets a delivery be handled that has no worker. */
  runOutside(admitted: AdmittedDelivery, now: number): void {
    admitted.state = 'outside';
    admitted.startedAtMs = admitted.admittedAtMs;
    this.outside += 1;
    this.#deadlines.set(admitted, admitted.startedAtMs + this.#settings.maxHandlingMs, now);
    this.#around.ledger.started += 1;
  }

  /** Gives free workers what waits, as far as the pace allows. */
  dispatch(now: number, isPaced: boolean = this.#paceAlarm.isSet): void {
    for (;;) {
      const admitted = this.#pool.isFree ? this.queue.peek() : null;
      if (admitted === null) break;
      const delayMs = this.#pacer.delayMs(now);
      if (delayMs > 0) {
        this.#paceAlarm.set(now, delayMs);
        break;
      }
      if (now >= admitted.expiresAtMs) {
        this.withdraw(admitted, 'expired', now);
        continue;
      }
      this.#around.leaving(admitted);
      this.shares.shift(admitted, now);
      this.#deadlines.clear(admitted);
      // Settled before the start is reported: a listener may start the next one, whose turn is after this one.
      admitted.settle(admitted);
      this.#start(admitted, now, isPaced);
    }
    this.drain.look(now);
  }

  /** Ends the handling of a delivery, however it came about. */
  end(admitted: AdmittedDelivery, outcome: Outcome, now: number, isOverdue = false): void {
    const { ledger, listeners } = this.#around;
    const { key, state } = admitted;
    const tookMs = now - (state === 'waiting' ? admitted.admittedAtMs : admitted.startedAtMs);
    this.#deadlines.clear(admitted);
    admitted.state = 'ended';
    if (state === 'active') {
      // Of a handler that was cut off nobody knows how long it would have taken.
      const teaches = !isOverdue && !admitted.isBrokenOff;
      const serviceMs = this.drain.end(admitted, now, teaches);
      const hasChanged = this.#limits.observe(now, serviceMs, outcome, this.#pool.active);
      this.shares.end(admitted, now, serviceMs, teaches);
      this.#pool.give();
      if (hasChanged) this.#applyLimits();
    } else if (state === 'outside') {
      this.outside -= 1;
    } else {
      ledger.started += 1;
      this.#around.leaving(admitted);
      this.queue.remove(admitted);
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
    this.#around.ended(admitted, outcome, now);
    this.dispatch(now);
    this.#around.relieved(now);
  }

  /** Takes a delivery out that waits, and tells it why. */
  withdraw(admitted: AdmittedDelivery, cause: WithdrawalCause, now: number): void {
    const { ledger, listeners } = this.#around;
    const refusal = this.#around.refusalOf(admitted, cause, now);
    this.#deadlines.clear(admitted);
    this.#around.leaving(admitted);
    this.queue.remove(admitted);
    if (this.#isDryRun) {
      this.runOutside(admitted, now);
    } else {
      admitted.state = 'ended';
      ledger.withdrawn[cause] += 1;
      admitted.settle(refusal);
    }
    if (listeners.any) {
      listeners.emit(now, {
        type: 'withdrawn',
        key: admitted.key,
        cause,
        waitedMs: now - admitted.admittedAtMs,
      });
    }
    this.#around.withdrawn(admitted, now);
    // A newer one takes the place of the displaced at once, and between the two there is nothing to decide.
    if (cause !== 'displaced') this.#around.relieved(now);
  }

  /** Takes out all that wait. Returns how many were refused by it. */
  withdrawAll(): number {
    const now = this.#around.now();
    const { withdrawn } = this.#around.ledger;
    const before = withdrawn.closing;
    for (let admitted = this.queue.oldest; admitted !== null; admitted = this.queue.oldest) {
      this.withdraw(admitted, 'closing', now);
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
  readonly #expire = (admitted: AdmittedDelivery, now: number): void => {
    if (admitted.state === 'waiting') {
      this.withdraw(admitted, 'expired', now);
    } else if (admitted.state !== 'ended') {
      this.#around.ledger.overdue += 1;
      this.end(admitted, 'failure', now, true);
      admitted.abort(timeoutError('The delivery was handled for longer than maxHandlingMs.'));
    }
  };

  readonly #watch = (now: number): void => {
    this.#around.step(now);
    this.#refuseLate(now);
    if (this.#isStalled || !this.drain.isStalled(now)) return;
    this.#isStalled = true;
    this.#around.listeners.emit(now, { type: 'stalled', gapMs: this.drain.gapMs(now) });
  };

  /** Refuses some of those that cannot start in time, since the drain rate is known, or has fallen. */
  #refuseLate(now: number): void {
    const { sureRate } = this.drain;
    // While the workers stand still nobody knows what can be done in time.
    if (this.queue.size === 0 || sureRate === null || this.drain.gapFactor(now) > 1) return;
    const share = this.shares.shareOf(this.#pool.size);
    const rate = { perMs: sureRate / 1000, scale: this.shares.scale, share };
    this.#tooLate.step(now, rate, (admitted) => {
      this.withdraw(admitted, 'expired', now);
    });
  }

  #applyLimits(): void {
    const { concurrency, rate } = this.#limits;
    if (concurrency !== this.#pool.size) this.#pool.resize(concurrency);
    this.shares.limit(workersPerKey(this.#settings, concurrency));
    if (rate === this.#pacer.rate) return;
    this.#pacer = new Pacer(rate, this.#pacer);
    this.#paceAlarm.clear();
  }
}
