import { Arrivals } from './returning-share.ts';
import { Bookings } from './bookings.ts';
import { DEFAULT_KEY } from '../delivery/delivery.ts';
import { lookAheadS, relievingS, sharedAheadS } from './booking-horizon.ts';
import { Promises, type BookedReturn } from './reservations.ts';
import type { RefusalReason } from '../delivery/refusal.ts';
import type { RetryAfterHabit } from '../senders/sender-profile.ts';

/** `depth`: how far a delay is stretched at random, so that those who were told the same do not come together. */
const DEPTH_JITTER = 0.2;
/** `booked`: likewise, but each has a second of its own already. */
const BOOKED_JITTER = 0.1;
const MAX_BOOKED_JITTER_S = 2;
/** Told while nothing better is known, in seconds: long enough for a first completion to be seen. */
const UNKNOWN_FROM_S = 3;
const UNKNOWN_TO_S = 7;
/** Told for a key that was switched off by hand: a person has to switch it on again. */
const SHED_S = 60;
const SHED_JITTER = 0.2;
const LEAST_STALL_S = 5;
/** A standstill stretches the look-ahead as well, but who knows nothing new must not look ever further. */
const MOST_STRETCH = 3;
/** So many completions one may look ahead in any case. */
const COMPLETIONS_AHEAD = 2;
/** A pace that differs so much from the one before is a new one. */
const NEW_PACE = 1.3;
/** Those who come while the workers stand still are spread over so many times the length of the stall. */
const STALL_SPREAD = 1.5;

/** The strategies of Retry-After, and its bounds, in seconds. */
export interface RetryAfterSettings {
  readonly strategy: 'booked' | 'depth';
  readonly minSeconds: number;
  readonly maxSeconds: number;
}

/** What the intake looks like when somebody is refused. */
export interface Situation {
  readonly nowMs: number;
  readonly depth: number;
  /** Deliveries; at this depth the door opens again. */
  readonly low: number;
  /** Per second; null while unknown. */
  readonly drainRate: number | null;
  /** The same from a longer time, and not capped while the workers stand still. */
  readonly steadyRate: number | null;
  /** For how many seconds deliveries have been handled at that rate. */
  readonly paceAgeS: number;
  /** The part of the last seconds in which the process was late, from 0 to 1. */
  readonly lateShare: number;
  readonly isStalled: boolean;
  /** Milliseconds without a completion although all workers are busy. */
  readonly gapMs: number;
  /** How many times the longest usual gap that is; at least 1. */
  readonly gapFactor: number;
}

/** Who is refused. */
export interface Refused {
  readonly key: string;
  readonly id: string | undefined;
  readonly maxWaitMs: number | undefined;
  /** How many are handled until its turn, itself counted; undefined: all that wait. */
  readonly turns?: number | undefined;
  /** The least time between two starts of its key, in milliseconds; 0 where its key may have all workers. */
  readonly spacingMs?: number;
  /** How long it would wait for the workers of its key, in milliseconds; 0 likewise. */
  readonly ownWaitMs?: number;
  readonly habit: RetryAfterHabit | 'ignored' | undefined;
}

/**
 * Computes Retry-After, in whole seconds, and never the same for everybody.
 *
 * - `depth`: the time to work off what waits, depth ÷ drain rate, with up to 20 % of upward jitter.
 * - `booked`: each refused delivery gets its own second: the time until the door opens, `max(0, D − LO)/μ`, or
 *   when the bookings made before are over, each of which takes 1/ρ at the rate ρ that is left for returns. So the
 *   retries arrive at the pace at which they can be taken, and not as a wave. A delay above the maximum, or further
 *   ahead than the pace is trusted (see {@link lookAheadS}), books nothing and is spread over the upper half of the
 *   range.
 *
 * While the drain rate is unknown both say 3 to 7 s; while the workers stand still, the length of the stall so far
 * and up to one and a half times as much again.
 */
