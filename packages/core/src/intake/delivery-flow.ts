import { timeoutError } from '../base/abort.ts';
import { monotonic } from '../time/clock.ts';
import { AdmittedDelivery, type DeliveryOwner } from '../workers/admitted-delivery.ts';
import type { Admission } from '../delivery/admission.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { Dispatcher, type TimerEvents } from '../workers/dispatcher.ts';
import { Handshakes } from '../queue/handshakes.ts';
import { Ledger } from '../delivery/ledger.ts';
import { Listeners, type EventSubject, type Outcome, type WithdrawalCause } from '../delivery/events.ts';
import type { Fixtures, Settings } from './options.ts';
import { REASON_OF, UNSENT_REFUSAL, type Refusal, type RefusalReason } from '../delivery/refusal.ts';
import { Refuser } from '../refusals/refuser.ts';
import { Reserve } from '../queue/reserve.ts';
import { RetryAfter } from '../refusals/retry-after.ts';
import { Shutdown } from './shutdown.ts';
import { SwitchOffGuard, type Claim } from './switch-off-guard.ts';
import { WaitLimit } from './wait-limit.ts';
import { Warnings, type Warn } from '../delivery/warnings.ts';
import { WaterMarks } from './water-marks.ts';

/**
 * The way of a delivery once it is decided: refused, or started, queued, withdrawn and ended. The {@link Dispatcher} says
 * where the delivery is and when the next one may start; here is what follows: what is counted, reported and learned.
 */
export class DeliveryFlow implements DeliveryOwner, TimerEvents {
  readonly ledger: Ledger;
  readonly listeners: Listeners = new Listeners();
  readonly handshakes: Handshakes = new Handshakes();
  readonly now: () => number;
  readonly warnings: Warnings;
  readonly dispatcher: Dispatcher;
  readonly marks: WaterMarks;
  readonly reserve: Reserve<AdmittedDelivery>;
  readonly retryAfter: RetryAfter;
  readonly waitLimit: WaitLimit;
  readonly refuser: Refuser;
  readonly guard: SwitchOffGuard;
  readonly shutdown: Shutdown;
  settings: Settings;
  readonly #isDryRun: boolean;
  #isStalled = false;

  constructor(options: Settings & Fixtures, warn: Warn | undefined) {
    const { listeners } = this;
    const ledger = (this.ledger = new Ledger(options.dryRun));
    this.settings = options;
    this.#isDryRun = options.dryRun;
    this.now = monotonic(options.clock);
    this.warnings = new Warnings(listeners, warn);
    this.dispatcher = new Dispatcher(options, this.now, this);
    this.marks = new WaterMarks(options, this.dispatcher, listeners, this.warnings);
    this.retryAfter = new RetryAfter(options.random);
    this.waitLimit = new WaitLimit(this.dispatcher);
    this.refuser = new Refuser({
      ...{ dispatcher: this.dispatcher, gate: this.marks.gate, retryAfter: this.retryAfter },
      ...{ ledger, listeners },
    });
    this.reserve = new Reserve(this.dispatcher.queue, this.marks.gate, () => this.refuser.switchOff.isNeeded);
    this.guard = new SwitchOffGuard(this);
    this.shutdown = new Shutdown({
      ...{ clock: options.clock, now: this.now, dispatcher: this.dispatcher, ledger, listeners },
      withdrawAll: () => this.#withdrawAll(),
    });
  }

  retune(settings: Settings, now: number): void {
    this.settings = settings;
    this.marks.retune(settings);
    this.dispatcher.retune(settings);
    this.#fill(now);
    this.marks.judge(now);
  }

  /** Starts a delivery that no other waits before. */
  start(delivery: Delivery, key: string, now: number): AdmittedDelivery {
    this.retryAfter.redeem(key, delivery, now);
    const admitted = this.#admit(delivery, key, now, 0);
    this.dispatcher.startNow(admitted, now);
    this.#started(admitted, now);
    return admitted;
  }

