import {
  type Arrival,
  createRefusal,
  type RefusalExchange,
  RetryAfter,
  SharedRefusals,
  type Situation,
  statusOf,
  SwitchOff,
} from '@webhook-backpressure/core/extend';
import type { Delivery, Refusal, RefusalReason } from '@webhook-backpressure/core';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { DrainReading } from '../capacity/drain-reading.ts';

/** Refuses as an intake does, by the fill level and the drain rate of the inbox. */
export class InboxRefuser {
  readonly retryAfter: RetryAfter;
  readonly #switchOff: SwitchOff;
  readonly #level: FillLevel;
  readonly #inboxRate: DrainReading;
  readonly #report: InboxReport;
  /** How many receivers share the store, this one included. */
  readonly #members: (nowMs: number) => number;

  constructor(
    random: () => number,
    level: FillLevel,
    inboxRate: DrainReading,
    report: InboxReport,
    members: (nowMs: number) => number = () => 1,
  ) {
    this.#members = members;
    this.retryAfter = new RetryAfter(random);
    this.#level = level;
    this.#inboxRate = inboxRate;
    this.#report = report;
    this.#switchOff = new SwitchOff((sender, key) => {
      report.emit({ type: 'endangered', sender, key });
    });
  }

  /** Notes that a delivery has arrived. */
  arrive(nowMs: number): void {
    this.retryAfter.arrivals.note(nowMs, this.#drainRate(this.#members(nowMs)) ?? undefined);
  }

  /** Whether the delivery may use the reserve, whatever its key holds. */
  entitles(arrival: Arrival): boolean {
    const { priority, retries } = arrival.delivery;
    if (priority === 'critical' || retries === false) return true;
    return this.retryAfter.promises.entitles(arrival);
  }

  /** Whether one more failure would endanger the sender: then the delivery may use all of the reserve. */
  isNear(arrival: Arrival): boolean {
    const { delivery, key } = arrival;
    const name = delivery.profile?.name;
    // Refusals before the body is read have the sender's name as key.
    const isOther = name !== undefined && name !== key;
    return (
      this.#switchOff.entitles(arrival) || (isOther && this.#switchOff.entitles({ ...arrival, key: name }))
    );
  }

  /** Whether places of the reserve are kept for such deliveries. */
  get keepsPlaces(): boolean {
    return this.#switchOff.keepsPlaces;
  }

  refuse(reason: RefusalReason, arrival: Arrival, settings: InboxSettings): Refusal {
    const { delivery, key, nowMs } = arrival;
    const { profile } = delivery;
    const { statusCode, retryAfter } = settings;
    const fixed = delivery.statusCode ?? statusCode;
    const status = fixed === 'auto' ? statusOf(reason, key, () => this.#level.holdsShare(key)) : fixed;
    // The sender's timeout does not matter: an accepted delivery is acknowledged immediately.
    const seconds = this.retryAfter.of(reason, { arrival }, this.#situation(nowMs), retryAfter);
    const refusal = createRefusal(reason, status, seconds, profile?.retryAfter);
    const lossRisk = delivery.retries === false;
    const { totals } = this.#report;
    totals.refusedByStatus[status][reason] += 1;
    if (lossRisk) totals.lossRisk += 1;
    const { retryAfterSeconds } = refusal;
    const sender = profile?.name;
    this.#report.emit({ type: 'refused', reason, status, retryAfterSeconds, key, sender, lossRisk });
    this.noteAnswer(delivery, key, true, nowMs);
    return refusal;
  }

  /** Notes how a sender was answered: after too many failures it disables the endpoint. */
  noteAnswer(delivery: Delivery, key: string, isFailure: boolean, nowMs: number): void {
    const { profile } = delivery;
    this.#switchOff.note({ delivery, key }, isFailure, nowMs);
    // Refusals before the body is read have the sender's name as key.
    if (!isFailure && profile !== undefined && profile.name !== key)
      this.#switchOff.endRun(profile.name, profile.name);
  }

  /** See {@link InboxSnapshot.endangered}. */
  endangered(nowMs: number): readonly string[] {
    return this.#switchOff.endangered(nowMs);
  }

  /** Advances the bookings to now. */
  advance(nowMs: number): void {
    this.retryAfter.seconds.advance(nowMs);
  }

  /** Connects the refusals with those of other receivers on the store. */
  join(): RefusalExchange {
    return new SharedRefusals(this.retryAfter, (nowMs) => this.#situation(nowMs));
  }

  #situation(nowMs: number): Situation {
    // Each of several receivers counts as one with its part of the backlog and of the workers: all of them together book
    // at the rate of all workers, and each expects shedding to end when it does.
    const members = this.#members(nowMs);
    const drainRate = this.#drainRate(members);
    return {
      nowMs,
      depth: this.#level.depth / members,
      low: this.#level.target / members,
      drainRate,
      presentRate: drainRate,
      paceAgeS: this.#inboxRate.measuredS,
      lateShare: 0,
      isStalled: this.#inboxRate.isStalled,
      gapMs: this.#inboxRate.gapMs(nowMs),
      gapFactor: 1,
    };
  }

  #drainRate(members: number): number | null {
    const { perSecond } = this.#inboxRate;
    return perSecond === null ? null : perSecond / members;
  }
}
