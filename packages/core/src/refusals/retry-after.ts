import { ReturningShare } from './returning-share.ts';
import { Bookings } from './bookings.ts';
import { DEFAULT_KEY } from '../delivery/delivery.ts';
import { ExpectedRetries, tightRoom } from './expected-retries.ts';
import { trustedHorizonS, overloadHorizonS, sharedHorizonS } from './booking-horizon.ts';
import type { RefusalExchange } from './fleet-exchange.ts';
import { Reservations, type Reservation } from './reservations.ts';
import type { RefusalReason } from '../delivery/refusal.ts';
import { boundsOf, untilOpen } from './retry-bounds.ts';
import { SharedRefusals } from './shared-refusals.ts';
import type { SharedPromise } from './shared-promises.ts';
import type { Refused, RetryAfterSettings, Situation } from './situation.ts';

/** `depth`: the maximum random stretch of a delay, so that retries with the same delay do not arrive together. */
const DEPTH_JITTER = 0.2;
/** `booked`: the same, but smaller, as each delivery already has its own slot. */
const BOOKED_JITTER = 0.1;
const MAX_BOOKED_JITTER_S = 2;
/** Sent while the drain rate is unknown, in seconds: long enough to see a first completion. */
const UNKNOWN_FROM_S = 3;
const UNKNOWN_TO_S = 7;
/** Sent for a key that was switched off by hand: a person has to switch it on again. */
const SHED_S = 60;
const SHED_JITTER = 0.2;
const LEAST_STALL_S = 5;
/** A stall also stretches the horizon, up to this factor: without new completions it must not grow forever. */
const MOST_STRETCH = 3;
/** The horizon is at least the time of this many completions. */
const COMPLETIONS_AHEAD = 2;
/** A pace that differs by this factor from the previous one is a new pace. */
const NEW_PACE = 1.3;
/** Where the queue is too small for the retries of a second, a retry may be this far from its place in the schedule. */
const MOST_AHEAD_S = 4;
/** The retries of deliveries refused during a stall are spread over this many times its length so far. */
const STALL_SPREAD = 1.5;

/**
 * Computes Retry-After, in whole seconds and never the same for all senders.
 *
 * - `depth`: the time to drain the queue, depth ÷ drain rate, plus up to 20 % of jitter.
 * - `booked`: each refused delivery is booked into its own slot of a schedule, after shedding is expected to end, in
 *   `max(0, depth − low-water mark) ÷ drain rate`, and after all earlier bookings. A slot takes 1/ρ at the rate ρ that is
 *   left for retries, so retries arrive at the rate at which they can be accepted, not as a wave. A delay above the
 *   maximum, or beyond the horizon (see {@link trustedHorizonS}), books nothing and is spread over the upper half of the
 *   range.
 *
 * While the drain rate is unknown, both strategies return 3 to 7 s; during a stall, 1 to 2.5 times its length so far.
 */
