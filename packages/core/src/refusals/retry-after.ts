import { Generations, type Heaped, MinHeap } from '@webhook-backpressure/base';
import type { RetryAfterHabit } from '@webhook-backpressure/senders';
import type { RefusalReason } from '../delivery/refusal.ts';
import { BookedSeconds } from './booked-seconds.ts';
import { FirstAttempts } from './first-attempts.ts';
import { Promises } from './promises.ts';
import type { Arrival } from '../delivery/arrival.ts';
import type { FleetRates, Refused, RetryAfterSettings, Situation } from './situation.ts';

/** The maximum of accounts. The line remembers at least as many keys, and at most twice as many. */
const MAX_KEYS = 1000;
/** A rate that differs by this factor from the one that was booked with is a new pace. */
const NEW_PACE = 1.3;
/** The horizon: 10 s and 4 s for each second that the pace has lasted, or its square ÷ 10, at most 10 times it. */
const HORIZON_S = 10;
const HORIZON_PER_S = 4;
const MAX_HORIZON_PER_S = 10;
/** And at least 10 s and this many times the age of the burst × the share of late time: refusals take CPU, too. */
const HORIZON_PER_LATE_S = 3;
/** During a long gap between completions the horizon grows up to this many times. */
const MAX_STRETCH = 3;
/** The random stretch of the time to drain the queue, and of a booked delay, at most 2 s. */
const DEPTH_JITTER = 0.2;
const BOOKED_JITTER = 0.1;
const MAX_JITTER_S = 2;

/** The bookings of a key, and when they end, in milliseconds of the intake's clock. */
interface Account extends Heaped {
  readonly key: string;
  until: number;
}

/**
 * Retry-After, in whole seconds. With the strategy `booked`, each refused delivery gets its own slot:
 *
 *     slot  = max(now + open, end of the bookings of its key)
 *     open  = max(depth − low-water mark, excess) ÷ μ       when shedding ends, and its wait is short enough
 *     then:   end of the bookings of its key = slot + accounts ÷ ρ
 *     ρ     = μ − first attempts per second                 the drain rate that is left for retries, at least μ ÷ 4
 *     Retry-After = slot − now, plus up to 10 % (at most 2 s) of jitter, rounded at random
 *
 * So retries arrive at the rate at which they can be accepted. A slot cannot be revoked, so a pace is trusted only for some
 * time ahead, the horizon (see `horizonS`). A slot beyond the horizon or the maximum is not booked: its delivery gets a
 * random time between half of that and all of it. A retry that is too early costs one more refusal; one that is too late
 * leaves workers idle.
 *
 * Keys with several bookings have an account each and share ρ equally, so that the flood of one key does not postpone the
 * retries of another. The first bookings of all keys follow one another in one line, so that a burst of thousands of keys
 * is spread like a burst of one.
 *
 * With `depth`, Retry-After is depth ÷ the rate of the last seconds, plus up to 20 %. While μ is unknown both are above 3 s
 * and up to 7 s, and during a stall 1 to 2.5 times its length so far, at least 5 s.
 */