  /** Queues a delivery. `kept`: see {@link SwitchOffGuard.keeps}; it is entitled, too. */
  enqueue(delivery: Delivery, key: string, claim: Claim, now: number): AdmittedDelivery {
    this.retryAfter.redeem(key, delivery, now);
    const leftMs = this.waitLimit.leftMs(delivery, key, this.settings.maxWaitMs, now);
    const admitted = this.#admit(delivery, key, now, leftMs);
    this.dispatcher.enqueue(admitted, now);
    if (this.marks.gate.shedding) this.reserve.take(admitted, claim !== 'none');
    if (claim === 'kept') this.guard.joined(admitted);
    // Before a worker can become free for it.
    if (this.listeners.any) this.listeners.emit(now, { type: 'queued', ...subjectOf(admitted) });
    this.#fill(now);
    this.marks.judge(now);
    return admitted;
  }

  /** Refuses a delivery. A dry run reports that, and handles the delivery. */
  refuse(reason: RefusalReason, delivery: Delivery, key: string, now: number): Admission | Refusal {
    const refusal = this.refuser.refuse(reason, delivery, key, now, this.settings);
    if (!this.#isDryRun) return refusal;
    const admitted = this.#admit(delivery, key, now, 0);
    this.dispatcher.runOutside(admitted, now);
    this.ledger.started += 1;
    return admitted;
  }

  /** Withdraws a queued delivery, and settles its promise with the refusal. */
  withdraw(admitted: AdmittedDelivery, cause: WithdrawalCause, now: number): void {
    const { ledger, listeners } = this;
    const refusal = this.#answerTo(admitted, cause, now);
    this.guard.leaves(admitted);
    this.dispatcher.remove(admitted);
    if (this.#isDryRun) {
      this.dispatcher.runOutside(admitted, now);
      ledger.started += 1;
    } else {
      admitted.state = 'ended';
      ledger.withdrawn[cause] += 1;
      admitted.settle(refusal);
    }
    if (listeners.any) {
      const waitedMs = now - admitted.admittedAtMs;
      const lossRisk = admitted.delivery.retries === false;
      listeners.emit(now, { type: 'withdrawn', ...subjectOf(admitted), cause, waitedMs, lossRisk });
    }
    // Its listeners may do anything, so it comes last. A sender that disconnected counts it as a failure too.
    this.refuser.noteAnswer(admitted.delivery, admitted.key, true, now);
    // A newer delivery takes the place of a displaced one, and nothing is to be decided between the two.
    if (cause !== 'displaced') this.#relieve(now);
  }

  leave(admitted: AdmittedDelivery): void {
    if (admitted.state === 'waiting' && !this.#isDryRun) this.withdraw(admitted, 'abandoned', this.now());
  }

  release(admitted: AdmittedDelivery, outcome: Outcome): void {
    if (admitted.state === 'ended' || (admitted.state === 'waiting' && !this.#isDryRun)) return;
    this.#end(admitted, outcome, this.now(), false);
  }

  abandon(admitted: AdmittedDelivery): void {
    this.waitLimit.gone(admitted, this.now());
  }

  due(admitted: AdmittedDelivery, now: number): void {
    if (admitted.state === 'waiting') {
      if (!this.guard.extends(admitted, now)) this.withdraw(admitted, 'expired', now);
    } else if (admitted.state !== 'ended') {
      this.ledger.overdue += 1;
      this.#end(admitted, 'failure', now, true);
      admitted.revoke(timeoutError('The delivery was handled for longer than maxHandlingMs.'));
    }
  }

  paced(now: number): void {
    this.#fill(now, true);
    this.#relieve(now);
  }

  step(now: number): void {
    const { drain } = this.dispatcher;
    this.refuser.advance(now);
    this.dispatcher.findLate(now, (admitted) => {
      if (!this.guard.spares(admitted)) this.withdraw(admitted, 'expired', now);
    });
    if (!this.#isStalled && drain.isStalled(now)) {
      this.#isStalled = true;
      this.listeners.emit(now, { type: 'stalled', gapMs: drain.gapMs(now) });
    }
  }

  #admit(delivery: Delivery, key: string, now: number, maxWaitMs: number): AdmittedDelivery {
    this.ledger.admitted += 1;
    return new AdmittedDelivery(this, delivery, key, this.ledger.admitted, now, maxWaitMs);
  }

  /** Starts queued deliveries, as far as workers are free and the pace allows. */
  #fill(now: number, isPaced: boolean = this.dispatcher.isPaced): void {
    const { dispatcher } = this;
    for (let next = dispatcher.next(now); next !== null; next = dispatcher.next(now)) {
      if (now >= next.expiresAtMs && !this.guard.extends(next, now)) {
        this.withdraw(next, 'expired', now);
        continue;
      }
      this.guard.starts(next);
      // It has its permit before its start is reported: a listener may start the next one, whose turn comes later.
      dispatcher.startNext(next, now, isPaced);
      this.#started(next, now);
    }
    dispatcher.drain.look(now);
  }

  #started(admitted: AdmittedDelivery, now: number): void {
    const { listeners } = this;
    const { waitedMs } = admitted;
    this.ledger.started += 1;
    if (listeners.any) {
      listeners.emit(now, { type: 'started', ...subjectOf(admitted), waitedMs });
    }
  }

  /** Ends the handling of a delivery: it is released, or overdue. */
  #end(admitted: AdmittedDelivery, outcome: Outcome, now: number, isOverdue: boolean): void {
    const { ledger, listeners } = this;
    const { key, delivery, state } = admitted;
    const isQueued = state === 'waiting';
    const tookMs = now - (isQueued ? admitted.admittedAtMs : admitted.startedAtMs);
    if (isQueued) ledger.started += 1;
    this.guard.leaves(admitted);
    // How long an interrupted handler would have taken is not known.
    this.dispatcher.end(admitted, outcome, now, !isOverdue && !admitted.isInterrupted);
    ledger[outcome === 'success' ? 'completed' : 'failed'] += 1;
    if (listeners.any) {
      const subject = subjectOf(admitted);
      if (isOverdue) listeners.emit(now, { type: 'overdue', ...subject, heldMs: tookMs });
      listeners.emit(now, { type: 'completed', ...subject, tookMs, outcome });
    }
    if (this.#isStalled && state === 'active') {
      this.#isStalled = false;
      this.retryAfter.recover();
      listeners.emit(now, { type: 'recovered' });
    }
    if (admitted.isHandshake) this.handshakes.end();
    if (outcome === 'success') this.waitLimit.stayed(admitted, now);
    this.refuser.noteAnswer(delivery, key, outcome === 'failure', now);
    this.#fill(now);
    this.#relieve(now);
    this.guard.ended(admitted, outcome === 'failure', now);
  }

