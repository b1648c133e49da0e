import type { DeliveryRef } from '../delivery/stored-delivery.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import { FailureStreak, OUTAGE_STREAK } from './failure-streak.ts';
import { KeyOutages, type FailedAttempt, type KeyAllowance, type KeyOutageParts } from './key-outages.ts';

/** The failures of one key that count as evidence that everything fails, so at least five keys must fail. */
const STREAK_PER_KEY = 2;
/** A delivery that has failed more often failed before the outage as well, and is no evidence of one. */
const LATEST_EVIDENCE = 5;
/** The most keys that are remembered as probed. */
const MAX_PROBED = 1000;

/** What may be claimed as far as outages allow it. */
export interface Allowance extends KeyAllowance {
  readonly count: number;
}

/**
 * Detects an outage: not single deliveries fail, but something that their handlers depend on, for all keys or for one. In
 * an outage a single attempt is made now and then, and none counts; when one succeeds, processing resumes.
 */
export class Outages {
  readonly #parts: KeyOutageParts;
  readonly #keys: KeyOutages;
  /** The breaker for all keys together. */
  readonly #all: CircuitBreaker;
  readonly #streak = new FailureStreak(STREAK_PER_KEY);
  /** Keys that were probed in an outage of everything: other keys come first. */
  readonly #probed = new Set<string>();

  constructor(parts: KeyOutageParts) {
    this.#parts = parts;
    this.#keys = new KeyOutages(parts);
    this.#all = new CircuitBreaker(parts.random);
  }

  /** Since when everything fails, on the monotonic clock; undefined while it does not. */
  get failingSinceMs(): number | undefined {
    return this.#all.isFailing ? this.#all.openedAtMs : undefined;
  }

  /** How many keys fail. */
  get failingKeys(): number {
    return this.#keys.failing;
  }

  /**
   * @param claimed - deliveries that are claimed.
   * @param workers - how many handlers may run concurrently.
   * @param isIdle - nothing else is due, so a probe takes no worker from another key.
   */
  allow(claimed: number, workers: number, isIdle: boolean): Allowance {
    const nowMs = this.#parts.now();
    this.#keys.workers = workers;
    if (this.#all.state === 'open') return this.#allowProbe(claimed, isIdle, nowMs);
    const limit = this.#all.limit(nowMs, workers);
    const { perKey, except, againAtMs } = this.#keys.allow(isIdle, nowMs);
    const rampEndsMs = limit === Infinity ? Infinity : this.#all.rampEndsMs;
    return { count: limit - claimed, perKey, except, againAtMs: Math.min(againAtMs, rampEndsMs) };
  }

  /** A claim with this allowance returned fewer deliveries than allowed. Returns whether to claim again. */
  cameShort({ except }: Allowance, isIdle: boolean): boolean {
    if (this.#all.state === 'open') {
      // Every key with due deliveries has been probed; a new round begins.
      const hadProbes = this.#probed.size > 0;
      this.#probed.clear();
      return hadProbes && except.length > 0;
    }
    return !isIdle && except.length > 0 && this.#keys.isResting(this.#parts.now());
  }

  /** An attempt begins. Returns whether it is a probe of a failing key. */
  began(key: string): boolean {
    const nowMs = this.#parts.now();
    if (this.#all.state === 'open') {
      this.#all.probed(nowMs);
      if (this.#probed.size >= MAX_PROBED) this.#probed.clear();
      this.#probed.add(key);
    }
    return this.#keys.began(key, nowMs);
  }

  /** A probe of a failing key has ended, in whatever way. */
  probeEnded(tookMs: number): void {
    this.#keys.probeEnded(tookMs, this.#parts.now());
  }

  succeeded({ key }: DeliveryRef): void {
    const nowMs = this.#parts.now();
    this.#streak.clear();
    if (this.#all.succeeded(nowMs)) {
      this.#probed.clear();
      this.#parts.report.emit({ type: 'restored', key: null });
    }
    this.#keys.succeeded(key, nowMs);
  }

  /** An attempt has failed for a reason that concerns its delivery alone. */
  wasInconclusive({ key }: DeliveryRef): void {
    const nowMs = this.#parts.now();
    this.#all.wasInconclusive(nowMs);
    this.#keys.breakerOf(key)?.wasInconclusive(nowMs);
  }

  /** Returns the delay until the retry if the attempt does not count, else undefined. */
  failed(failure: FailedAttempt): number | undefined {
    const { delivery, countedAttempts, error } = failure;
    const { report, failing } = this.#parts;
    const nowMs = this.#parts.now();
    const isEvidence = countedAttempts <= LATEST_EVIDENCE;
    const ofKey = this.#keys.failed(failure, isEvidence && this.#all.state !== 'open', nowMs);
    if (this.#all.failed(nowMs)) report.emit({ type: 'outage', key: null, error, isCounting: true });
    // A failing key is no evidence about the others.
    if (isEvidence && (ofKey === undefined || ofKey.state === 'ramp')) this.#streak.add(delivery);
    const mayOpen = this.#all.state === 'closed' || this.#all.state === 'ramp';
    if (mayOpen && this.#streak.length >= OUTAGE_STREAK) {
      this.#all.open(nowMs);
      this.#streak.clear();
      report.totals.outages += 1;
      report.emit({ type: 'outage', key: null, error, isCounting: false });
      failing(null);
    }
    if (this.#all.state === 'open') return this.#all.delayMs;
    const breaker = this.#keys.breakerOf(delivery.key);
    return breaker?.state === 'open' ? breaker.delayMs : undefined;
  }

  #allowProbe(claimed: number, isIdle: boolean, nowMs: number): Allowance {
    const { probeAtMs } = this.#all;
    const isTime = nowMs >= probeAtMs && claimed < this.#keys.probeRoom;
    // While a probe hangs nothing can change before it ends, and its end triggers a claim.
    const againAtMs = nowMs >= probeAtMs ? Infinity : probeAtMs;
    return { count: isTime ? 1 : 0, perKey: 1, except: isIdle ? [] : [...this.#probed], againAtMs };
  }
}