export class RetryAfterSeconds {
  readonly arrivals: FirstAttempts = new FirstAttempts();
  readonly seconds: BookedSeconds = new BookedSeconds();
  readonly promises: Promises = new Promises();
  /** Null unless the receiver is in a fleet. */
  fleet: FleetRates | null = null;
  readonly #random: () => number;
  readonly #accounts = new Map<string, Account>();
  readonly #byEnd = new MinHeap<Account>((a, b) => a.until < b.until);
  /** The end of the line. */
  #lineUntil = -Infinity;
  /** When each of its last keys may book again. */
  readonly #joined = new Generations<number>(MAX_KEYS);
  /** The time per retry at the last change of pace. */
  #paceMs = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** The Retry-After of a delivery refused now, which is booked if it has a slot. */
  of(reason: RefusalReason, refused: Refused, situation: Situation, settings: RetryAfterSettings): number {
    const bounds = boundsOf(settings, refused.arrival.delivery.profile?.retryAfter);
    this.promises.missed(refused.arrival);
    return within(this.#decide(reason, refused, situation, bounds), bounds);
  }

  /** Notes that deliveries are shed. While booked retries are outstanding, this is the same burst. */
  shed(nowMs: number, isOwn = true): void {
    this.arrivals.shed(nowMs, this.seconds.total > 0, isOwn);
  }

  /** The rate that is left for retries, per second. */
  retryRate(drainRate: number): number {
    return drainRate * this.arrivals.shareForRetries(drainRate);
  }

  /** How far the bookings of each account extend ahead of now, in milliseconds; null is the line. */
  *ends(nowMs: number): IterableIterator<readonly [key: string | null, aheadMs: number]> {
    for (const { key, until } of this.#accounts.values()) yield [key, Math.max(0, until - nowMs)];
    yield [null, Math.max(0, this.#lineUntil - nowMs)];
  }

  /** Sets the end of the bookings of a key, or of the line for null, to include those of other receivers. */
  moveEnd(key: string | null, aheadMs: number, nowMs: number): void {
    const account = key === null ? undefined : (this.#accounts.get(key) ?? this.#open(key, nowMs));
    if (key === null) this.#lineUntil = nowMs + aheadMs;
    else if (account !== undefined) this.#move(account, nowMs + aheadMs);
  }

  #decide(reason: RefusalReason, refused: Refused, alone: Situation, bounds: RetryAfterSettings): number {
    const { strategy } = bounds;
    // A person has to switch the key on again.
    if (reason === 'shed') return this.#between(60, 72);
    // The retry will reach another process, or this one under less load: the queue says nothing about that.
    if (reason === 'closing' || reason === 'pressure') return this.#between(3, 7);
    const situation = this.fleet === null ? alone : this.fleet.complete(alone);
    const { nowMs, depth, drainRate, presentRate, isStalled, gapMs } = situation;
    const promisedMs = this.promises.dueMs(refused.arrival) ?? 0;
    if (strategy === 'booked' && nowMs < promisedMs) return Math.ceil((promisedMs - nowMs) / 1000);
    // The longer nothing has completed, the less is likely to complete soon.
    if (isStalled || (drainRate === null && gapMs > 3000)) return this.#stalled(gapMs / 1000, bounds);
    if (drainRate === null || presentRate === null) {
      const seconds = within(this.#between(3, 7), bounds);
      if (strategy === 'booked') this.#promise(refused.arrival, seconds);
      return seconds;
    }
    if (strategy === 'booked') return this.#book(refused, situation, drainRate, bounds);
    return Math.ceil((depth / presentRate) * (1 + DEPTH_JITTER * this.#random()));
  }

  #book(refused: Refused, situation: Situation, drainRate: number, bounds: RetryAfterSettings): number {
    const { arrival, excess = 0, excessMs = 0, spacingMs: leastMs = 0 } = refused;
    const { key } = arrival;
    const { nowMs, depth, low, gapFactor, paceAgeS, lateShare } = situation;
    const openMs = Math.max(excessMs, (Math.max(0, excess, depth - low) / drainRate) * 1000);
    const spacingMs = this.#spacing(drainRate, nowMs);
    // Earlier slots would all become the minimum.
    const earliestMs = nowMs + Math.max(openMs, (bounds.minSeconds - 1) * 1000);
    const slotMs = this.#slot(key, earliestMs, nowMs);
    // A long gap delays this retry, and not the bookings: after a pause of the process, bookings that are minutes apart
    // would leave workers idle.
    const delay = ((slotMs - nowMs) / 1000) * gapFactor;
    const lateS = this.arrivals.burstS(nowMs) * lateShare;
    // However new the pace, no delivery can be admitted before the next completions.
    const trustedS = Math.max(horizonS(paceAgeS, lateS), 2 / drainRate);
    const farthest = within(trustedS * Math.min(gapFactor, MAX_STRETCH), bounds);
    if (delay > farthest) return this.#between(farthest / 2, farthest);
    const jitter = Math.min(BOOKED_JITTER * delay, MAX_JITTER_S) * this.#random();
    // A random fraction before rounding down fills each second at the rate, even below one per second.
    const seconds = within(Math.floor(delay + jitter + this.#random()), bounds);
    if (arrival.delivery.profile?.retryAfter === 'ignored') return seconds;
    this.#add(key, slotMs, earliestMs, spacingMs, leastMs);
    this.seconds.add(nowMs + seconds * 1000);
    this.#promise(arrival, seconds);
    this.fleet?.booked(key, spacingMs);
    return seconds;
  }

  /** The time per retry, of all keys together. A new pace stretches or compresses the bookings that are ahead. */
  #spacing(drainRate: number, nowMs: number): number {
    const { fleet } = this;
    const spacingMs = 1000 / (this.retryRate(drainRate) + (fleet?.othersRate ?? 0));
    const change = spacingMs / this.#paceMs;
    // A smaller change is chance, and new slots would collide with booked ones.
    if (change > NEW_PACE || change < 1 / NEW_PACE) {
      if (this.#paceMs > 0 && fleet?.isSettled(nowMs) !== false) this.#rescale(change, nowMs);
      this.#paceMs = spacingMs;
    }
    return fleet === null ? spacingMs : spacingMs / fleet.share(nowMs);
  }

  #rescale(factor: number, nowMs: number): void {
    const rescaled = (until: number): number => nowMs + (until - nowMs) * factor;
    // The order of the heap stays.
    for (const account of this.#accounts.values()) account.until = rescaled(account.until);
    this.#lineUntil = rescaled(this.#lineUntil);
  }

  #slot(key: string, earliestMs: number, nowMs: number): number {
    for (let first = this.#byEnd.top; first !== undefined && first.until <= nowMs; first = this.#byEnd.top) {
      this.#byEnd.pop();
      this.#accounts.delete(first.key);
    }
    return Math.max(earliestMs, this.#accounts.get(key)?.until ?? this.#joined.get(key) ?? this.#lineUntil);
  }

  #add(key: string, slotMs: number, earliestMs: number, spacingMs: number, leastMs: number): void {
    const hasJoined = this.#joined.get(key) !== undefined;
    const account = this.#accounts.get(key) ?? (hasJoined ? this.#open(key, slotMs) : undefined);
    if (account !== undefined) {
      this.#move(account, slotMs + Math.max(leastMs, spacingMs * this.#accounts.size));
      return;
    }
    this.#lineUntil = slotMs + spacingMs;
    // Its second booking comes one length of the line after its first: other keys may have joined for the first time.
    const before = Math.min(MAX_KEYS * spacingMs, this.#lineUntil - earliestMs);
    this.#joined.set(key, slotMs + Math.max(leastMs, before));
  }

  #open(key: string, nowMs: number): Account | undefined {
    if (this.#accounts.size >= MAX_KEYS) return undefined;
    this.#joined.delete(key);
    const account = { key, until: nowMs, heapIndex: 0 };
    this.#accounts.set(key, account);
    this.#byEnd.push(account);
    return account;
  }

  #move(account: Account, until: number): void {
    this.#byEnd.remove(account);
    account.until = until;
    this.#byEnd.push(account);
  }

  #promise(arrival: Arrival, seconds: number): void {
    if (arrival.delivery.profile?.retryAfter === 'ignored') return;
    this.promises.add(arrival, arrival.nowMs + seconds * 1000);
  }

  #stalled(gapS: number, { maxSeconds: most }: RetryAfterSettings): number {
    const seconds = Math.ceil(Math.max(5, gapS) * (1 + 1.5 * this.#random()));
    return seconds > most ? this.#between(most / 2, most) : seconds;
  }

  #between(from: number, to: number): number {
    return Math.ceil(from + (to - from) * this.#random());
  }
}

/** How many seconds ahead a retry may be booked at a pace that has lasted for `paceAgeS` seconds. */
function horizonS(paceAgeS: number, lateS: number): number {
  const linear = HORIZON_S + Math.max(HORIZON_PER_S * paceAgeS, HORIZON_PER_LATE_S * lateS);
  return Math.max(linear, paceAgeS * Math.min(MAX_HORIZON_PER_S, paceAgeS / 10));
}

/** The bounds of the options, and of the seconds that the sender honors. */
function boundsOf(
  settings: RetryAfterSettings,
  habit: RetryAfterHabit | 'ignored' | undefined,
): RetryAfterSettings {
  if (habit === undefined || habit === 'ignored') return settings;
  const { strategy, minSeconds, maxSeconds } = settings;
  const most = Math.max(1, Math.floor(Math.min(maxSeconds, habit.maxSeconds ?? maxSeconds)));
  const least = Math.min(most, Math.ceil(Math.max(minSeconds, habit.minSeconds ?? 0)));
  return { strategy, minSeconds: least, maxSeconds: most };
}

function within(seconds: number, { minSeconds, maxSeconds }: RetryAfterSettings): number {
  return Math.min(maxSeconds, Math.max(minSeconds, seconds));
}
