import { Timer, checkNames, Deadlines, invalid, monotonic, timeoutError } from '@webhook-backpressure/base';
import type { Admission } from '../delivery/admission.ts';
import type { Arrival } from '../delivery/arrival.ts';
import type { CurrentOptions } from '../delivery/current-options.ts';
import { checkDelivery, keyOf, NOTHING_KNOWN, type Delivery } from '../delivery/delivery.ts';
import {
  Listeners,
  type EventSubject,
  type Listener,
  type Outcome,
  type SubscribeOptions,
  type WithdrawalCause,
} from '../delivery/events.ts';
import { Ledger } from '../delivery/ledger.ts';
import {
  createRefusal,
  REASON_OF,
  UNSENT_REFUSAL,
  type Refusal,
  type RefusalReason,
} from '../delivery/refusal.ts';
import type { IntakeGlance, IntakeSnapshot, IntakeState } from '../delivery/snapshot.ts';
import { Warnings, type Warn } from '../delivery/warnings.ts';
import { LearnedTimeouts } from './learned-timeouts.ts';
import { Limits, workersPerKey } from '../limits/limits.ts';
import { FairQueue } from '../queue/fair-queue.ts';
import { Gate } from '../queue/gate.ts';
import { Reserve } from '../queue/reserve.ts';
import { RetryAfterSeconds } from '../refusals/retry-after.ts';
import type { Situation } from '../refusals/situation.ts';
import { statusOf } from '../delivery/refusal.ts';
import { SwitchOff } from '../refusals/switch-off.ts';
import { AdmittedDelivery, type DeliveryOwner } from '../workers/admitted-delivery.ts';
import { DrainRate } from '../workers/drain-rate.ts';
import { Pacer } from '../workers/pacer.ts';
import { Workers } from '../workers/workers.ts';
import type { FleetHandle, FleetMembership } from './fleet-handle.ts';
import type { CloseReport, Intake } from './intake.ts';
import type { ObserveHandle } from './observe-handle.ts';
import { currentOptions, updateSettings, type Fixtures, type Settings, type Tunable } from './options.ts';
import type { Rule } from '../refusals/rule.ts';
import { Shutdown } from './shutdown.ts';

/** A delivery may wait for this part of its longest wait beyond it. Its sender waits for a quarter longer, or more. */
const OVERTIME = 0.1;

/**
 * A bounded queue with water marks in front of a worker pool. It decides whether a delivery starts, is queued or is refused,
 * and moves it from its admission to its end. Five parts compute what it decides by:
 *
 * - the {@link FairQueue}: whose turn it is
 * - the {@link Gate}: when shedding begins and ends; above it the {@link Reserve}
 * - the {@link Workers}: how many deliveries are handled concurrently
 * - the {@link DrainRate}: how many the workers complete per second
 * - {@link RetryAfterSeconds}: when a refused delivery should be retried
 */
export class BoundedIntake implements Intake, DeliveryOwner {
  readonly dryRun: boolean;
  #settings: Settings;
  #options: CurrentOptions;
  readonly #fixtures: Fixtures;
  readonly #now: () => number;
  readonly #queue: FairQueue<AdmittedDelivery>;
  readonly #gate = new Gate();
  readonly #reserve: Reserve;
  readonly #workers: Workers;
  readonly #drain: DrainRate;
  readonly #retryAfter: RetryAfterSeconds;
  readonly #switchOff: SwitchOff;
  readonly #rules: readonly Rule[];
  readonly #limits: Limits;
  /** Null without a limit on starts per second. */
  #pacer: Pacer | null;
  readonly #paceTimer: Timer;
  readonly #deadlines: Deadlines<AdmittedDelivery>;
  readonly #ledger: Ledger;
  readonly #listeners: Listeners = new Listeners();
  readonly #warnings: Warnings;
  readonly #shutdown: Shutdown;
  /** Deliveries that are handled without a worker. Only a dry run has any. */
  #outside = 0;
  /** Since the event `stalled`. */
  #isStalled = false;
  #membership: FleetMembership | null = null;

