import {
  type Arrival,
  createRefusal,
  type RefusalExchange,
  RetryAfterSeconds,
  SharedRefusals,
  type Situation,
  statusOf,
  SwitchOff,
} from '@webhook-backpressure/core/extend';
import type { Delivery, Refusal, RefusalReason } from '@webhook-backpressure/core';
import type { InboxState } from '../capacity/inbox-state.ts';

/** Decides whether a delivery may be stored, and refuses as an intake does, by the fill level and the drain rate. */
export class InboxAdmission {
  readonly retryAfter: RetryAfterSeconds;
  readonly #inbox: InboxState;
  readonly #hasKeyGenerator: boolean;
  readonly #members: (nowMs: number) => number;
  readonly #switchOff: SwitchOff;

  /**
   * @param hasKeyGenerator - whether the key of a delivery is known only with its body.
   * @param members - how many receivers share the store, this one included.
   */
  constructor(inbox: InboxState, hasKeyGenerator: boolean, members: (nowMs: number) => number) {
    this.#inbox = inbox;
    this.#hasKeyGenerator = hasKeyGenerator;
    this.#members = members;
    this.retryAfter = new RetryAfterSeconds(inbox.random);
    this.#switchOff = new SwitchOff((sender, key) => {
      inbox.report.emit({ type: 'endangered', sender, key });
    });
  }

  /** Notes that a delivery has arrived. */
  arrive(nowMs: number): void {
    const { drainRate } = this.#inbox;
    const most = drainRate === null ? undefined : drainRate / this.#members(nowMs);
    this.retryAfter.arrivals.note(nowMs, most);
  }

  /**
   * The refusal of a delivery, or undefined when it is admitted. In a dry run refusals are only reported.
   *
   * @param isVerified - whether the delivery is verified, so that its key may count as asking for the reserve.
   */
  refusalOf(delivery: Delivery, key: string, isVerified: boolean): Refusal | undefined {
    const reason = this.#objection({ delivery, key, nowMs: this.#inbox.now() }, isVerified);
    if (reason === undefined) return undefined;
    const refusal = this.refuse(reason, delivery, key);
    const isAcceptable = reason !== 'closing' && this.#isReady;
    return this.#inbox.fixtures.dryRun && isAcceptable ? undefined : refusal;
  }

  /** Whether a verified delivery that may overflow does: there is no other room for it. */
  isOverflow(delivery: Delivery, key: string): boolean {
    const arrival = { delivery, key, nowMs: this.#inbox.now() };
    const isNear = this.#isNear(arrival);
    return this.#shortage(arrival, isNear || this.#isEntitled(arrival), isNear, true) !== undefined;
  }

  refuse(reason: RefusalReason, delivery: Delivery, key: string): Refusal {
    const { level, report, settings, now } = this.#inbox;
    const nowMs = now();
    const { profile } = delivery;
    const fixed = delivery.statusCode ?? settings.statusCode;
    const status = fixed === 'auto' ? statusOf(reason, key, () => level.holdsShare(key)) : fixed;
    // The sender's timeout does not matter: an accepted delivery is acknowledged immediately.
    const situation = this.#situation(nowMs);
    const arrival = { delivery, key, nowMs };
    const seconds = this.retryAfter.of(reason, { arrival }, situation, settings.retryAfter);
    const refusal = createRefusal(reason, status, seconds, profile?.retryAfter);
    const lossRisk = delivery.retries === false;
    report.totals.refusedByStatus[status][reason] += 1;
    if (lossRisk) report.totals.lossRisk += 1;
    const { retryAfterSeconds } = refusal;
    const sender = profile?.name;
    report.emit({ type: 'refused', reason, status, retryAfterSeconds, key, sender, lossRisk });
    this.#switchOff.note(arrival, true, nowMs);
    return refusal;
  }

  /** Notes that a delivery is acknowledged. */
  acknowledged(delivery: Delivery, key: string): void {
    const nowMs = this.#inbox.now();
    const arrival = { delivery, key, nowMs };
    this.retryAfter.promises.admitted(arrival);
    this.#switchOff.note(arrival, false, nowMs);
    const { profile } = delivery;
    // Refusals before the body is read have the sender's name as key.
    if (profile !== undefined && profile.name !== key) this.#switchOff.endRun(profile.name, profile.name);
  }

  /** See {@link InboxSnapshot.endangered}. */
  endangered(nowMs: number): readonly string[] {
    return this.#switchOff.endangered(nowMs);
  }

  /** Connects the refusals with those of other receivers on the store. */
  join(): RefusalExchange {
    return new SharedRefusals(this.retryAfter, (nowMs) => this.#situation(nowMs));
  }

  /**
   * Whether the store is open and works. A delivery that can be stored but not processed stays with the sender, which may
   * use another receiver or alert.
   */
  get #isReady(): boolean {
    const { phase, receivingHealth, health } = this.#inbox;
    return phase !== 'opening' && !receivingHealth.isResting && !health.isStuck;
  }

  #objection(arrival: Arrival, isVerified: boolean): RefusalReason | undefined {
    const { phase, settings, fixtures } = this.#inbox;
    if (phase === 'closing' || phase === 'closed') return 'closing';
    if (!this.#isReady) return 'pressure';
    if (settings.shed.has(arrival.key)) return 'shed';
    const isNear = this.#isNear(arrival);
    const isEntitled = isNear || this.#isEntitled(arrival);
    if (!isEntitled && fixtures.pressure()) return 'pressure';
    if (settings.overflow === 'dead-letter') return undefined;
    return this.#shortage(arrival, isEntitled, isNear, isVerified);
  }

  /** Why there is no room for a delivery, if so. */
  #shortage(
    { key, nowMs }: Arrival,
    isEntitled: boolean,
    isNear: boolean,
    isVerified: boolean,
  ): 'full' | 'shedding' | undefined {
    const { level } = this.#inbox;
    this.#inbox.judge();
    if (!level.shedding) return level.isFull ? 'full' : undefined;
    this.retryAfter.shed(nowMs);
    if (isVerified) return level.ask(key, isEntitled, nowMs, this.#switchOff.keepsPlaces, isNear);
    return level.shortage(this.#hasKeyGenerator ? undefined : key, isEntitled);
  }

  /** Whether the delivery may use the reserve, whatever its key holds. */
  #isEntitled(arrival: Arrival): boolean {
    const { priority, retries } = arrival.delivery;
    return priority === 'critical' || retries === false || this.retryAfter.promises.entitles(arrival);
  }

  /** Whether one more failure would endanger the sender: then the delivery may use all of the reserve. */
  #isNear(arrival: Arrival): boolean {
    const { profile } = arrival.delivery;
    if (profile?.switchOff === undefined) return false;
    const { key, nowMs } = arrival;
    // Refusals before the body is read have the sender's name as key.
    return (
      this.#switchOff.isNear(profile, key, nowMs) || this.#switchOff.isNear(profile, profile.name, nowMs)
    );
  }

  #situation(nowMs: number): Situation {
    const { level, rate, drainRate } = this.#inbox;
    // Each of several receivers counts as one with its part of the backlog and of the workers: all of them together book
    // at the rate of all workers, and each expects shedding to end when it does.
    const members = this.#members(nowMs);
    const ownRate = drainRate === null ? null : drainRate / members;
    return {
      nowMs,
      depth: level.depth / members,
      low: level.target / members,
      drainRate: ownRate,
      presentRate: ownRate,
      paceAgeS: rate.measuredS,
      lateShare: 0,
      isStalled: rate.isStalled,
      gapMs: rate.gapMs(nowMs),
      gapFactor: 1,
    };
  }
}
