import { keptIdOf, type Delivery } from '../../delivery/delivery.ts';
import { createRefusal, type Refusal, type RefusalReason } from '../../delivery/refusal.ts';
import { RetryAfter } from '../../refusals/retry-after.ts';
import type { Situation } from '../../refusals/situation.ts';
import { holdsShare } from '../../queue/equal-share.ts';
import type { RefusalExchange } from '../../refusals/fleet-exchange.ts';
import { statusOf } from '../../refusals/status.ts';
import { SwitchOffWatch } from '../../refusals/switch-off.ts';
import type { InboxSettings } from '../options/inbox-settings.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { DrainReading } from '../capacity/drain-reading.ts';

/** Refuses as an intake does, by the fill level and the drain rate of the inbox. */
export class InboxRefuser {
  readonly retryAfter: RetryAfter;
  readonly switchOff: SwitchOffWatch = new SwitchOffWatch();
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
  }

  /** Notes that a delivery has arrived. */
  arrive(nowMs: number): void {
    this.retryAfter.arrive(nowMs, this.#drainRate(this.#members(nowMs)) ?? undefined);
  }

  refuse(
    reason: RefusalReason,
    delivery: Delivery,
    key: string,
    nowMs: number,
    settings: InboxSettings,
  ): Refusal {
    const { profile } = delivery;
    this.retryAfter.miss(key, delivery, nowMs);
    const { statusCode, retryAfter } = settings;
    const fixed = delivery.statusCode ?? statusCode;
    const status = fixed === 'auto' ? statusOf(reason, key, this.#isCause) : fixed;
    // The sender's timeout does not matter: an accepted delivery is acknowledged immediately.
    const refused = { key, id: keptIdOf(delivery), maxWaitMs: undefined, habit: profile?.retryAfter };
    const seconds = this.retryAfter.seconds(reason, refused, this.#situation(nowMs), retryAfter);
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

  /** Records how a sender was answered: after too many failures it disables the endpoint. */
  noteAnswer({ profile }: Delivery, key: string, isFailure: boolean, nowMs: number): void {
    if (profile?.switchOff === undefined) return;
    this.#level.isKeeping = true;
    // Refusals before the body is read have the sender's name as key.
    if (!isFailure) this.switchOff.runs.end(profile.name, profile.name);
    if (!this.switchOff.note(profile, key, isFailure, nowMs)) return;
    this.#report.emit({ type: 'endangered', sender: profile.name, key });
  }

  /** See {@link InboxSnapshot.endangered}. */
  endangered(nowMs: number): readonly string[] {
    return this.switchOff.endangered(nowMs);
  }

  /** Advances the bookings to now. */
  advance(nowMs: number): void {
    this.retryAfter.advance(this.#situation(nowMs));
  }

  /** Connects the refusals with those of other receivers on the store. */
  join(): RefusalExchange {
    return this.retryAfter.join((nowMs) => this.#situation(nowMs));
  }

  readonly #isCause = (key: string): boolean => holdsShare(key, this.#level);

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
      steadyRate: drainRate,
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
