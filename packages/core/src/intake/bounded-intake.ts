import type { Admission } from '../delivery/admission.ts';
import { AdmittedDelivery } from '../workers/admitted-delivery.ts';
import { checkDelivery, keyOf, NOTHING_KNOWN, type Delivery } from '../delivery/delivery.ts';
import { DeliveryFlow } from './delivery-flow.ts';
import { favorOf } from '../delivery/favor.ts';
import { Displacement } from '../queue/displacement.ts';
import type { CurrentOptions } from '../delivery/current-options.ts';
import { invalid } from '../errors.ts';
import { checkNames } from '../option-names.ts';
import type { FleetHandle, FleetMembership } from './fleet-handle.ts';
import type { CloseReport, Intake } from './intake.ts';
import type { Listener, SubscribeOptions } from '../delivery/events.ts';
import { currentOptions } from './current-options.ts';
import type { ObserveHandle } from './observe-handle.ts';
import { updateSettings, type Fixtures, type Settings, type Tunable } from './options.ts';
import type { Refusal, RefusalReason } from '../delivery/refusal.ts';
import type { IntakeGlance, IntakeSnapshot, IntakeState } from '../delivery/snapshot.ts';
import type { Warn } from '../delivery/warnings.ts';

/**
 * Decides whether a delivery starts, is queued or is refused. Each rule is in its own part; the order of the rules is
 * here. What follows from a decision is in {@link DeliveryFlow}.
 */
export class BoundedIntake implements Intake {
  readonly dryRun: boolean;
  #settings: Settings;
  #options: CurrentOptions;
  readonly #isPressed: () => boolean;
  readonly #flow: DeliveryFlow;
  readonly #displacement: Displacement<AdmittedDelivery>;
  readonly #fixtures: Fixtures;
  #membership: FleetMembership | null = null;

  constructor(options: Settings & Fixtures, warn?: Warn) {
    this.#settings = options;
    this.#options = currentOptions(options);
    this.#isPressed = options.isPressed;
    this.dryRun = options.dryRun;
    this.#fixtures = options;
    this.#flow = new DeliveryFlow(options, warn);
    this.#displacement = new Displacement(this.#flow.dispatcher.queue);
  }

