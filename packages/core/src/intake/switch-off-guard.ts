import type { Delivery } from '../delivery/delivery.ts';
import type { Reserve } from '../queue/reserve.ts';
import type { FailureRun } from '../refusals/failure-runs.ts';
import type { Refuser } from '../refusals/refuser.ts';
import { endangeringRun, hurryingRun, type SwitchOffWatch } from '../refusals/switch-off.ts';
import type { AdmittedDelivery } from '../workers/admitted-delivery.ts';
import type { Dispatcher } from '../workers/dispatcher.ts';
import type { Settings } from './options.ts';
import type { WaitLimit } from './wait-limit.ts';
import type { WaterMarks } from './water-marks.ts';

/** How many refusals of one key are deferred at most. */
const MOST_DEFERRED = 256;
/** From this many on, more refusals may follow one another, even if the sender is endangered by them. */
const MANY_DEFERRED = 16;

/** A delivery may wait for this part of its longest wait beyond it. Its sender waits for a quarter longer, or more. */
const OVERTIME = 0.1;

export interface SwitchOffGuardParts {
  readonly dispatcher: Dispatcher;
  readonly marks: WaterMarks;
  readonly reserve: Reserve<AdmittedDelivery>;
  readonly refuser: Refuser;
  readonly waitLimit: WaitLimit;
  readonly settings: Settings;
  withdraw(admitted: AdmittedDelivery, cause: 'expired', now: number): void;
}

/** On which ground a delivery may use the reserve: `kept` is one that {@link SwitchOffGuard.keeps}. */
export type Claim = 'none' | 'entitled' | 'kept';

/**
 * Keeps senders below the failures after which they disable the endpoint.
 *
 * A sender that counts failures in a row gets only some refusals in a row. From then on its deliveries are queued, also
 * in places that the reserve keeps for them, and the next delivery of their key starts before its turn. Its success ends
 * the run, and the queued ones are refused, again as many as may follow one another. So a refusal comes later, and costs
 * no handling. A sender that counts failures in a window gets no refusals near its limit while there are places.
 */
export class SwitchOffGuard {
  readonly #parts: SwitchOffGuardParts;
  readonly #watch: SwitchOffWatch;
  /** Deferred refusals, and the runs that have any. */
  #deferred = 0;
  #deferring = 0;
  /** Deliveries in kept places whose senders are near the limit of a window. */
  readonly #near = new Set<AdmittedDelivery>();

  constructor(parts: SwitchOffGuardParts) {
    this.#parts = parts;
    this.#watch = parts.refuser.switchOff;
  }

