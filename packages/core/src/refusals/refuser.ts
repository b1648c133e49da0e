import { keptIdOf, type Delivery } from '../delivery/delivery.ts';
import type { Dispatcher } from '../workers/dispatcher.ts';
import type { Listeners } from '../delivery/events.ts';
import type { Gate } from '../queue/gate.ts';
import type { Ledger } from '../delivery/ledger.ts';
import type { RefusalExchange } from './fleet-exchange.ts';
import { createRefusal, type Refusal, type RefusalReason } from '../delivery/refusal.ts';
import type { RetryAfter } from './retry-after.ts';
import type { RetryAfterSettings, Situation } from './situation.ts';
import { statusOf } from './status.ts';
import { SwitchOffWatch } from './switch-off.ts';

/** The options of an intake that its refusals depend on. */
export interface RefusalSettings {
  readonly maxWaitMs: number;
  readonly statusCode: 'auto' | 429 | 503;
  readonly retryAfter: RetryAfterSettings;
}

/** The parts of an intake that the refuser reads and writes. */
export interface RefuserParts {
  readonly dispatcher: Dispatcher;
  readonly gate: Gate;
  readonly retryAfter: RetryAfter;
  readonly ledger: Ledger;
  readonly listeners: Listeners;
}

/** Creates refusals: chooses the status and Retry-After, and counts what may be lost. */
export class Refuser {
  readonly switchOff: SwitchOffWatch = new SwitchOffWatch();
  readonly #parts: RefuserParts;

  constructor(parts: RefuserParts) {
    this.#parts = parts;
  }

  /** Refuses a delivery that was not admitted. */
  refuse(
    reason: RefusalReason,
    delivery: Delivery,
    key: string,
    now: number,
    settings: RefusalSettings,
  ): Refusal {
    const { ledger, listeners, retryAfter } = this.#parts;
    retryAfter.miss(key, delivery, now);
    const refusal = this.answer(reason, delivery, key, now, settings);
    const { status, retryAfterSeconds } = refusal;
    (status === 429 ? ledger.refused429 : ledger.refused503)[reason] += 1;
    if (listeners.any) {
      const lossRisk = delivery.retries === false;
      const sender = delivery.profile?.name;
      listeners.emit(now, { type: 'refused', reason, status, retryAfterSeconds, key, sender, lossRisk });
    }
    this.noteAnswer(delivery, key, true, now);
    return refusal;
  }

  /** The answer to a refused delivery, whether it was queued before or not. */
  answer(
    reason: RefusalReason,
    delivery: Delivery,
    key: string,
    now: number,
    settings: RefusalSettings,
  ): Refusal {
    const { dispatcher, retryAfter, ledger } = this.#parts;
    const { profile } = delivery;
    // At less than one start per maximum wait, a retry that finds a free place waits too long again.
    const maxWaitMs = Math.min(delivery.maxWaitMs ?? Infinity, settings.maxWaitMs);
    if (delivery.retries === false) ledger.lossRisk += 1;
    const fixed = delivery.statusCode ?? settings.statusCode;
    const isCause = (): boolean => dispatcher.shares.isCause(key, now);
    const status = fixed === 'auto' ? statusOf(reason, key, isCause) : fixed;
    const { shares } = dispatcher;
    const turns = shares.turnsUntil(key);
    const spacingMs = shares.spacingMs(key);
    const rate = dispatcher.drain.steadyRate;
    // With maxConcurrencyPerKey, a key waits for its own workers.
    const ownWaitMs = spacingMs > 0 && rate !== null ? shares.waitMs(key, rate) : 0;
    const refused = {
      ...{ key, id: keptIdOf(delivery), maxWaitMs, turns },
      ...{ spacingMs, ownWaitMs, habit: profile?.retryAfter },
    };
    const seconds = retryAfter.seconds(reason, refused, this.#situation(now), settings.retryAfter);
    return createRefusal(reason, status, seconds, profile?.retryAfter);
  }

  /** Notes an answer to a sender. After too many failures, some senders disable the endpoint. */
  noteAnswer({ profile }: Delivery, key: string, isFailure: boolean, now: number): void {
    if (profile === undefined || !this.switchOff.note(profile, key, isFailure, now)) return;
    this.#parts.listeners.emit(now, { type: 'endangered', sender: profile.name, key });
  }

  /** See {@link IntakeSnapshot.endangered}. */
  endangered(now: number): readonly string[] {
    return this.switchOff.endangered(now);
  }

  /** Advances the bookings to `now`. */
  advance(now: number): void {
    this.#parts.retryAfter.advance(this.#situation(now));
  }

  /** Exchanges bookings and promises with other receivers from now on. */
  join(): RefusalExchange {
    return this.#parts.retryAfter.join((nowMs) => this.#situation(nowMs));
  }

  #situation(nowMs: number): Situation {
    const { dispatcher, gate } = this.#parts;
    const { queue, drain } = dispatcher;
    return {
      nowMs,
      depth: queue.size,
      low: gate.low,
      high: gate.high,
      capacity: gate.effectiveCapacity,
      drainRate: drain.rate(nowMs),
      steadyRate: drain.steadyRate,
      paceAgeS: drain.paceAgeS,
      lateShare: drain.lateShare,
      isStalled: drain.isStalled(nowMs),
      gapMs: drain.gapMs(nowMs),
      gapFactor: drain.gapFactor(nowMs),
    };
  }
}