  admit(delivery: Delivery = NOTHING_KNOWN): Admission | Refusal {
    checkDelivery(delivery);
    const flow = this.#flow;
    const { dispatcher } = flow;
    const key = keyOf(delivery);
    const now = flow.now();
    if (delivery.retries === false) flow.warnings.ofLoss(key, now);
    flow.retryAfter.arrive(now);
    if (flow.shutdown.phase !== 'open') return flow.refuse('closing', delivery, key, now);
    if (this.#settings.shed.has(key)) return flow.refuse('shed', delivery, key, now);
    const isPressed = this.#isPressed();
    const mayStart = !isPressed || this.#isEntitled(delivery, key, now);
    if (mayStart && dispatcher.isIdle(key, now)) return flow.start(delivery, key, now);

    const isHandshake = delivery.handshake === true && flow.handshakes.tryBegin(now);
    const isEntitled = isHandshake || this.#isEntitled(delivery, key, now);
    if (isHandshake && dispatcher.isIdle(key, now)) {
      const admitted = flow.start(delivery, key, now);
      admitted.isHandshake = true;
      return admitted;
    }
    const reason = isPressed && !isEntitled ? 'pressure' : this.#judge(delivery, key, isEntitled, now);
    const result =
      reason === null
        ? flow.enqueue(delivery, key, isEntitled ? 'entitled' : 'none', now)
        : this.#overflow(reason, delivery, key, isEntitled, now);
    if (isHandshake) {
      // It may have ended already: a listener may have admitted another delivery, which displaced it.
      if (result instanceof AdmittedDelivery && result.state !== 'ended') result.isHandshake = true;
      else flow.handshakes.end();
    }
    return result;
  }

  accepts(delivery: Delivery = NOTHING_KNOWN): boolean {
    checkDelivery(delivery);
    const { dispatcher, marks, reserve, shutdown, now: clock } = this.#flow;
    const key = keyOf(delivery);
    const now = clock();
    if (this.dryRun) return true;
    if (shutdown.phase !== 'open' || this.#settings.shed.has(key)) return false;
    const isEntitled = delivery.handshake === true || this.#isEntitled(delivery, key, now);
    if (this.#isPressed() && !isEntitled) return false;
    if (dispatcher.isIdle(key, now)) return true;
    marks.measure(now);
    if (this.#waitsTooLong(delivery, key, now)) return false;
    const { size } = dispatcher.queue;
    if (this.#settings.overflow === 'drop-oldest' || !marks.gate.wouldShed(size)) return true;
    if (size < marks.gate.effectiveCapacity && reserve.isOpenTo(key, isEntitled)) return true;
    return delivery.retries === false && this.#displacement.youngestFor(key) !== null;
  }

  snapshot(): IntakeSnapshot {
    const { dispatcher, marks, refuser, retryAfter, ledger, now: clock } = this.#flow;
    const now = clock();
    const { state, depth, highWater, concurrency, drainRate } = this.glance();
    refuser.advance(now);
    const { queue, active } = dispatcher;
    return {
      state,
      depth,
      active,
      capacity: this.#settings.capacity,
      effectiveCapacity: marks.gate.effectiveCapacity,
      highWater,
      lowWater: marks.gate.low,
      concurrency,
      drainRate,
      oldestWaitMs: queue.oldest === null ? 0 : now - queue.oldest.admittedAtMs,
      booked: retryAfter.booked,
      bookedAhead: retryAfter.bookedAhead,
      keys: queue.keys,
      endangered: refuser.endangered(now),
      options: this.#options,
      fleet: this.#membership?.snapshot() ?? null,
      totals: ledger.read(retryAfter.promises),
    };
  }

  /** See {@link glanceAt}. */
  glance(): IntakeGlance {
    const { dispatcher, marks, now: clock } = this.#flow;
    const now = clock();
    marks.measure(now);
    const { queue, concurrency, drain } = dispatcher;
    const state = this.#state(now);
    return { state, depth: queue.size, highWater: marks.gate.high, concurrency, drainRate: drain.rate(now) };
  }

  update(changes: Tunable): void {
    const settings = updateSettings(this.#settings, changes);
    const { listeners } = this.#flow;
    if (this.#membership === null) this.#retune(settings);
    else this.#retune(updateSettings(this.#settings, this.#membership.revise(changes)));
    if (!listeners.any) return;
    const options = Object.keys(changes).filter((name) => changes[name as keyof Tunable] !== undefined);
    listeners.emit(this.#flow.now(), { type: 'updated', options });
  }

  subscribe(listener: Listener, options: SubscribeOptions = {}): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    checkNames(options, 'subscribe()', ['inRequestContext'], 'ERR_WBP_LISTENER');
    const { inRequestContext = false } = options;
    if (typeof inRequestContext !== 'boolean')
      throw invalid('ERR_WBP_LISTENER', 'inRequestContext', 'a boolean', inRequestContext);
    return this.#flow.listeners.add(listener, !inRequestContext);
  }

  close(options: { timeoutMs?: number | undefined } = {}): Promise<CloseReport> {
    const report = this.#flow.shutdown.begin(options);
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
    const { dispatcher, listeners, refuser, shutdown, warnings, now } = this.#flow;
    const settings = (): Settings => this.#settings;
    const membership = (): FleetMembership | null => this.#membership;
    const isDryRun = this.dryRun;
    return {
      ...{ clock, random, now, warnings },
      get isOpen() {
        return shutdown.phase === 'open';
      },
      get wanted() {
        return dispatcher.wanted;
      },
      get active() {
        return isDryRun ? 0 : dispatcher.active;
      },
      get limits() {
        const { concurrency, drainRate } = settings();
        return { concurrency, drainRate };
      },
      get member() {
        return membership();
      },
      join: (member) => {
        this.#membership = member;
        return refuser.join();
      },
      part: () => {
        this.#membership = null;
      },
      limit: (limits) => {
        const before = dispatcher.concurrency;
        this.#retune(updateSettings(this.#settings, limits));
        // Otherwise the rate would follow a change of the share only after half a minute.
        dispatcher.drain.scale(dispatcher.concurrency / before);
      },
      report: (event) => {
        listeners.emit(now(), event);
      },
    };
  }

  /** See {@link observeHandleOf}. */
  observeHandle(): ObserveHandle {
    const { dispatcher, listeners, refuser, shutdown, now } = this.#flow;
    return {
      ...{ clock: this.#fixtures.clock, now, report: listeners.emit.bind(listeners) },
      ...{ isOpen: () => shutdown.phase === 'open', isIdle: () => dispatcher.held === 0 },
      depth: () => dispatcher.queue.size,
      stalledMs: (at) => (dispatcher.drain.isStalled(at) ? dispatcher.drain.gapMs(at) : 0),
      endangered: (at) => refuser.endangered(at).length,
    };
  }

  #retune(settings: Settings): void {
    this.#settings = settings;
    this.#options = currentOptions(settings);
    this.#flow.retune(settings, this.#flow.now());
  }

  /** Whether the delivery itself may use the reserve, whatever its key holds. */
  #isEntitled(delivery: Delivery, key: string, now: number): boolean {
    if (delivery.priority === 'critical' || delivery.retries === false) return true;
    return this.#flow.retryAfter.reservationOf(key, delivery)?.isDue(now) === true;
  }

  /** Why the delivery cannot be queued, or null if it can. */
  #judge(delivery: Delivery, key: string, isEntitled: boolean, now: number): RefusalReason | null {
    const { marks, reserve, retryAfter, shutdown } = this.#flow;
    marks.judge(now);
    // A listener may have closed the intake when shedding began or ended.
    if (shutdown.phase !== 'open') return 'closing';
    if (marks.gate.shedding) {
      retryAfter.shed(now);
      const answer = reserve.ask(key, isEntitled, now, this.#settings.maxWaitMs, favorOf(delivery));
      if (answer !== 'open') return answer;
    }
    return this.#waitsTooLong(delivery, key, now) ? 'wait' : null;
  }

  #waitsTooLong(delivery: Delivery, key: string, now: number): boolean {
    return this.#flow.waitLimit.isExceeded(delivery, key, this.#settings.maxWaitMs, now);
  }

  /** Handles a delivery that the queue has no room for: it is refused, or displaces a queued one. */
  #overflow(
    reason: RefusalReason,
    delivery: Delivery,
    key: string,
    isEntitled: boolean,
    now: number,
  ): Admission | Refusal {
    const flow = this.#flow;
    if (reason !== 'shedding' && reason !== 'full') return this.#keepOrRefuse(reason, delivery, key, now);
    const { queue } = flow.dispatcher;
    const { high, effectiveCapacity } = flow.marks.gate;
    const isRepeated = delivery.retries !== false;
    const isOldest = this.#settings.overflow === 'drop-oldest';
    this.#displacement.note(key, isRepeated);
    if (!isOldest && (isRepeated || this.#displacement.youngestFor(key) === null))
      return this.#keepOrRefuse(reason, delivery, key, now);
    if (this.#waitsTooLong(delivery, key, now))
      return this.#keepOrRefuse(isOldest ? 'wait' : reason, delivery, key, now);
    // The effective capacity may have fallen below the size, and then one place is not enough. But during a stall it is a
    // hundredth of the queue, which must not be emptied for one delivery.
    const isStalling = flow.dispatcher.drain.gapFactor(now) > 1;
    const most = isOldest
      ? Math.max(high, queue.size)
      : Math.min(isStalling ? Infinity : effectiveCapacity, queue.size);
    while (queue.size >= most) {
      const { size } = queue;
      const displaced = isOldest ? this.#displacement.oldestFor(key) : this.#displacement.youngestFor(key);
      const isSpared = isOldest && displaced !== null && flow.guard.spares(displaced);
      if (isSpared && size < effectiveCapacity) return flow.enqueue(delivery, key, 'entitled', now);
      if (displaced !== null) flow.withdraw(displaced, 'displaced', now);
      // A listener of that may have closed the intake, or admitted another delivery in the place that became free.
      if (flow.shutdown.phase !== 'open') return flow.refuse('closing', delivery, key, now);
      if (queue.size >= size) return flow.refuse('full', delivery, key, now);
    }
    return flow.enqueue(delivery, key, isEntitled ? 'entitled' : 'none', now);
  }

  /** Refuses a delivery, unless its sender would disable the endpoint. */
  #keepOrRefuse(reason: RefusalReason, delivery: Delivery, key: string, now: number): Admission | Refusal {
    const flow = this.#flow;
    const isKept = reason !== 'closing' && flow.guard.keeps(delivery, key, now);
    return isKept ? flow.enqueue(delivery, key, 'kept', now) : flow.refuse(reason, delivery, key, now);
  }

  #state(now: number): IntakeState {
    const { dispatcher, marks, shutdown } = this.#flow;
    if (shutdown.phase !== 'open') return shutdown.phase;
    if (dispatcher.drain.isStalled(now)) return 'stalled';
    return marks.gate.shedding ? 'shedding' : 'accepting';
  }
}