  /**
   * Whether a delivery that is to be refused is queued instead.
   */
  keeps({ profile, maxWaitMs }: Delivery, key: string, now: number): boolean {
    if (profile?.switchOff === undefined || maxWaitMs === 0) return false;
    const run = this.#watch.runs.find(profile.name, key);
    const { inARow = Infinity } = profile.switchOff;
    const failures = run?.failures ?? 0;
    const isNear = this.#watch.isWindowNear(profile, now);
    if (!isNear && failures < hurryingRun(inARow)) return false;
    const isStarting = run?.urgent != null || this.#parts.dispatcher.queue.hurry(key);
    // Its success comes first.
    const deferred = run?.deferred.size ?? 0;
    if (!isNear && isStarting && failures < this.#most(inARow, deferred)) return false;
    return this.#hasPlace(key, isNear ? this.#near.size : deferred, isNear, now);
  }

  /** A delivery that {@link keeps} has kept has joined the queue. */
  joined(admitted: AdmittedDelivery): void {
    const { key, delivery, state } = admitted;
    const { profile } = delivery;
    if (state !== 'waiting' || profile?.switchOff === undefined) return;
    const { runs } = this.#watch;
    const run = runs.find(profile.name, key);
    if (run?.urgent == null) this.#parts.dispatcher.queue.hurry(key);
    const { inARow = Infinity, windowS } = profile.switchOff;
    if ((run?.failures ?? 0) >= this.#most(inARow, run?.deferred.size ?? 0))
      this.#defer(admitted, runs.open(profile.name, key).deferred);
    else if (windowS !== undefined && this.#near.size < this.#shareOf(this.#near.size))
      this.#defer(admitted, this.#near);
  }

  /** Whether a delivery that has been queued for as long as it may waits a little longer, until a success. */
  extends(admitted: AdmittedDelivery, now: number): boolean {
    const untilMs = admitted.expiresAtMs + OVERTIME * admitted.maxWaitMs;
    const run = this.#runOf(admitted);
    if (run === undefined || now >= untilMs || !this.spares(admitted)) return false;
    const { dispatcher } = this.#parts;
    if (admitted.deferred === null) this.#defer(admitted, run.deferred);
    if (run.urgent === null) dispatcher.queue.hurry(run.key);
    dispatcher.extend(admitted, untilMs, now);
    return true;
  }

  #defer(admitted: AdmittedDelivery, deferred: Set<AdmittedDelivery>): void {
    if (deferred.size === 0) this.#deferring += 1;
    this.#deferred += 1;
    deferred.add(admitted);
    admitted.deferred = deferred;
  }

  /** A queued delivery is about to leave the queue: its place of the reserve is free. */
  leaves(admitted: AdmittedDelivery): void {
    this.#parts.reserve.give(admitted);
    this.#settle(admitted);
  }

  /** A queued delivery is about to start. */
  starts(admitted: AdmittedDelivery): void {
    this.leaves(admitted);
    const { line } = admitted;
    if (line === null || !this.#parts.dispatcher.queue.isHurried(line)) return;
    const run = this.#runOf(admitted);
    if (run !== undefined) run.urgent ??= admitted;
  }

  /** A delivery has been handled, and its answer is noted. */
  ended(admitted: AdmittedDelivery, isFailure: boolean, now: number): void {
    const run = this.#runOf(admitted);
    if (run === undefined) return;
    if (run.urgent === admitted) run.urgent = null;
    if (!isFailure) this.#refuseDeferred(run, admitted.delivery.profile?.switchOff?.inARow, now);
    if (run.urgent === null && run.deferred.size > 0) this.#parts.dispatcher.queue.hurry(run.key);
    this.#watch.runs.forget(run);
  }

  /** Whether a queued delivery that will expire is not refused earlier: its sender has got enough failures in a row. */
  spares(admitted: AdmittedDelivery): boolean {
    const inARow = admitted.delivery.profile?.switchOff?.inARow;
    const run = this.#runOf(admitted);
    return inARow !== undefined && run !== undefined && run.failures >= this.#most(inARow, run.deferred.size);
  }

  #hasPlace(key: string, deferred: number, isNear: boolean, now: number): boolean {
    const { dispatcher, marks, reserve, settings } = this.#parts;
    const { size } = dispatcher.queue;
    if (size >= settings.capacity || deferred >= MOST_DEFERRED) return false;
    const { kept } = reserve;
    const isFull = size >= marks.gate.effectiveCapacity;
    // The drain rate, and the effective capacity with it, may have fallen since others took their places.
    if (isFull && this.#deferred >= kept) return false;
    if (!isFull && reserve.ask(key, true, now, settings.maxWaitMs) === 'open') return true;
    return (!isNear && this.#deferring <= 1) || deferred < this.#shareOf(deferred);
  }

  /** How many of the kept places those who share them may have, if they have `deferred` now. */
  #shareOf(deferred: number): number {
    const others = deferred === 0 ? this.#deferring + 1 : this.#deferring;
    return Math.max(1, Math.floor(this.#parts.reserve.kept / others));
  }

  /** A success has ended the run, so more refusals may follow. */
  #refuseDeferred(run: FailureRun, inARow = Infinity, now: number): void {
    const { marks, waitLimit } = this.#parts;
    for (const admitted of run.deferred) {
      if (!marks.gate.shedding && waitLimit.isInTime(admitted, now)) {
        // There is room for it: it waits for its turn.
        this.#settle(admitted);
        continue;
      }
      if (run.failures >= this.#most(inARow, run.deferred.size)) return;
      this.#parts.withdraw(admitted, 'expired', now);
    }
  }

  /** The refusal of a delivery is no longer deferred. */
  #settle(admitted: AdmittedDelivery): void {
    const { deferred } = admitted;
    if (deferred === null) return;
    admitted.deferred = null;
    deferred.delete(admitted);
    this.#deferred -= 1;
    if (deferred.size === 0) this.#deferring -= 1;
  }

  #runOf({ delivery: { profile }, key }: AdmittedDelivery): FailureRun | undefined {
    const { runs } = this.#watch;
    return profile?.switchOff === undefined || !runs.any ? undefined : runs.find(profile.name, key);
  }

  /** The most refusals in a row: no more than without a warning, unless many are deferred. */
  #most(inARow: number, deferred: number): number {
    const many = Math.min(MANY_DEFERRED, this.#parts.reserve.kept / 2);
    return deferred >= many ? inARow - 1 : endangeringRun(inARow) - 1;
  }
}
