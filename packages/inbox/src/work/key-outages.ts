import type { DeliveryRef } from '../delivery/stored-delivery.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { FailureStreak, OUTAGE_STREAK } from './failure-streak.ts';
import type { KeyLoad } from './key-load.ts';

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

/** A failed attempt that may be evidence of an outage. */
export interface FailedAttempt {
  readonly delivery: DeliveryRef;
  readonly countedAttempts: number;
  readonly error: string;
  /** Whether its handler took longer than `maxHandlingMs`. */
  readonly isOverdue: boolean;
}

export interface KeyOutageParts {
  readonly now: () => number;
  readonly random: () => number;
  readonly report: InboxReport;
  readonly load: KeyLoad;
  /** Called when an outage begins: of a key, or with null of everything. */
  readonly failing: (key: string | null) => void;
}

/** What may be claimed as far as the keys allow it. */
export interface KeyAllowance {
  /** The most deliveries of one key in a claim. */
  readonly perKey: number;
  /** Keys of which nothing may be claimed. */
  readonly except: readonly string[];
  /** When more may be claimed, on the monotonic clock. */
  readonly againAtMs: number;
}

/** Detects outages of single keys, and limits the attempts of failing keys to probes. */
export class KeyOutages {
  /** How many handlers may run concurrently. */
  workers = 1;
  readonly #parts: KeyOutageParts;
  /** By keys that have failed since their last success, the key added first at the front. */
  readonly #streaks = new Map<string, FailureStreak>();
  /** By keys that are in an outage or recover from one. */
  readonly #breakers = new Map<string, CircuitBreaker>();
  /** Attempts of failing keys that are running. */
  #probes = 0;
  /** With few workers, a long probe is followed by a rest in which other keys have them. */
  #restsUntilMs = -Infinity;

  constructor(parts: KeyOutageParts) {
    this.#parts = parts;
  }

  /** How many keys fail. */
  get failing(): number {
    let count = 0;
    for (const { isFailing } of this.#breakers.values()) if (isFailing) count += 1;
    return count;
  }

  /** How many attempts of failing keys may run concurrently. */
  get probeRoom(): number {
    return Math.max(1, Math.floor(this.workers * PROBES_SHARE));
  }

  /** Whether failing keys wait after a long probe. */
  isResting(nowMs: number): boolean {
    return nowMs < this.#restsUntilMs;
  }

  breakerOf(key: string): CircuitBreaker | undefined {
    return this.#breakers.get(key);
  }

  /** @param isIdle - nothing else is due, so a probe takes no worker from another key. */
  allow(isIdle: boolean, nowMs: number): KeyAllowance {
    const except: string[] = [];
    let perKey = Infinity;
    let againAtMs = Infinity;
    for (const [key, breaker] of this.#breakers) {
      const room = this.#roomOf(key, breaker, isIdle, nowMs);
      if (room > 0) perKey = Math.min(perKey, room);
      else {
        except.push(key);
        againAtMs = Math.min(againAtMs, breaker.allowsMoreAtMs(nowMs));
      }
    }
    return { perKey, except, againAtMs };
  }

  /** An attempt begins. Returns whether it is a probe of a failing key. */
  began(key: string, nowMs: number): boolean {
    const breaker = this.#breakers.get(key);
    if (breaker?.isFailing !== true) return false;
    if (breaker.state === 'open') breaker.probed(nowMs);
    breaker.offeredAtMs = undefined;
    this.#probes += 1;
    return true;
  }

  /** A probe of a failing key has ended, in whatever way. */
  probeEnded(tookMs: number, nowMs: number): void {
    this.#probes -= 1;
    const share = this.probeRoom / this.workers;
    if (share > PROBES_SHARE) this.#restsUntilMs = nowMs + tookMs * (share / PROBES_SHARE - 1);
  }

  succeeded(key: string, nowMs: number): void {
    this.#streaks.delete(key);
    if (this.#breakers.get(key)?.succeeded(nowMs) === true)
      this.#parts.report.emit({ type: 'restored', key });
  }

  /**
   * An attempt has failed. Returns the breaker of its key.
   *
   * @param isEvidence - whether the failure may begin an outage of the key.
   */
  failed(
    { delivery, error, isOverdue }: FailedAttempt,
    isEvidence: boolean,
    nowMs: number,
  ): CircuitBreaker | undefined {
    const { key } = delivery;
    const { report, failing } = this.#parts;
    const breaker = this.#breakers.get(key);
    if (breaker?.failed(nowMs) === true) report.emit({ type: 'outage', key, error, isCounting: true });
    if (!isEvidence || breaker?.isFailing === true) return breaker;
    const streak = this.#streakOf(key);
    streak.add(delivery, isOverdue ? OVERDUE_WEIGHT : 1);
    if (streak.length < OUTAGE_STREAK) return breaker;
    const opening = breaker ?? this.#newBreaker(key);
    if (opening === undefined) return undefined;
    this.#streaks.delete(key);
    opening.open(nowMs);
    report.totals.outages += 1;
    report.emit({ type: 'outage', key, error, isCounting: false });
    failing(key);
    return opening;
  }

  #streakOf(key: string): FailureStreak {
    let streak = this.#streaks.get(key);
    if (streak === undefined) {
      streak = new FailureStreak(OUTAGE_STREAK);
      if (this.#streaks.size >= MAX_KEYS) this.#streaks.delete(this.#streaks.keys().next().value as string);
      this.#streaks.set(key, streak);
    }
    return streak;
  }

  #newBreaker(key: string): CircuitBreaker | undefined {
    if (this.#breakers.size >= MAX_KEYS) return undefined;
    const breaker = new CircuitBreaker(this.#parts.random);
    this.#breakers.set(key, breaker);
    return breaker;
  }

  #roomOf(key: string, breaker: CircuitBreaker, isIdle: boolean, nowMs: number): number {
    const { load, report } = this.#parts;
    if (!breaker.isFailing) {
      const limit = breaker.limit(nowMs, this.workers);
      if (limit === Infinity) this.#breakers.delete(key);
      return limit - load.of(key);
    }
    if (this.#probes >= this.probeRoom || (!isIdle && this.isResting(nowMs))) return 0;
    // If only this key fails, a second probe may run while the first one hangs.
    const most = this.#breakers.size === 1 ? this.probeRoom : 1;
    const isDue = nowMs >= breaker.probeAtMs && load.of(key) < most;
    if (breaker.state === 'open' && !isDue) return 0;
    breaker.offeredAtMs ??= nowMs;
    if (load.of(key) === 0 && nowMs - breaker.offeredAtMs > FORGET_MS) {
      this.#breakers.delete(key);
      report.emit({ type: 'restored', key });
    }
    return 1;
  }
}