  constructor(options: Settings & Fixtures, warn?: Warn) {
    const { clock, dryRun } = options;
    this.#settings = options;
    this.#options = currentOptions(options);
    this.#fixtures = options;
    this.dryRun = dryRun;
    const now = (this.#now = monotonic(clock));
    this.#limits = new Limits(options);
    this.#workers = new Workers(this.#limits.concurrency);
    this.#queue = new FairQueue(workersPerKey(options, this.#limits.concurrency));
    this.#reserve = new Reserve(this.#queue, this.#gate);
    this.#pacer = null;
    this.#drain = new DrainRate(this.#limits.concurrency);
    this.#retryAfter = new RetryAfterSeconds(options.random);
    this.#switchOff = new SwitchOff(
      (sender, key, at) => {
        this.#listeners.emit(at, { type: 'endangered', sender, key });
      },
      (admitted, at) => {
        const rate = this.#drain.rate(this.#lived(at)) ?? Infinity;
        const waitMs = (this.#queue.turnsUntil(admitted.key, admitted.isUnrepeated) / rate) * 1000;
        // Otherwise there is room for it, and it waits for its turn.
        if (this.#gate.shedding || waitMs > admitted.expiresAtMs - at)
          this.#withdraw(admitted, 'expired', at);
      },
    );
    const timeouts = new LearnedTimeouts((key) => this.#queue.loads.of(key)?.meanMs ?? 0);
    this.#rules = [this.#retryAfter.promises, this.#switchOff, timeouts];
    this.#ledger = new Ledger(dryRun);
    this.#warnings = new Warnings(this.#listeners, warn);
    this.#paceTimer = new Timer(clock, () => {
      const at = now();
      this.#fill(at, true);
      this.#relieve(at);
    });
    this.#deadlines = new Deadlines<AdmittedDelivery>(
      ...([clock, now] as const),
      (admitted, at) => {
        this.#due(admitted, at);
      },
      (at) => {
        this.#step(at);
      },
      () => this.#queue.size > 0,
    );
    this.#shutdown = new Shutdown({
      clock,
      now,
      ledger: this.#ledger,
      listeners: this.#listeners,
      active: () => this.#active,
      depth: () => this.#queue.size,
      withdrawAll: () => this.#withdrawAll(),
      stop: () => {
        this.#deadlines.stop();
        this.#paceTimer.clear();
      },
    });
    this.#applyLimits();
    this.#measure(0);
  }

  admit(delivery: Delivery = NOTHING_KNOWN): Admission | Refusal {
    checkDelivery(delivery);
    const arrival = { delivery, key: keyOf(delivery), nowMs: this.#now() };
    const { key, nowMs } = arrival;
    if (delivery.retries === false) this.#warnings.ofLoss(key, nowMs);
    this.#retryAfter.arrivals.note(nowMs);
    if (this.#shutdown.phase !== 'open') return this.#refuse('closing', arrival);
    if (this.#settings.shed.has(key)) return this.#refuse('shed', arrival);
    const isPressed = this.#fixtures.pressure();
    const isIdle = this.#isIdle(key, nowMs);
    if (isIdle && !isPressed) return this.#start(arrival);
    const isEntitled = this.#isEntitled(arrival);
    if (isPressed && !isEntitled) return this.#defer(arrival) ?? this.#refuse('pressure', arrival);
    if (isIdle) return this.#start(arrival);
    this.#judge(nowMs);
    // A listener may have closed the intake when shedding began or ended.
    if (this.#isClosing()) return this.#refuse('closing', arrival);
    const reason = this.#objection(arrival, isEntitled);
    if (reason === null) return this.#enqueue(arrival);
    if (reason === 'shedding' || reason === 'full') {
      if (this.#settings.overflow === 'drop-oldest') return this.#dropOldest(arrival);
      if (delivery.retries === false && this.#displaceFor(arrival)) return this.#enqueue(arrival);
    }
    return this.#defer(arrival) ?? this.#refuse(reason, arrival);
  }

  accepts(delivery: Delivery = NOTHING_KNOWN): boolean {
    checkDelivery(delivery);
    const arrival = { delivery, key: keyOf(delivery), nowMs: this.#now() };
    const { key, nowMs } = arrival;
    if (this.dryRun) return true;
    if (this.#shutdown.phase !== 'open' || this.#settings.shed.has(key)) return false;
    const isEntitled = this.#isEntitled(arrival);
    if (this.#fixtures.pressure() && !isEntitled) return false;
    if (this.#isIdle(key, nowMs)) return true;
    this.#measure(nowMs);
    if (this.#waitsTooLong(arrival)) return false;
    const { size } = this.#queue;
    if (this.#settings.overflow === 'drop-oldest' || !this.#gate.wouldShed(size)) return true;
    if (size < this.#gate.effectiveCapacity && this.#reserve.isOpenTo(key, isEntitled)) return true;
    return delivery.retries === false && this.#displaceable(key) !== null;
  }

  snapshot(): IntakeSnapshot {
    const now = this.#now();
    const { state, depth, highWater, concurrency, drainRate } = this.glance();
    const { seconds } = this.#retryAfter;
    seconds.advance(now);
    const { oldest, keys } = this.#queue;
    return {
      state,
      depth,
      active: this.#active,
      capacity: this.#settings.capacity,
      effectiveCapacity: this.#gate.effectiveCapacity,
      highWater,
      lowWater: this.#gate.low,
      concurrency,
      drainRate,
      oldestWaitMs: oldest === null ? 0 : now - oldest.admittedAtMs,
      booked: seconds.total,
      bookedAhead: seconds.ahead(),
      keys,
      endangered: this.#switchOff.endangered(now),
      options: this.#options,
      fleet: this.#membership?.snapshot() ?? null,
      totals: this.#ledger.read(this.#retryAfter.promises.counts),
    };
  }

  /** See {@link glanceAt}. */
  glance(): IntakeGlance {
    const now = this.#now();
    this.#measure(now);
    return {
      state: this.#state(now),
      depth: this.#queue.size,
      highWater: this.#gate.high,
      concurrency: this.#workers.size,
      drainRate: this.#drain.rate(this.#lived(now)),
    };
  }

  update(changes: Tunable): void {
    const settings = updateSettings(this.#settings, changes);
    if (this.#membership === null) this.#retune(settings);
    else this.#retune(updateSettings(this.#settings, this.#membership.revise(changes)));
    if (!this.#listeners.any) return;
    const options = Object.keys(changes).filter((name) => changes[name as keyof Tunable] !== undefined);
    this.#listeners.emit(this.#now(), { type: 'updated', options });
  }

  subscribe(listener: Listener, options: SubscribeOptions = {}): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    checkNames(options, 'subscribe()', ['inRequestContext'], 'ERR_WBP_LISTENER');
    const { inRequestContext = false } = options;
    if (typeof inRequestContext !== 'boolean')
      throw invalid('ERR_WBP_LISTENER', 'inRequestContext', 'a boolean', inRequestContext);
    return this.#listeners.add(listener, !inRequestContext);
  }

  close(options: { timeoutMs?: number | undefined } = {}): Promise<CloseReport> {
    const report = this.#shutdown.begin(options);
    const membership = this.#membership;
    if (membership === null) return report;
    return report.then(async (closed) => {
      await membership.leave();
      return closed;
    });
  }

  /** See {@link fleetHandleOf}. */
  fleetHandle(): FleetHandle {
    const { clock, random } = this.#fixtures;
    const settings = (): Settings => this.#settings;
    const membership = (): FleetMembership | null => this.#membership;
    const isOpen = (): boolean => this.#shutdown.phase === 'open';
    const wanted = (): number => this.#wanted;
    const active = (): number => (this.dryRun ? 0 : this.#active);
    return {
      clock,
      random,
      now: this.#now,
      warnings: this.#warnings,
      retryAfter: this.#retryAfter,
      situation: (nowMs) => this.#situation(nowMs),
      get isOpen() {
        return isOpen();
      },
      get wanted() {
        return wanted();
      },
      get active() {
        return active();
      },
      get limits() {
        const { concurrency, maxStartsPerSecond } = settings();
        return { concurrency, maxStartsPerSecond };
      },
      get member() {
        return membership();
      },
      join: (member) => {
        this.#membership = member;
      },
      part: () => {
        this.#membership = null;
      },
      limit: (limits) => {
        const before = this.#workers.size;
        this.#retune(updateSettings(this.#settings, limits));
        // Otherwise the rate would follow a change of the share only after half a minute.
        this.#drain.scale(this.#workers.size / before);
      },
      report: (event) => {
        this.#listeners.emit(this.#now(), event);
      },
    };
  }

  /** See {@link observeHandleOf}. */
  observeHandle(): ObserveHandle {
    return {
      kind: 'intake',
      isDryRun: this.dryRun,
      clock: this.#fixtures.clock,
      now: this.#now,
      isOpen: () => this.#shutdown.phase === 'open',
      isIdle: () => this.#queue.size + this.#active === 0,
      depth: () => this.#queue.size,
      stalledMs: (at) => (this.#drain.isStalled(this.#lived(at)) ? this.#drain.gapMs(this.#lived(at)) : 0),
      endangered: (at) => this.#switchOff.endangered(at).length,
      oldestAgeMs: () => 0,
      storeFailingMs: () => 0,
      report: (at, event) => {
        this.#listeners.emit(at, event);
      },
    };
  }

  leave(admitted: AdmittedDelivery): void {
    if (admitted.state === 'waiting' && !this.dryRun) this.#withdraw(admitted, 'abandoned', this.#now());
  }

  abandon(admitted: AdmittedDelivery): void {
    const now = this.#now();
    for (const rule of this.#rules) rule.abandoned?.(admitted, now);
  }

  release(admitted: AdmittedDelivery, outcome: Outcome): void {
    if (admitted.state === 'ended' || (admitted.state === 'waiting' && !this.dryRun)) return;
    this.#end(admitted, outcome, this.#now(), false);
  }

  #isClosing(): boolean {
    return this.#shutdown.phase !== 'open';
  }

  /** Deliveries that are being handled. */
  get #active(): number {
    return this.#workers.active + this.#outside;
  }

  /** How many deliveries could be handled concurrently now, if `concurrency` were larger. */
  get #wanted(): number {
    const { size, keys } = this.#queue;
    const { concurrency, mostConcurrency } = this.#limits;
    const { maxConcurrencyPerKey: most = 0 } = this.#settings;
    // A fraction grows with the concurrency.
    const wanted = this.#active + (most < 1 ? size : Math.min(size, keys * most));
    // A limit that was learned is what the downstream can bear, and grows by a quarter at most.
    return concurrency < mostConcurrency ? Math.min(wanted, Math.ceil(1.25 * concurrency)) : wanted;
  }

  /** Whether a delivery of the key could start now without overtaking a queued one. */
  #isIdle(key: string, now: number): boolean {
    if (this.#queue.hasTurns || !this.#workers.isFree || this.#queue.isAtLimit(key)) return false;
    return this.#pacer === null || this.#pacer.delayMs(now) === 0;
  }

  /** Whether the delivery may use the reserve, whatever its key holds. */
  #isEntitled(arrival: Arrival): boolean {
    const { priority, retries, handshake } = arrival.delivery;
    if (priority === 'critical' || retries === false || handshake === true) return true;
    for (const rule of this.#rules) if (rule.entitles?.(arrival) === true) return true;
    return false;
  }

  /** Why a delivery cannot be queued, or null if it can. */
  #objection(arrival: Arrival, isEntitled: boolean): RefusalReason | null {
    const { key, nowMs } = arrival;
    if (this.#gate.shedding) {
      this.#retryAfter.shed(nowMs);
      const { maxWaitMs } = this.#settings;
      const { keepsPlaces } = this.#switchOff;
      const isUnrepeated = arrival.delivery.retries === false;
      const answer = this.#reserve.ask(key, isEntitled, nowMs, maxWaitMs, keepsPlaces, false, isUnrepeated);
      if (answer !== 'open') return answer;
    }
    return this.#waitsTooLong(arrival) ? 'wait' : null;
  }

  /** Whether a delivery would be queued for longer than its sender waits, or its own key longer than any may. */
  #waitsTooLong(arrival: Arrival): boolean {
    const { delivery, key, nowMs } = arrival;
    // The gate knows what all workers complete in the longest wait, and not how few of them this key may have.
    if (delivery.retries !== false && this.#queue.ownWaitMs(key) > this.#settings.maxWaitMs) return true;
    const leftMs = this.#senderWaitMs(arrival);
    if (leftMs === Infinity) return false;
    const rate = this.#drain.rate(this.#lived(nowMs));
    if (rate === null) return false;
    const turns = this.#queue.turnsUntil(key, delivery.retries === false);
    return Math.max((turns / rate) * 1000, this.#queue.ownWaitMs(key)) > leftMs;
  }

  /** How long the sender of a delivery waits from now on, without the time that its body took; Infinity if not known. */
  #senderWaitMs(arrival: Arrival): number {
    const { maxWaitMs, ageMs = 0 } = arrival.delivery;
    let waitMs = maxWaitMs ?? Infinity;
    if (maxWaitMs === undefined)
      for (const rule of this.#rules) waitMs = Math.min(waitMs, rule.longestWaitMs?.(arrival) ?? Infinity);
    return Math.max(0, waitMs - ageMs);
  }

  /** Starts a delivery that no other waits before. */
  #start(arrival: Arrival): AdmittedDelivery {
    const admitted = this.#admit(arrival, 0);
    this.#run(admitted, arrival.nowMs, false);
    this.#started(admitted, arrival.nowMs);
    return admitted;
  }

  #enqueue(arrival: Arrival): AdmittedDelivery {
    const { nowMs } = arrival;
    const admitted = this.#admit(arrival, Math.min(this.#settings.maxWaitMs, this.#senderWaitMs(arrival)));
    // A dry run handles a delivery from its admission on.
    if (this.dryRun) admitted.startedAtMs = nowMs;
    else admitted.wait();
    this.#queue.push(admitted);
    this.#deadlines.set(admitted, admitted.expiresAtMs, nowMs);
    // Before a worker can become free for it.
    if (this.#listeners.any) this.#listeners.emit(nowMs, { type: 'queued', ...subjectOf(admitted) });
    this.#fill(nowMs);
    this.#judge(nowMs);
    return admitted;
  }

  /**
   * The delivery that is displaced so that one of `key` can be queued that is never retried: the youngest of the longest
   * line. That line must hold at least an equal share of the queue, and `key` at most that with the new delivery. Null if
   * there is none.
   */
  #displaceable(key: string): AdmittedDelivery | null {
    const { longest, size, keys } = this.#queue;
    const line = this.#queue.lineOf(key);
    const isSmall = ((line?.size ?? 0) + 1) * (line === undefined ? keys + 1 : keys) <= size;
    const last = isSmall && longest !== null && this.#queue.holdsShare(longest.key) ? longest.last : null;
    if (last === null || last.isKept || this.#isSpared(last)) return null;
    // However many keys are invented, deliveries that are retried keep half of the queue.
    return last.delivery.retries === false || this.#queue.unrepeated * 2 < size ? last : null;
  }

  /** Makes room for a delivery that is never retried, and would be lost. */
  #displaceFor(arrival: Arrival): boolean {
    const displaced = this.#displaceable(arrival.key);
    if (displaced === null || this.#waitsTooLong(arrival)) return false;
    const { size } = this.#queue;
    this.#withdraw(displaced, 'displaced', arrival.nowMs);
    // A listener of that may have closed the intake, or admitted another delivery in the place that became free.
    return this.#shutdown.phase === 'open' && this.#queue.size < size;
  }

  /** A queued delivery is about to leave the queue. */
  #leaves(admitted: AdmittedDelivery): void {
    this.#deadlines.clear(admitted);
    for (const rule of this.#rules) rule.leaves?.(admitted);
  }

  /** Whether the refusal of a queued delivery would be one too many for its sender. */
  #isSpared(admitted: AdmittedDelivery): boolean {
    return this.#rules.some((rule) => rule.defers?.(admitted) === true);
  }

  /** Queues a delivery that a rule saves from being refused, or returns null. */
  #defer(arrival: Arrival): AdmittedDelivery | null {
    if (this.#queue.size >= this.#settings.capacity) return null;
    for (const rule of this.#rules) {
      if (rule.defers?.(arrival) !== true) continue;
      const admitted = this.#enqueue(arrival);
      if (admitted.state === 'waiting') rule.deferred?.(admitted);
      return admitted;
    }
    return null;
  }

  /** Whether a delivery that has been queued for as long as it may waits a little longer, since a rule defers its refusal. */
  #extends(admitted: AdmittedDelivery, now: number): boolean {
    const untilMs = admitted.expiresAtMs + OVERTIME * admitted.maxWaitMs;
    const rule = now >= untilMs ? undefined : this.#rules.find((one) => one.defers?.(admitted) === true);
    if (rule === undefined) return false;
    rule.deferred?.(admitted);
    this.#deadlines.clear(admitted);
    this.#deadlines.set(admitted, untilMs, now);
    return true;
  }

  /**
   * Admits a delivery in the place of the one that has been queued the longest: of all, or of its own key if that holds an
   * equal share, so that a noisy key does not displace the others.
   */
  #dropOldest(arrival: Arrival): Admission | Refusal {
    const queue = this.#queue;
    const { key, nowMs } = arrival;
    if (this.#waitsTooLong(arrival)) return this.#refuse('wait', arrival);
    for (const most = Math.max(this.#gate.high, queue.size); queue.size >= most;) {
      const { size } = queue;
      const oldest = queue.holdsShare(key) ? (queue.lineOf(key)?.first ?? null) : queue.oldest;
      if (oldest !== null && size < this.#gate.effectiveCapacity && this.#isSpared(oldest)) break;
      if (oldest !== null) this.#withdraw(oldest, 'displaced', nowMs);
      // A listener of that may have closed the intake, or admitted another delivery in the place that became free.
      if (this.#shutdown.phase !== 'open') return this.#refuse('closing', arrival);
      if (queue.size >= size) return this.#refuse('full', arrival);
    }
    return this.#enqueue(arrival);
  }

  /** Refuses a delivery. A dry run reports that, and handles the delivery. */
  #refuse(reason: RefusalReason, arrival: Arrival): Admission | Refusal {
    const { delivery, key, nowMs } = arrival;
    const refusal = this.#answer(reason, arrival);
    const { status, retryAfterSeconds } = refusal;
    if (this.#queue.isBlocked(key, this.#workers.size)) this.#warnings.ofSlowKey(nowMs);
    for (const rule of this.#rules) rule.refused?.(arrival, refusal);
    (status === 429 ? this.#ledger.refused429 : this.#ledger.refused503)[reason] += 1;
    if (this.#listeners.any) {
      const lossRisk = delivery.retries === false;
      const sender = delivery.profile?.name;
      this.#listeners.emit(nowMs, {
        type: 'refused',
        reason,
        status,
        retryAfterSeconds,
        key,
        sender,
        lossRisk,
      });
    }
    if (!this.dryRun) return refusal;
    const admitted = this.#admit(arrival, 0);
    this.#runOutside(admitted, nowMs);
    return admitted;
  }

  /** The answer to a refused delivery, whether it was queued before or not. */
  #answer(reason: RefusalReason, arrival: Arrival): Refusal {
    const { delivery, key, nowMs } = arrival;
    const { statusCode, maxWaitMs, retryAfter } = this.#settings;
    const queue = this.#queue;
    if (delivery.retries === false) this.#ledger.lossRisk += 1;
    const fixed = delivery.statusCode ?? statusCode;
    const status = fixed === 'auto' ? statusOf(reason, key, () => queue.holdsShare(key)) : fixed;
    // At less than one start per longest wait, a retry that finds a free place waits too long again.
    const longestMs = Math.min(delivery.maxWaitMs ?? Infinity, maxWaitMs);
    const situation = this.#situation(nowMs);
    const inTime = Math.floor((longestMs / 1000) * (situation.drainRate ?? Infinity));
    const seconds = this.#retryAfter.of(
      reason,
      {
        arrival,
        excess: Math.min(queue.size, queue.turnsUntil(key, delivery.retries === false) - inTime),
        spacingMs: queue.spacingMs(key),
        excessMs: queue.ownWaitMs(key) - longestMs,
      },
      situation,
      retryAfter,
    );
    return createRefusal(reason, status, seconds, delivery.profile?.retryAfter);
  }

  #situation(nowMs: number): Situation {
    const drain = this.#drain;
    const lived = this.#lived(nowMs);
    return {
      nowMs,
      depth: this.#queue.size,
      low: this.#gate.low,
      drainRate: drain.steadyRate,
      presentRate: drain.rate(lived),
      paceAgeS: drain.paceAgeS,
      lateShare: this.#deadlines.lateShare,
      isStalled: drain.isStalled(lived),
      gapMs: drain.gapMs(lived),
      gapFactor: drain.gapFactor(lived),
    };
  }

  /** Withdraws a queued delivery, and settles its promise with the refusal. */
  #withdraw(admitted: AdmittedDelivery, cause: WithdrawalCause, now: number): void {
    const { delivery, key, admittedAtMs } = admitted;
    const refusal =
      cause === 'abandoned' ? UNSENT_REFUSAL : this.#answer(REASON_OF[cause], { delivery, key, nowMs: now });
    this.#leaves(admitted);
    this.#queue.remove(admitted);
    if (this.dryRun) this.#runOutside(admitted, now);
    else {
      admitted.state = 'ended';
      this.#ledger.withdrawn[cause] += 1;
      admitted.settle(refusal);
    }
    if (this.#listeners.any) {
      const waitedMs = now - admittedAtMs;
      const lossRisk = delivery.retries === false;
      this.#listeners.emit(now, { type: 'withdrawn', ...subjectOf(admitted), cause, waitedMs, lossRisk });
    }
    // Rules emit events, whose listeners may do anything, so they come last.
    for (const rule of this.#rules) rule.withdrawn?.(admitted, cause, now);
    // A newer delivery takes the place of a displaced one, and nothing is to be decided between the two.
    if (cause !== 'displaced') this.#relieve(now);
  }

  /** Withdraws all queued deliveries. Returns how many were refused by that: in a dry run none. */
  #withdrawAll(): number {
    const now = this.#now();
    const { withdrawn } = this.#ledger;
    const before = withdrawn.closing;
    for (let next = this.#queue.oldest; next !== null; next = this.#queue.oldest)
      this.#withdraw(next, 'closing', now);
    return withdrawn.closing - before;
  }

  #admit(arrival: Arrival, maxWaitMs: number): AdmittedDelivery {
    this.#ledger.admitted += 1;
    for (const rule of this.#rules) rule.admitted?.(arrival);
    return new AdmittedDelivery(this, arrival, this.#ledger.admitted, maxWaitMs);
  }

  /** Starts queued deliveries, as far as workers are free and the pace allows. */
  #fill(now: number, isPaced: boolean = this.#paceTimer.isSet): void {
    while (this.#queue.hasTurns && this.#workers.isFree) {
      const next = this.#queue.peek() as AdmittedDelivery;
      if (now >= next.expiresAtMs && !this.#extends(next, now)) {
        this.#withdraw(next, 'expired', now);
        continue;
      }
      const delayMs = this.#pacer?.delayMs(now) ?? 0;
      if (delayMs > 0) {
        this.#paceTimer.set(now, delayMs);
        break;
      }
      this.#leaves(next);
      this.#run(next, now, isPaced);
      // It has its permit before its start is reported: a listener may start the next one, whose turn comes later.
      next.grant();
      this.#started(next, now);
    }
    this.#drain.look(!this.#workers.isFree, this.#lived(now));
  }

  /** Gives a delivery a worker. `isTimed`: see {@link Pacer.started}. */
  #run(admitted: AdmittedDelivery, now: number, isTimed: boolean): void {
    this.#queue.start(admitted);
    admitted.state = 'active';
    this.#workers.active += 1;
    // A dry run handles a delivery from its admission on, and the drain rate needs the true times.
    admitted.startedAtMs = this.dryRun ? admitted.admittedAtMs : now;
    this.#pacer?.started(now, isTimed);
    this.#deadlines.set(admitted, admitted.startedAtMs + this.#settings.maxHandlingMs, now);
    const lived = this.#lived(now);
    admitted.beganMs = lived - (now - admitted.startedAtMs);
    admitted.lateAtStartMs = this.#deadlines.lateInAllMs(now);
    if (!this.#workers.isFree) this.#drain.look(true, lived);
  }

  /** Handles a delivery without a worker, in a dry run. */
  #runOutside(admitted: AdmittedDelivery, now: number): void {
    admitted.state = 'outside';
    admitted.startedAtMs = admitted.admittedAtMs;
    this.#outside += 1;
    this.#ledger.started += 1;
    this.#deadlines.set(admitted, admitted.startedAtMs + this.#settings.maxHandlingMs, now);
  }

  #started(admitted: AdmittedDelivery, now: number): void {
    this.#ledger.started += 1;
    if (!this.#listeners.any) return;
    const { waitedMs } = admitted;
    this.#listeners.emit(now, { type: 'started', ...subjectOf(admitted), waitedMs });
  }

  /** Ends the handling of a delivery: it is released, or overdue. */
  #end(admitted: AdmittedDelivery, outcome: Outcome, now: number, isOverdue: boolean): void {
    const { state } = admitted;
    const tookMs = now - (state === 'waiting' ? admitted.admittedAtMs : admitted.startedAtMs);
    this.#deadlines.clear(admitted);
    admitted.state = 'ended';
    if (state === 'active') {
      // How long an interrupted handler would have taken is not known.
      this.#learn(admitted, outcome, now, !isOverdue && !admitted.isInterrupted);
      this.#workers.active -= 1;
      if (this.#limits.isAdaptive) this.#applyLimits();
    } else if (state === 'outside') this.#outside -= 1;
    else {
      this.#ledger.started += 1;
      this.#leaves(admitted);
      this.#queue.remove(admitted);
    }
    this.#ledger[outcome === 'success' ? 'completed' : 'failed'] += 1;
    if (isOverdue) this.#ledger.overdue += 1;
    if (this.#listeners.any) {
      const subject = subjectOf(admitted);
      if (isOverdue) this.#listeners.emit(now, { type: 'overdue', ...subject, heldMs: tookMs });
      this.#listeners.emit(now, { type: 'completed', ...subject, tookMs, outcome });
    }
    if (this.#isStalled && state === 'active') {
      this.#isStalled = false;
      this.#listeners.emit(now, { type: 'recovered' });
    }
    for (const rule of this.#rules) rule.ended?.(admitted, outcome, now);
    this.#fill(now);
    this.#relieve(now);
  }

  /** Learns from a delivery whose worker is about to be freed. */
  #learn(admitted: AdmittedDelivery, outcome: Outcome, now: number, teaches: boolean): void {
    const lived = this.#lived(now);
    const tookMs = lived - admitted.beganMs;
    const lateMs = this.#deadlines.lateInAllMs(now) - admitted.lateAtStartMs;
    if (teaches) this.#drain.complete(tookMs, lived, lateMs);
    if (this.#limits.isAdaptive) this.#limits.observe(now, tookMs, outcome, this.#workers.active);
    this.#queue.end(admitted, tookMs, teaches);
  }

  /** The queue has become shorter, or a worker is free. */
  #relieve(now: number): void {
    if (this.#gate.shedding) this.#judge(now);
    if (this.#shutdown.phase === 'closing') this.#shutdown.finishIfEmpty();
  }

  /** Moves the water marks to where the drain rate puts them now. */
  #measure(now: number): void {
    this.#gate.follow(this.#settings, this.#drain.rate(this.#lived(now)));
  }

  /** Begins or ends shedding, if the depth has reached the mark. */
  #judge(now: number): void {
    this.#measure(now);
    const gate = this.#gate;
    const { size } = this.#queue;
    if (!gate.judge(size)) return;
    this.#listeners.emit(now, { type: gate.shedding ? 'shedding' : 'accepting', depth: size });
    if (gate.shedding)
      this.#warnings.ofLowWater(gate.low, this.#settings.capacity, this.#drain.rate(this.#lived(now)), now);
  }

  /** A delivery has been queued, or handled, for as long as it may. */
  #due(admitted: AdmittedDelivery, now: number): void {
    if (admitted.state === 'waiting') {
      if (!this.#extends(admitted, now)) this.#withdraw(admitted, 'expired', now);
    } else if (admitted.state !== 'ended') {
      this.#end(admitted, 'failure', now, true);
      admitted.revoke(timeoutError('The delivery was handled for longer than maxHandlingMs.'));
    }
  }

  /** A step of the shared timer, which runs while there are admitted deliveries. */
  #step(now: number): void {
    this.#retryAfter.seconds.advance(now);
    const lived = this.#lived(now);
    if (this.#isStalled || !this.#drain.isStalled(lived)) return;
    this.#isStalled = true;
    this.#listeners.emit(now, { type: 'stalled', gapMs: this.#drain.gapMs(lived) });
  }

  #retune(settings: Settings): void {
    const now = this.#now();
    this.#settings = settings;
    this.#options = currentOptions(settings);
    this.#limits.retune(settings);
    this.#applyLimits();
    this.#queue.limit(workersPerKey(settings, this.#workers.size));
    this.#fill(now);
    this.#judge(now);
  }

  #applyLimits(): void {
    const { concurrency, rate } = this.#limits;
    if (concurrency !== this.#workers.size) {
      this.#workers.size = concurrency;
      this.#queue.limit(workersPerKey(this.#settings, concurrency));
      this.#drain.workers = concurrency;
    }
    if (rate === this.#pacer?.rate) return;
    this.#pacer = rate === undefined ? null : new Pacer(rate, this.#pacer);
    this.#drain.cap = rate ?? Infinity;
    this.#paceTimer.clear();
  }

  #lived(now: number): number {
    return this.#deadlines.livedMs(now);
  }

  #state(now: number): IntakeState {
    const { phase } = this.#shutdown;
    if (phase !== 'open') return phase;
    if (this.#drain.isStalled(this.#lived(now))) return 'stalled';
    return this.#gate.shedding ? 'shedding' : 'accepting';
  }
}

function subjectOf({ key, sequence, delivery }: AdmittedDelivery): EventSubject {
  return { key, sender: delivery.profile?.name, sequence };
}