export class RetryAfter {
  readonly #random: () => number;
  readonly #arrivals = new Arrivals();
  readonly #bookings = new Bookings();
  readonly #promises = new Promises();
  /** At the pace that the schedule was last scaled to. */
  #bookedSpacingMs = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Bookings that are not due yet. */
  get booked(): number {
    return Math.ceil(this.#bookings.total);
  }

  /** Notes a delivery that came to the door. */
  arrive(nowMs: number): void {
    this.#arrivals.note(nowMs);
  }

  /** Notes that deliveries are being shed. */
  shed(nowMs: number): void {
    this.#arrivals.shed(nowMs, this.#bookings.total > 0);
  }

  /** What was booked before a stall is worth nothing after it: those who came back in it were sent away again. */
  recover(): void {
    this.#bookings.clear();
  }

  promiseOf(key: string, { id }: { readonly id?: string | undefined }): BookedReturn | undefined {
    return id === undefined ? undefined : this.#promises.find(key, id);
  }

  /** Its delivery was let in: a promise is used once. */
  redeem(key: string, delivery: { readonly id?: string | undefined }): void {
    this.#promises.forget(this.promiseOf(key, delivery));
  }

  /** Lets bookings come due. To be called before they are looked at, and now and then. */
  advance({ nowMs }: Situation): void {
    this.#arrivals.noteDue(nowMs, this.#bookings.advance(nowMs, 1 / this.#arrivals.shareKept()));
  }

  /** Seconds for a delivery that is refused now, and, with `booked`, its booking. */
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
    // Another process, or a calmer one, will answer: this queue says nothing about it.
    if (reason === 'closing' || reason === 'pressure') return this.#unknown();
    const { drainRate, depth } = situation;
    if (settings.strategy === 'booked') return this.#book(refused, situation, settings);
    if (situation.isStalled) return this.#stalled(situation, settings.maxSeconds);
    if (drainRate === null) return this.#unknown();
    return Math.ceil((depth / drainRate) * (1 + DEPTH_JITTER * this.#random()));
  }

  #book(refused: Refused, situation: Situation, settings: RetryAfterSettings): number {
    const { key, id, habit } = refused;
    const { nowMs, steadyRate, gapFactor } = situation;
    this.advance(situation);
    const promise = this.promiseOf(key, refused);
    if (promise !== undefined && nowMs < promise.dueMs) return Math.ceil((promise.dueMs - nowMs) / 1000);
    const { minSeconds, maxSeconds } = boundsOf(settings, habit);
    if (situation.isStalled) return this.#stalled(situation, maxSeconds);
    if (steadyRate === null) {
      // The longer nothing has completed, the less will be done soon.
      return situation.gapMs > UNKNOWN_FROM_S * 1000 ? this.#stalled(situation, maxSeconds) : this.#unknown();
    }

    const untilOwnMs = (refused.ownWaitMs ?? 0) - (refused.maxWaitMs ?? 0);
    const untilOpenMs = Math.max(untilOwnMs, (untilOpen(refused, situation, steadyRate) / steadyRate) * 1000);
    const spacingMs = this.#spacingMs(steadyRate);
    // What comes due sooner would all be told the same second.
    const earliestMs = nowMs + Math.max(untilOpenMs, (minSeconds - 1) * 1000);
    const atMs = this.#bookings.next(key, earliestMs);
    // A standstill stretches what is told, and not the schedule: after a pause of the process all would be as before,
    // and a schedule that had grown by minutes would keep workers idle.
    const delay = ((atMs - nowMs) / 1000) * gapFactor;
    const farthest = Math.min(maxSeconds, Math.max(minSeconds, this.#farthestS(key, situation, steadyRate)));
    if (delay > farthest) {
      const told = this.#spread(farthest);
      this.#bookings.meet(key, nowMs + told * 1000);
      return told;
    }

    const jitter = Math.min(BOOKED_JITTER * delay, MAX_BOOKED_JITTER_S) * this.#random();
    // A random fraction, and then down: as many go to each second as the rate says, also below one a second.
    const seconds = Math.floor(delay + jitter + this.#random());
    const told = Math.min(maxSeconds, Math.max(minSeconds, seconds));
    if (habit === 'ignored') return told;
    this.#bookings.add(key, earliestMs, spacingMs, nowMs + told * 1000, refused.spacingMs);
    if (id !== undefined) {
      this.#promises.forget(promise);
      this.#promises.add(key, id, nowMs + told * 1000, nowMs);
    }
    return told;
  }

  /** The time of one return. Smaller changes than those of a new pace are left to chance, or bookings would collide. */
  #spacingMs(steadyRate: number): number {
    const spacingMs = 1000 / this.#returnRate(steadyRate);
    const change = spacingMs / this.#bookedSpacingMs;
    if (change > NEW_PACE || change < 1 / NEW_PACE) {
      if (this.#bookedSpacingMs > 0) this.#bookings.rescale(change);
      this.#bookedSpacingMs = spacingMs;
    }
    return spacingMs;
  }

  #returnRate(drainRate: number): number {
    return (drainRate * this.#arrivals.shareOfReturns(drainRate)) / this.#arrivals.shareKept();
  }

  /** How far ahead a second may be booked. */
  #farthestS(key: string, { nowMs, paceAgeS, gapFactor, lateShare }: Situation, steadyRate: number): number {
    const burstS = this.#arrivals.burstS(nowMs);
    const isShared = key === DEFAULT_KEY || !this.#bookings.knows(key);
    const trustedS = Math.min(lookAheadS(paceAgeS), isShared ? sharedAheadS(burstS) : Infinity);
    // Sooner than the next completions nobody can be let in, however young the pace.
    const farthestS = Math.max(trustedS, relievingS(burstS * lateShare), COMPLETIONS_AHEAD / steadyRate);
    return farthestS * Math.min(gapFactor, MOST_STRETCH);
  }

  #unknown(): number {
    return Math.ceil(UNKNOWN_FROM_S + (UNKNOWN_TO_S - UNKNOWN_FROM_S) * this.#random());
  }

  #stalled({ gapMs }: Situation, maxSeconds: number): number {
    const least = Math.min(maxSeconds, Math.max(LEAST_STALL_S, gapMs / 1000));
    const seconds = Math.ceil(least * (1 + STALL_SPREAD * this.#random()));
    return seconds > maxSeconds ? this.#spread(maxSeconds) : seconds;
  }

  /** For what lies beyond the maximum, which would otherwise be the same for everybody. */
  #spread(maxSeconds: number): number {
    return Math.ceil(maxSeconds * (0.5 + 0.5 * this.#random()));
  }
}

/**
 * How many have to be handled until the delivery would be let in: until the depth is at the low-water mark, and until
 * its own turn is so near that its sender waits for it.
 */
function untilOpen({ maxWaitMs, turns }: Refused, { depth, low }: Situation, drainRate: number): number {
  if (maxWaitMs === undefined) return Math.max(0, depth - low);
  const inTime = Math.floor((maxWaitMs / 1000) * drainRate);
  return Math.max(0, depth - low, Math.min(depth, (turns ?? depth + 1) - inTime));
}

function boundsOf(
  { minSeconds, maxSeconds }: RetryAfterSettings,
  habit: Refused['habit'],
): { minSeconds: number; maxSeconds: number } {
  if (habit === undefined || habit === 'ignored') return { minSeconds, maxSeconds };
  const max = Math.max(1, Math.floor(Math.min(maxSeconds, habit.maxSeconds ?? maxSeconds)));
  return {
    minSeconds: Math.min(max, Math.ceil(Math.max(minSeconds, habit.minSeconds ?? 0))),
    maxSeconds: max,
  };
}
