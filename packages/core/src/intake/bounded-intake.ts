import { monotonic } from '../time/clock.ts';
import { checkDelivery, keyOf, NOTHING_KNOWN, type Delivery } from '../delivery/delivery.ts';
import { Dispatcher, type Surroundings } from '../workers/dispatcher.ts';
import { displacedBy } from '../queue/displacement.ts';
import { invalid } from '../errors.ts';
import { Listeners, type Listener, type Outcome, type WithdrawalCause } from '../delivery/events.ts';
import { effectiveCapacity, Gate } from '../queue/gate.ts';
import { Handshakes } from '../queue/handshakes.ts';
import type { CloseReport, Intake } from './intake.ts';
import { Ledger } from '../delivery/ledger.ts';
import { updateSettings, type Fixtures, type Settings, type Tunable } from './options.ts';
import { Patience } from './patience.ts';
import { AdmittedDelivery, type DeliveryOwner } from '../workers/admitted-delivery.ts';
import type { Admission } from '../delivery/admission.ts';
import { REASON_OF, TO_NOBODY, type Refusal, type RefusalReason } from '../delivery/refusal.ts';
import { Reserve } from '../queue/reserve.ts';
import { Refuser } from '../refusals/refuser.ts';
import { RetryAfter } from '../refusals/retry-after.ts';
import { Shutdown } from './shutdown.ts';
import type { IntakeSnapshot, IntakeState } from '../delivery/snapshot.ts';
import { Warnings, type Warn } from '../delivery/warnings.ts';

/** Composes the parts. Every rule is in one of them; the order in which they are asked is here. */
export class BoundedIntake implements Intake, DeliveryOwner, Surroundings {
  readonly ledger: Ledger = new Ledger();
  readonly listeners: Listeners = new Listeners();
  readonly now: () => number;
  readonly dryRun: boolean;
  #settings: Settings;
  readonly #fixtures: Fixtures;
  readonly #dispatcher: Dispatcher;
  readonly #shutdown: Shutdown;
  readonly #gate = new Gate();
  readonly #reserve: Reserve<AdmittedDelivery>;
  readonly #retryAfter: RetryAfter;
  readonly #handshakes = new Handshakes();
  readonly #patience: Patience;
  readonly #refuser: Refuser;
  readonly #warnings: Warnings;

