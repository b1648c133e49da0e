import type { InboxState } from '../capacity/inbox-state.ts';
import type { DeliveryRef } from '../delivery/stored-delivery.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

/** The number of different deliveries whose consecutive failures are an outage. */
const OUTAGE_STREAK = 10;
/** The failures of one key that count as evidence that everything fails, so at least five keys must fail. */
const STREAK_PER_KEY = 2;
/** A delivery that has failed more often failed before the outage as well, and is no evidence of one. */
const LATEST_EVIDENCE = 5;
/**
 * A handler that runs until `maxHandlingMs` occupies a worker all that time, so in the streak of its key it counts as much
 * as this many failures.
 */
const OVERDUE_WEIGHT = 4;
/** The most keys that are tracked, and that may be in an outage: senders choose keys. */
const MAX_KEYS = 1000;
/** After this time without due deliveries a failing key is forgotten: it may never have any again. */
const FORGET_MS = 600_000;
/** The share of workers for deliveries of failing keys, so that handlers that hang leave the others free. */
const PROBES_SHARE = 1 / 4;

/** What may be claimed as far as outages allow it. */
export interface Allowance {
  /** 0 or less: nothing. */
  readonly count: number;
  /** The most deliveries of one key in a claim. */
  readonly perKey: number;
  /** Keys of which nothing may be claimed. */
  readonly except: readonly string[];
  /** When more may be claimed without any run having ended, on the monotonic clock; Infinity for never. */
  readonly againAtMs: number;
}

/** A failed attempt that may be evidence of an outage. */
export interface FailedAttempt {
  readonly delivery: DeliveryRef;
  readonly countedAttempts: number;
  readonly error: string;
  /** Whether its handler took longer than `maxHandlingMs`. */
  readonly isOverdue: boolean;
}

/**
 * Detects an outage: not single deliveries fail, but something that their handlers depend on, for all keys or for one. In
 * an outage a single attempt is made now and then, and none counts; when one succeeds, processing resumes.
 */
export class Outages {
  /** How many deliveries of each key this process has claimed. */
  readonly load: Map<string, number> = new Map<string, number>();
  readonly #inbox: InboxState;
  readonly #failing: (key: string | null) => void;
  /** The breaker for all keys together. */
  readonly #all: CircuitBreaker;
  readonly #streak = new FailureStreak(STREAK_PER_KEY);
  /** Keys that were probed in an outage of everything: other keys come first. */
  readonly #probed = new Set<string>();
  /** By keys that have failed since their last success, the key added first at the front. */
  readonly #streaks = new Map<string, FailureStreak>();
  /** By keys that are in an outage or recover from one. */
  readonly #breakers = new Map<string, CircuitBreaker>();
  /** How many handlers may run concurrently. */
  #workers = 1;
  /** Attempts of failing keys that are running. */
  #probes = 0;
  /** With few workers, a long probe is followed by a rest in which other keys have them. */
  #restsUntilMs = -Infinity;

  /** @param failing - called when an outage begins: of a key, or with null of everything. */
  constructor(inbox: InboxState, failing: (key: string | null) => void) {
    this.#inbox = inbox;
    this.#failing = failing;
    this.#all = new CircuitBreaker(inbox.random);
  }

  /** Since when everything fails, on the monotonic clock; undefined while it does not. */
  get failingSinceMs(): number | undefined {
    return this.#all.isFailing ? this.#all.openedAtMs : undefined;
  }