export class RetryAfter {
  readonly #random: () => number;
  readonly #returning = new ReturningShare();
  readonly #bookings = new Bookings();
  readonly #reservations = new Reservations();
  readonly #expected = new ExpectedRetries();
  /** See {@link PromiseCounts}. */
  readonly promises: { kept: number; missed: number } = { kept: 0, missed: 0 };
  /** The time per retry that the schedule was last scaled to. */
  #bookedSpacingMs = 0;
  /** Null until this receiver joins others. */
  #shared: SharedRefusals | null = null;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The number of bookings that are not due yet. */
  get booked(): number {
    return Math.ceil(this.#bookings.total);
  }

  /** See {@link IntakeSnapshot.bookedAhead}. Advance it before. */
  get bookedAhead(): readonly number[] {
    return this.#bookings.ahead();
  }

  /** Notes that a delivery has arrived. See {@link ReturningShare.noteArrival}. */
  arrive(nowMs: number, mostPerS?: number): void {
    this.#returning.noteArrival(nowMs, mostPerS);
  }

  /** Notes that deliveries are being shed. */
  shed(nowMs: number): void {
    this.#returning.shed(nowMs, this.#bookings.total > 0);
  }

  /** Books behind the retries of other receivers from now on. */
  join(look: (nowMs: number) => Situation): RefusalExchange {
    const parts = {
      ...{ bookings: this.#bookings, returning: this.#returning, look },
      returnRate: (steadyRate: number) => this.#retryRate(steadyRate),
      advance: (situation: Situation) => {
        this.advance(situation);
      },
      shed: (atMs: number) => {
        this.#returning.shedAnywhere(atMs, this.#bookings.total > 0);
      },
    };
    this.#shared ??= new SharedRefusals(parts);
    return this.#shared;
  }

  /** Drops the bookings after a stall: retries during the stall were refused again. */
  recover(): void {
    this.#bookings.clear();
    this.#expected.clear();
  }

  /** The reservation of a delivery here, or else the promise of another receiver of the fleet. */
  reservationOf(
    key: string,
    { id }: { readonly id?: string | undefined },
  ): Reservation | SharedPromise | undefined {
    if (id === undefined) return undefined;
    const own = this.#reservations.find(key, id);
    return this.#shared === null ? own : this.#shared.promiseOf(key, id, own);
  }

  /** Drops the reservation of an admitted delivery: a reservation is used once. */
  redeem(key: string, delivery: { readonly id?: string | undefined }, nowMs: number): void {
    const reservation = this.reservationOf(key, delivery);
    if (reservation === undefined) return;
    this.#count('kept', reservation, nowMs);
    this.#forget(key, delivery.id);
    this.#shared?.redeemed(key, delivery.id);
  }

  /** Notes that a delivery is refused, perhaps although it arrived in its booked time. Called before it is booked again. */
  miss(key: string, delivery: { readonly id?: string | undefined }, nowMs: number): void {
    const reservation = this.reservationOf(key, delivery);
    if (reservation !== undefined) this.#count('missed', reservation, nowMs);
  }

  /** Advances the bookings to `nowMs`. Called before they are read, and from time to time. */
  advance({ nowMs }: Situation): void {
    this.#returning.noteDue(nowMs, this.#bookings.advance(nowMs, 1 / this.#returning.shareKept()));
  }

  /** Returns the seconds for a delivery refused now and, with `booked`, books its retry. */
  seconds(
    reason: RefusalReason,
    refused: Refused,
    situation: Situation,
    settings: RetryAfterSettings,
  ): number {
    const seconds = this.#decide(reason, refused, situation, settings);
    const { minSeconds, maxSeconds } = boundsOf(settings, refused.habit);
    return Math.min(maxSeconds, Math.max(minSeconds, seconds));
  }

  #decide(
    reason: RefusalReason,
    refused: Refused,
    situation: Situation,
    settings: RetryAfterSettings,
  ): number {
    if (reason === 'shed') return Math.ceil(SHED_S * (1 + SHED_JITTER * this.#random()));
    // The retry will reach another process, or this one under less load: the queue says nothing about that.
    if (reason === 'closing' || reason === 'pressure') return this.#unknown();
    const { drainRate, depth } = situation;
    if (settings.strategy === 'booked') return this.#book(refused, situation, settings);
    if (situation.isStalled) return this.#stalled(situation, settings.maxSeconds);
    if (drainRate === null) return this.#unknown();
    return Math.ceil((depth / drainRate) * (1 + DEPTH_JITTER * this.#random()));
  }

  #forget(key: string, id: string | undefined): void {
    if (id !== undefined) this.#reservations.forget(this.#reservations.find(key, id));
  }

  #count(outcome: 'kept' | 'missed', reservation: Reservation | SharedPromise, nowMs: number): void {
    if (reservation.isCounted || !reservation.isDue(nowMs)) return;
    reservation.isCounted = true;
    this.promises[outcome] += 1;
  }

  #book(refused: Refused, situation: Situation, settings: RetryAfterSettings): number {
    const { key, id, habit } = refused;
    const { nowMs } = situation;
    const shared = this.#shared;
    const steadyRate = shared === null ? situation.steadyRate : shared.drainRate(situation.steadyRate);
    const gapFactor = shared === null ? situation.gapFactor : shared.gapFactor(situation.gapFactor);
    this.advance(situation);
    const reservation = this.reservationOf(key, refused);
    if (reservation !== undefined && nowMs < reservation.dueMs)
      return Math.ceil((reservation.dueMs - nowMs) / 1000);
    const { minSeconds, maxSeconds } = boundsOf(settings, habit);
    if (situation.isStalled) return this.#stalled(situation, maxSeconds);
    if (steadyRate === null) {
      // The longer nothing has completed, the less is likely to complete soon.
      if (situation.gapMs > UNKNOWN_FROM_S * 1000) return this.#stalled(situation, maxSeconds);
      const seconds = Math.min(maxSeconds, Math.max(minSeconds, this.#unknown()));
      this.#expect(refused, nowMs + seconds * 1000, nowMs);
      return seconds;
    }

    const untilOwnMs = (refused.ownWaitMs ?? 0) - (refused.maxWaitMs ?? 0);
    const untilOpenMs = Math.max(untilOwnMs, (untilOpen(refused, situation, steadyRate) / steadyRate) * 1000);
    const spacingMs = this.#spacingMs(steadyRate, nowMs);
    // Earlier times would all be raised to the same second, the minimum.
    const earliestMs = nowMs + Math.max(untilOpenMs, (minSeconds - 1) * 1000);
    const atMs = this.#bookings.next(key, earliestMs);
    // A stall stretches the assigned delay, not the schedule: if it was only a pause of the process, a schedule
    // stretched by minutes would leave workers idle.
    const delay = ((atMs - nowMs) / 1000) * gapFactor;
    const farthest = Math.min(
      maxSeconds,
      Math.max(minSeconds, this.#horizonS(key, situation, gapFactor, steadyRate)),
    );
    if (delay > farthest) {
      const assignedS = this.#spread(farthest);
      this.#bookings.noteKey(key, nowMs + assignedS * 1000);
      return assignedS;
    }

    const jitter = Math.min(BOOKED_JITTER * delay, MAX_BOOKED_JITTER_S) * this.#random();
    const room = tightRoom(refused, situation, steadyRate, 1000 / spacingMs);
    // Adding a random fraction before rounding down fills each second at the rate, even below one per second.
    const seconds =
      room === null
        ? Math.floor(delay + jitter + this.#random())
        : this.#expected.firstWithRoom(
            Math.max(minSeconds, Math.floor(Math.max(untilOpenMs / 1000, delay - MOST_AHEAD_S))),
            nowMs,
            room,
          );
    const assignedS = Math.min(maxSeconds, Math.max(minSeconds, seconds));
    if (habit === 'ignored') return assignedS;
    const assignedMs = nowMs + assignedS * 1000;
    const leastMs = room === null ? earliestMs : Math.max(earliestMs, assignedMs - MOST_AHEAD_S * 1000);
    this.#bookings.add(key, leastMs, spacingMs, assignedMs, refused.spacingMs);
    this.#expect(refused, assignedMs, nowMs);
    shared?.booked(key, id, spacingMs, assignedMs);
    return assignedS;
  }

  /** Expects a retry at the time that was sent to its sender. */
  #expect({ key, id, habit }: Refused, assignedMs: number, nowMs: number): void {
    if (habit === 'ignored') return;
    this.#expected.note(assignedMs, nowMs);
    if (id === undefined) return;
    this.#forget(key, id);
    this.#reservations.add(key, id, assignedMs, nowMs);
  }

  /** The time per retry. Changes smaller than a new pace do not rescale the schedule, or bookings would collide. */
  #spacingMs(steadyRate: number, nowMs: number): number {
    const shared = this.#shared;
    const spacingMs = 1000 / (this.#retryRate(steadyRate) + (shared?.othersRate ?? 0));
    const change = spacingMs / this.#bookedSpacingMs;
    if (change > NEW_PACE || change < 1 / NEW_PACE) {
      if (this.#bookedSpacingMs > 0 && shared?.isSettled(nowMs) !== false) this.#bookings.rescale(change);
      this.#bookedSpacingMs = spacingMs;
    }
    return shared === null ? spacingMs : spacingMs / shared.share(nowMs);
  }

  #retryRate(drainRate: number): number {
    return (drainRate * this.#returning.shareForRetries(drainRate)) / this.#returning.shareKept();
  }

  /** How many seconds ahead a retry may be booked. */
  #horizonS(
    key: string,
    { nowMs, paceAgeS, lateShare }: Situation,
    gapFactor: number,
    steadyRate: number,
  ): number {
    const burstS = this.#returning.burstS(nowMs);
    const isShared = key === DEFAULT_KEY || !this.#bookings.knows(key);
    const ageS = this.#shared === null ? paceAgeS : this.#shared.paceAgeS(paceAgeS);
    const trustedS = Math.min(trustedHorizonS(ageS), isShared ? sharedHorizonS(burstS) : Infinity);
    // However new the pace, no delivery can be admitted before the next completions.
    const horizonS = Math.max(trustedS, overloadHorizonS(burstS * lateShare), COMPLETIONS_AHEAD / steadyRate);
    return horizonS * Math.min(gapFactor, MOST_STRETCH);
  }

  #unknown(): number {
    return Math.ceil(UNKNOWN_FROM_S + (UNKNOWN_TO_S - UNKNOWN_FROM_S) * this.#random());
  }

  #stalled({ gapMs }: Situation, maxSeconds: number): number {
    const least = Math.min(maxSeconds, Math.max(LEAST_STALL_S, gapMs / 1000));
    const seconds = Math.ceil(least * (1 + STALL_SPREAD * this.#random()));
    return seconds > maxSeconds ? this.#spread(maxSeconds) : seconds;
  }

  /** Spreads delays beyond the maximum, which would otherwise all be the same. */
  #spread(maxSeconds: number): number {
    return Math.ceil(maxSeconds * (0.5 + 0.5 * this.#random()));
  }
}