  constructor(options: Settings & Fixtures, warn?: Warn) {
    this.#settings = options;
    this.#warnings = new Warnings(this.listeners, warn);
    this.#fixtures = options;
    this.dryRun = options.dryRun;
    this.now = monotonic(options.clock);
    this.#dispatcher = new Dispatcher(options, this);
    this.#patience = new Patience(this.#dispatcher);
    this.#shutdown = new Shutdown(options.clock, this.now, this.#dispatcher, this.ledger, this.listeners);
    this.#reserve = new Reserve<AdmittedDelivery>(this.#dispatcher.queue, this.#gate);
    this.#retryAfter = new RetryAfter(options.random);
    this.#refuser = new Refuser({
      dispatcher: this.#dispatcher,
      gate: this.#gate,
      retryAfter: this.#retryAfter,
      ledger: this.ledger,
      listeners: this.listeners,
    });
    this.#measure(0);
  }

  admit(delivery: Delivery = NOTHING_KNOWN): Admission | Refusal {
    checkDelivery(delivery);
    const key = keyOf(delivery);
    const now = this.now();
    if (delivery.retries === false) this.#warnings.ofLoss(key, now);
    this.#retryAfter.arrive(now);
    if (this.#shutdown.phase !== 'open') return this.#refuse('closing', delivery, key, now);
    if (this.#settings.shed.has(key)) return this.#refuse('shed', delivery, key, now);
    const isPressed = this.#fixtures.isPressed();
    const mayStart = !isPressed || this.#isEntitled(delivery, key, now);
    if (mayStart && this.#dispatcher.isIdle(key, now)) return this.#startAtOnce(delivery, key, now);

    const isHandshake = delivery.handshake === true && this.#handshakes.tryBegin(now);
    const isEntitled = isHandshake || this.#isEntitled(delivery, key, now);
    if (isHandshake && this.#dispatcher.isIdle(key, now)) {
      const admitted = this.#startAtOnce(delivery, key, now);
      admitted.isHandshake = true;
      return admitted;
    }
    const reason = isPressed && !isEntitled ? 'pressure' : this.#judge(delivery, key, isEntitled, now);
    const result =
      reason === null
        ? this.#enqueue(delivery, key, isEntitled, now)
        : this.#overflow(reason, delivery, key, isEntitled, now);
    if (isHandshake) {
      // A listener may have let another in that displaced it, before this was known of it.
      if (result instanceof AdmittedDelivery && result.state !== 'ended') result.isHandshake = true;
      else this.#handshakes.end();
    }
    return result;
  }

  accepts(delivery: Delivery = NOTHING_KNOWN): boolean {
    checkDelivery(delivery);
    const key = keyOf(delivery);
    const now = this.now();
    if (this.dryRun) return true;
    if (this.#shutdown.phase !== 'open' || this.#settings.shed.has(key)) return false;
    const isEntitled = delivery.handshake === true || this.#isEntitled(delivery, key, now);
    if (this.#fixtures.isPressed() && !isEntitled) return false;
    if (this.#dispatcher.isIdle(key, now)) return true;
    this.#measure(now);
    if (this.#waitsTooLong(delivery, key, now)) return false;
    const { size } = this.#dispatcher.queue;
    if (this.#settings.overflow === 'drop-oldest' || !this.#gate.wouldShed(size)) return true;
    return size < this.#gate.effectiveCapacity && this.#reserve.isOpenTo(key, isEntitled);
  }

  leave(admitted: AdmittedDelivery): void {
    if (admitted.state === 'waiting' && !this.dryRun)
      this.#dispatcher.withdraw(admitted, 'abandoned', this.now());
  }

  release(admitted: AdmittedDelivery, outcome: Outcome): void {
    if (admitted.state === 'ended' || (admitted.state === 'waiting' && !this.dryRun)) return;
    this.#dispatcher.end(admitted, outcome, this.now());
  }

  deserted(admitted: AdmittedDelivery): void {
    this.#patience.gone(admitted, this.now());
  }

  snapshot(): IntakeSnapshot {
    const now = this.now();
    this.#measure(now);
    this.#refuser.advance(now);
    const { queue, active, concurrency } = this.#dispatcher;
    return {
      state: this.#state(now),
      depth: queue.size,
      active,
      capacity: this.#settings.capacity,
      effectiveCapacity: this.#gate.effectiveCapacity,
      highWater: this.#gate.high,
      lowWater: this.#gate.low,
      concurrency,
      drainRate: this.#dispatcher.drain.rate(now),
      oldestWaitMs: queue.oldest === null ? 0 : now - queue.oldest.admittedAtMs,
      booked: this.#retryAfter.booked,
      keys: queue.keys,
      totals: this.ledger.read(),
    };
  }

  update(changes: Tunable): void {
    this.#settings = updateSettings(this.#settings, changes);
    const now = this.now();
    this.#dispatcher.retune(this.#settings, now);
    this.#judgeGate(now);
    if (this.listeners.any) {
      const options = Object.keys(changes).filter((name) => changes[name as keyof Tunable] !== undefined);
      this.listeners.emit(now, { type: 'updated', options });
    }
  }

  subscribe(listener: Listener): () => void {
    if (typeof listener !== 'function') throw invalid('ERR_WBP_LISTENER', 'listener', 'a function', listener);
    return this.listeners.add(listener);
  }

  close(options: { timeoutMs?: number | undefined } = {}): Promise<CloseReport> {
    return this.#shutdown.begin(options);
  }

  refusalOf(admitted: AdmittedDelivery, cause: WithdrawalCause, now: number): Refusal {
    const { delivery } = admitted;
    if (admitted.isHandshake) this.#handshakes.end();
    admitted.isHandshake = false;
    if (cause === 'abandoned') {
      this.#patience.gone(admitted, now);
      return TO_NOBODY;
    }
    return this.#refuser.answer(REASON_OF[cause], delivery, admitted.key, now, this.#settings);
  }

  leaving(admitted: AdmittedDelivery): void {
    this.#reserve.give(admitted);
  }

  withdrawn({ delivery }: AdmittedDelivery, now: number): void {
    // Its listeners may do anything, so it comes when the place is out. To a sender that hung up it is a failure too.
    this.#refuser.noteAnswer(delivery, true, now);
  }

  ended(admitted: AdmittedDelivery, outcome: Outcome, now: number): void {
    if (admitted.isHandshake) this.#handshakes.end();
    if (outcome === 'success') this.#patience.stayed(admitted, now);
    this.#refuser.noteAnswer(admitted.delivery, outcome === 'failure', now);
  }

  recovered(): void {
    this.#retryAfter.recover();
  }

  relieved(now: number): void {
    if (this.#gate.shedding) this.#judgeGate(now);
    this.#shutdown.finishIfEmpty();
  }

  step(now: number): void {
    this.#refuser.advance(now);
  }

  #startAtOnce(delivery: Delivery, key: string, now: number): AdmittedDelivery {
    this.#retryAfter.redeem(key, delivery);
    const admitted = new AdmittedDelivery(this, delivery, key, now, 0);
    this.ledger.admitted += 1;
    this.#dispatcher.startNow(admitted, now);
    return admitted;
  }

  /** Whether it may use the reserve on its own account. */
  #isEntitled(delivery: Delivery, key: string, now: number): boolean {
    if (delivery.priority === 'critical' || delivery.retries === false) return true;
    return this.#retryAfter.reservationOf(key, delivery)?.isDue(now) === true;
  }

  /** Why the delivery cannot wait here, or null when it can. */
  #judge(delivery: Delivery, key: string, isEntitled: boolean, now: number): RefusalReason | null {
    this.#judgeGate(now);
    // A listener may have closed the intake at what the gate reported.
    if (this.#shutdown.phase !== 'open') return 'closing';
    if (this.#gate.shedding) {
      this.#retryAfter.shed(now);
      const answer = this.#reserve.ask(key, isEntitled, now, this.#settings.maxWaitMs);
      if (answer !== 'open') return answer;
    }
    return this.#waitsTooLong(delivery, key, now) ? 'wait' : null;
  }

  #waitsTooLong(delivery: Delivery, key: string, now: number): boolean {
    return this.#patience.isExceeded(delivery, key, this.#settings.maxWaitMs, now);
  }

  #enqueue(delivery: Delivery, key: string, isEntitled: boolean, now: number): AdmittedDelivery {
    this.#retryAfter.redeem(key, delivery);
    const leftMs = this.#patience.leftMs(delivery, key, this.#settings.maxWaitMs, now);
    const admitted = new AdmittedDelivery(this, delivery, key, now, leftMs);
    this.ledger.admitted += 1;
    this.#dispatcher.enqueue(admitted, now);
    if (this.#gate.shedding) this.#reserve.take(admitted, isEntitled);
    this.#dispatcher.dispatch(now);
    this.#judgeGate(now);
    return admitted;
  }

  /** What happens to a delivery that has no admitted. */
  #overflow(
    reason: RefusalReason,
    delivery: Delivery,
    key: string,
    isEntitled: boolean,
    now: number,
  ): Admission | Refusal {
    const canDisplace =
      this.#settings.overflow === 'drop-oldest' && (reason === 'shedding' || reason === 'full');
    if (!canDisplace) return this.#refuse(reason, delivery, key, now);
    if (this.#waitsTooLong(delivery, key, now)) return this.#refuse('wait', delivery, key, now);
    const { queue } = this.#dispatcher;
    const { size } = queue;
    if (size >= this.#gate.high) {
      const oldest = displacedBy(key, queue);
      if (oldest !== null) this.#dispatcher.withdraw(oldest, 'displaced', now);
      // A listener that heard of it may have closed the intake, or let another in to the place that came free.
      if (this.#shutdown.phase !== 'open') return this.#refuse('closing', delivery, key, now);
      if (queue.size >= size) return this.#refuse('full', delivery, key, now);
    }
    return this.#enqueue(delivery, key, isEntitled, now);
  }

  #refuse(reason: RefusalReason, delivery: Delivery, key: string, now: number): Admission | Refusal {
    const refusal = this.#refuser.refuse(reason, delivery, key, now, this.#settings);
    if (!this.dryRun) return refusal;
    const admitted = new AdmittedDelivery(this, delivery, key, now, 0);
    this.ledger.admitted += 1;
    this.#dispatcher.runOutside(admitted, now);
    return admitted;
  }

  #measure(now: number): void {
    const { capacity, maxWaitMs, highWaterMark, lowWaterMark } = this.#settings;
    const drainRate = this.#dispatcher.drain.rate(now);
    this.#gate.resize(effectiveCapacity(capacity, maxWaitMs, drainRate), highWaterMark, lowWaterMark);
  }

  #judgeGate(now: number): void {
    this.#measure(now);
    const { queue } = this.#dispatcher;
    if (!this.#gate.judge(queue.size)) return;
    queue.isShedding = this.#gate.shedding;
    this.listeners.emit(now, { type: this.#gate.shedding ? 'shedding' : 'accepting', depth: queue.size });
    if (!this.#gate.shedding) return;
    this.#warnings.ofLowWater(this.#gate.low, this.#settings.capacity, this.#dispatcher.drain.rate(now), now);
  }

  #state(now: number): IntakeState {
    if (this.#shutdown.phase !== 'open') return this.#shutdown.phase;
    if (this.#dispatcher.drain.isStalled(now)) return 'stalled';
    return this.#gate.shedding ? 'shedding' : 'accepting';
  }
}