  /** How many keys fail. */
  get failingKeys(): number {
    let count = 0;
    for (const { isFailing } of this.#breakers.values()) if (isFailing) count += 1;
    return count;
  }

  /**
   * @param claimed - deliveries that are claimed.
   * @param workers - how many handlers may run concurrently.
   * @param isIdle - nothing else is due, so a probe takes no worker from another key.
   */
  allow(claimed: number, workers: number, isIdle: boolean): Allowance {
    const nowMs = this.#inbox.now();
    this.#workers = workers;
    if (this.#all.state === 'open') {
      const { probeAtMs } = this.#all;
      const isTime = nowMs >= probeAtMs && claimed < this.#probeRoom;
      // While a probe hangs nothing can change before it ends, and its end triggers a claim.
      const againAtMs = nowMs >= probeAtMs ? Infinity : probeAtMs;
      return { count: isTime ? 1 : 0, perKey: 1, except: isIdle ? [] : [...this.#probed], againAtMs };
    }
    let limit = Infinity;
    let againAtMs = Infinity;
    if (this.#all.state !== 'closed') {
      limit = this.#all.limit(nowMs, workers);
      againAtMs = this.#all.allowsMoreAtMs(nowMs);
    }
    let perKey = Infinity;
    const except: string[] = [];
    for (const [key, breaker] of this.#breakers) {
      const room = this.#roomOf(key, breaker, isIdle, nowMs);
      if (room > 0) perKey = Math.min(perKey, room);
      else {
        except.push(key);
        againAtMs = Math.min(againAtMs, breaker.allowsMoreAtMs(nowMs));
      }
    }
    return { count: limit - claimed, perKey, except, againAtMs };
  }

  /** A claim with this allowance returned fewer deliveries than allowed. Returns whether to claim again. */
  cameShort({ except }: Allowance, isIdle: boolean): boolean {
    if (this.#all.state === 'open') {
      // Every key with due deliveries has been probed; a new round begins.
      const hadProbes = this.#probed.size > 0;
      this.#probed.clear();
      return hadProbes && except.length > 0;
    }
    return !isIdle && except.length > 0 && this.#inbox.now() < this.#restsUntilMs;
  }

  /** A delivery has been claimed. */
  claimed(key: string): void {
    this.load.set(key, (this.load.get(key) ?? 0) + 1);
  }

  /** An attempt begins. Returns whether it is a probe of a failing key. */
  began(key: string): boolean {
    const nowMs = this.#inbox.now();
    if (this.#all.state === 'open') {
      this.#all.probed(nowMs);
      if (this.#probed.size >= MAX_KEYS) this.#probed.clear();
      this.#probed.add(key);
    }
    const breaker = this.#breakers.get(key);
    if (breaker?.isFailing !== true) return false;
    if (breaker.state === 'open') breaker.probed(nowMs);
    breaker.offeredAtMs = undefined;
    this.#probes += 1;
    return true;
  }

  /** A claim has ended, in whatever way. */
  ended(key: string, isProbe: boolean, startedAtMs: number): void {
    const left = (this.load.get(key) ?? 0) - 1;
    if (left > 0) this.load.set(key, left);
    else this.load.delete(key);
    if (!isProbe) return;
    this.#probes -= 1;
    const nowMs = this.#inbox.now();
    const share = this.#probeRoom / this.#workers;
    if (share > PROBES_SHARE) this.#restsUntilMs = nowMs + (nowMs - startedAtMs) * (share / PROBES_SHARE - 1);
  }

  succeeded(key: string): void {
    const nowMs = this.#inbox.now();
    if (this.#streak.length > 0) this.#streak.clear();
    if (this.#all.state !== 'closed' && this.#all.succeeded(nowMs)) {
      this.#probed.clear();
      this.#inbox.report.emit({ type: 'restored', key: null });
    }
    this.#streaks.delete(key);
    if (this.#breakers.get(key)?.succeeded(nowMs) === true)
      this.#inbox.report.emit({ type: 'restored', key });
  }

  /** An attempt has failed for a reason that concerns its delivery alone. */
  wasInconclusive(key: string): void {
    const nowMs = this.#inbox.now();
    this.#all.wasInconclusive(nowMs);
    this.#breakers.get(key)?.wasInconclusive(nowMs);
  }

  /** Returns the delay until the retry if the attempt does not count, else undefined. */
  failed(failure: FailedAttempt): number | undefined {
    const { delivery, countedAttempts, error } = failure;
    const { report, now } = this.#inbox;
    const nowMs = now();
    const isEvidence = countedAttempts <= LATEST_EVIDENCE;
    const ofKey = this.#failedInKey(failure, isEvidence && this.#all.state !== 'open', nowMs);
    if (this.#all.failed(nowMs)) report.emit({ type: 'outage', key: null, error, isCounting: true });
    // A failing key is no evidence about the others.
    if (isEvidence && (ofKey === undefined || ofKey.state === 'ramp')) this.#streak.add(delivery);
    const mayOpen = this.#all.state === 'closed' || this.#all.state === 'ramp';
    if (mayOpen && this.#streak.length >= OUTAGE_STREAK) {
      this.#streak.clear();
      this.#open(this.#all, null, error, nowMs);
    }
    if (this.#all.state === 'open') return this.#all.delayMs;
    const breaker = this.#breakers.get(delivery.key);
    return breaker?.state === 'open' ? breaker.delayMs : undefined;
  }

  /**
   * An attempt has failed. Returns the breaker of its key.
   *
   * @param isEvidence - whether the failure may begin an outage of the key.
   */
  #failedInKey(
    { delivery, error, isOverdue }: FailedAttempt,
    isEvidence: boolean,
    nowMs: number,
  ): CircuitBreaker | undefined {
    const { key } = delivery;
    const breaker = this.#breakers.get(key);
    if (breaker?.failed(nowMs) === true)
      this.#inbox.report.emit({ type: 'outage', key, error, isCounting: true });
    if (!isEvidence || breaker?.isFailing === true) return breaker;
    let streak = this.#streaks.get(key);
    if (streak === undefined) {
      streak = new FailureStreak(OUTAGE_STREAK);
      if (this.#streaks.size >= MAX_KEYS) this.#streaks.delete(this.#streaks.keys().next().value as string);
      this.#streaks.set(key, streak);
    }
    streak.add(delivery, isOverdue ? OVERDUE_WEIGHT : 1);
    if (streak.length < OUTAGE_STREAK) return breaker;
    if (breaker === undefined && this.#breakers.size >= MAX_KEYS) return undefined;
    const opening = breaker ?? new CircuitBreaker(this.#inbox.random);
    this.#breakers.set(key, opening);
    this.#streaks.delete(key);
    this.#open(opening, key, error, nowMs);
    return opening;
  }

  #open(breaker: CircuitBreaker, key: string | null, error: string, nowMs: number): void {
    const { report } = this.#inbox;
    breaker.open(nowMs);
    report.totals.outages += 1;
    report.emit({ type: 'outage', key, error, isCounting: false });
    this.#failing(key);
  }

  /** How many attempts of failing keys may run concurrently. */
  get #probeRoom(): number {
    return Math.max(1, Math.floor(this.#workers * PROBES_SHARE));
  }

  #roomOf(key: string, breaker: CircuitBreaker, isIdle: boolean, nowMs: number): number {
    const claimed = this.load.get(key) ?? 0;
    if (!breaker.isFailing) {
      const limit = breaker.limit(nowMs, this.#workers);
      if (limit === Infinity) this.#breakers.delete(key);
      return limit - claimed;
    }
    if (this.#probes >= this.#probeRoom || (!isIdle && nowMs < this.#restsUntilMs)) return 0;
    // If only this key fails, a second probe may run while the first one hangs.
    const most = this.#breakers.size === 1 ? this.#probeRoom : 1;
    const isDue = nowMs >= breaker.probeAtMs && claimed < most;
    if (breaker.state === 'open' && !isDue) return 0;
    breaker.offeredAtMs ??= nowMs;
    if (claimed === 0 && nowMs - breaker.offeredAtMs > FORGET_MS) {
      this.#breakers.delete(key);
      this.#inbox.report.emit({ type: 'restored', key });
    }
    return 1;
  }
}

/**
 * Consecutive failures, as evidence that not the deliveries are at fault: each delivery counts once, and each key at most
 * a few times.
 */
class FailureStreak {
  length = 0;
  readonly #seen = new Map<string, Set<string>>();
  readonly #mostPerKey: number;

  constructor(mostPerKey: number) {
    this.#mostPerKey = mostPerKey;
  }

  /** @param weight - how many failures it counts for. */
  add({ key, id }: DeliveryRef, weight = 1): void {
    const ids = this.#seen.get(key) ?? new Set<string>();
    this.#seen.set(key, ids);
    if (ids.size >= this.#mostPerKey || ids.has(id)) return;
    ids.add(id);
    this.length += weight;
  }

  clear(): void {
    this.#seen.clear();
    this.length = 0;
  }
}
