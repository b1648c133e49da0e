import type { Delivery, Refusal, RefusalReason } from '@webhook-backpressure/core';
import type { FillLevel } from '../capacity/fill-level.ts';
import type { InboxOptions } from '../options/inbox-options.ts';
import type { InboxFixtures, InboxSettings } from '../options/inbox-settings.ts';
import type { InboxRefuser } from './inbox-refuser.ts';
import type { IncomingDelivery } from './incoming-delivery.ts';

export interface InboxAdmissionParts {
  readonly level: FillLevel;
  readonly refuser: InboxRefuser;
  readonly options: Pick<InboxOptions<never>, 'keyGenerator'>;
  readonly fixtures: InboxFixtures;
  readonly settings: () => InboxSettings;
  readonly now: () => number;
  /** Recalculates the marks, and whether the inbox sheds. */
  readonly judge: () => void;
  readonly isOpen: () => boolean;
  /** Whether the store is open and works. */
  readonly isReady: () => boolean;
}

/** Decides whether a delivery may be stored. */
export class InboxAdmission {
  readonly #parts: InboxAdmissionParts;

  constructor(parts: InboxAdmissionParts) {
    this.#parts = parts;
  }

  /**
   * The refusal of a delivery, or undefined when it is admitted. In a dry run refusals are only reported.
   *
   * @param isVerified - whether the delivery is verified, so that its key may count as asking for the reserve.
   */
  refusalOf(incoming: IncomingDelivery, key: string, isVerified: boolean): Refusal | undefined {
    const { delivery } = incoming;
    const reason = this.#objection(incoming, key, isVerified);
    if (reason === undefined) return undefined;
    const refusal = this.refuse(reason, delivery, key);
    const { fixtures, isOpen, isReady } = this.#parts;
    return fixtures.dryRun && isOpen() && isReady() ? undefined : refusal;
  }

  refuse(reason: RefusalReason, delivery: Delivery, key: string): Refusal {
    const { refuser, now, settings } = this.#parts;
    return refuser.refuse(reason, { delivery, key, nowMs: now() }, settings());
  }

  /** Whether a verified delivery goes to the dead-letter queue because there is no room for it. */
  isOverflow(delivery: Delivery, key: string): boolean {
    return (
      this.#parts.settings().overflow === 'dead-letter' && this.#shortage(delivery, key, true) !== undefined
    );
  }

  /** Whether the delivery may use the reserve. */
  isEntitled(delivery: Delivery, key: string): boolean {
    const { refuser, now } = this.#parts;
    return refuser.entitles({ delivery, key, nowMs: now() });
  }

  #objection(incoming: IncomingDelivery, key: string, isVerified: boolean): RefusalReason | undefined {
    const { delivery } = incoming;
    const { settings, isOpen, isReady } = this.#parts;
    if (!isOpen()) return 'closing';
    if (!isReady()) return 'pressure';
    if (settings().shed.has(key)) return 'shed';
    return this.#scarcity(delivery, key, isVerified);
  }

  /** Why a delivery would be refused for lack of room, or under pressure. */
  #scarcity(delivery: Delivery, key: string, isVerified: boolean): RefusalReason | undefined {
    const { settings, fixtures, refuser } = this.#parts;
    const arrival = { delivery, key, nowMs: this.#parts.now() };
    const isEntitled = refuser.isNear(arrival) || refuser.entitles(arrival);
    if (!isEntitled && fixtures.pressure()) return 'pressure';
    return settings().overflow === 'dead-letter' ? undefined : this.#shortage(delivery, key, isVerified);
  }

  #shortage(delivery: Delivery, key: string, isVerified: boolean): 'full' | 'shedding' | undefined {
    const { level, judge, refuser, now, options } = this.#parts;
    judge();
    if (level.shedding) refuser.retryAfter.shed(now());
    const isNear = refuser.isNear({ delivery, key, nowMs: now() });
    const isEntitled = isNear || this.isEntitled(delivery, key);
    if (isVerified) return level.ask(key, isEntitled, now(), refuser.keepsPlaces, isNear);
    return level.shortage(options.keyGenerator === undefined ? key : undefined, isEntitled);
  }
}
