import { keptIdOf, type Delivery } from '../../delivery/delivery.ts';
import { createRefusal, type Refusal, type RefusalReason } from '../../delivery/refusal.ts';
import { RetryAfter, type Situation } from '../../refusals/retry-after.ts';
import { holdsShare } from '../../queue/equal-share.ts';
import { statusOf } from '../../refusals/status.ts';
import { SwitchOffWatch } from '../../refusals/switch-off.ts';
import type { InboxSettings } from '../settings/inbox-settings.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { Level } from '../keeping/level.ts';
import type { Pace } from '../keeping/pace.ts';

/** Refuses as an intake does, by the level of the inbox and the pace of its workers. */
export class InboxRefuser {
  readonly retryAfter: RetryAfter;
  readonly #level: Level;
  readonly #pace: Pace;
  readonly #report: InboxReport;
  readonly #switchOff = new SwitchOffWatch();

  constructor(random: () => number, level: Level, pace: Pace, report: InboxReport) {
    this.retryAfter = new RetryAfter(random);
    this.#level = level;
    this.#pace = pace;
    this.#report = report;
  }

  refuse(
    reason: RefusalReason,
    delivery: Delivery,
    key: string,
    nowMs: number,
    settings: InboxSettings,
  ): Refusal {
    const { profile } = delivery;
    const { statusCode, retryAfter } = settings.intake;
    const fixed = delivery.statusCode ?? statusCode;
    const status = fixed === 'auto' ? statusOf(reason, key, this.#isCause) : fixed;
    // Its sender's patience does not count: whatever is let in is acknowledged at once.
    const refused = { key, id: keptIdOf(delivery), maxWaitMs: undefined, habit: profile?.retryAfter };
    const seconds = this.retryAfter.seconds(reason, refused, this.#situation(nowMs), retryAfter);
    const refusal = createRefusal(reason, status, seconds, profile?.retryAfter);
    const lossRisk = delivery.retries === false;
    this.#report.totals.refused[reason] += 1;
    if (lossRisk) this.#report.totals.lossRisk += 1;
    const { retryAfterSeconds } = refusal;
    this.#report.emit({ type: 'refused', reason, status, retryAfterSeconds, key, lossRisk });
    this.noteAnswer(delivery, true, nowMs);
    return refusal;
  }

  /** Notes how a sender was answered: too many failures, and it switches the endpoint off. */
  noteAnswer({ profile }: Delivery, isFailure: boolean, nowMs: number): void {
    if (profile === undefined || !this.#switchOff.note(profile, isFailure, nowMs)) return;
    this.#report.emit({ type: 'endangered', sender: profile.name });
  }

  /** Lets bookings come due. */
  advance(nowMs: number): void {
    this.retryAfter.advance(this.#situation(nowMs));
  }

  readonly #isCause = (key: string): boolean => holdsShare(key, this.#level);

  #situation(nowMs: number): Situation {
    const drainRate = this.#pace.drainRate;
    return {
      nowMs,
      depth: this.#level.depth,
      low: this.#level.target,
      drainRate,
      steadyRate: drainRate,
      paceAgeS: this.#pace.measuredS,
      lateShare: 0,
      isStalled: this.#pace.isStalled,
      gapMs: this.#pace.gapMs(nowMs),
      gapFactor: 1,
    };
  }
}