  /** The queue has become shorter, or a worker is free. */
  #relieve(now: number): void {
    if (this.marks.gate.shedding) this.marks.judge(now);
    this.shutdown.finishIfEmpty();
  }

  /** The refusal of a delivery that is withdrawn. */
  #answerTo(admitted: AdmittedDelivery, cause: WithdrawalCause, now: number): Refusal {
    if (admitted.isHandshake) this.handshakes.end();
    admitted.isHandshake = false;
    if (cause !== 'abandoned') {
      return this.refuser.answer(REASON_OF[cause], admitted.delivery, admitted.key, now, this.settings);
    }
    this.waitLimit.gone(admitted, now);
    return UNSENT_REFUSAL;
  }

  /** Withdraws all queued deliveries. Returns how many were refused by that: in a dry run none. */
  #withdrawAll(): number {
    const now = this.now();
    const { queue } = this.dispatcher;
    const { withdrawn } = this.ledger;
    const before = withdrawn.closing;
    for (let next = queue.oldest; next !== null; next = queue.oldest) this.withdraw(next, 'closing', now);
    return withdrawn.closing - before;
  }
}

function subjectOf({ key, sequence, delivery }: AdmittedDelivery): EventSubject {
  return { key, sender: delivery.profile?.name, sequence };
}
