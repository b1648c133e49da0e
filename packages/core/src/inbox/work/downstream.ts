import { Breaker } from './breaker.ts';
import type { InboxReport } from '../report/inbox-report.ts';
import type { DeliveryRef } from '../delivery/stored-delivery.ts';
import type { KeyLoad } from './key-load.ts';
import { Streak } from './streak.ts';

/** So many different deliveries that fail in a row are no coincidence. */
const EVIDENCE = 10;
/** Of them, so many of one key count as evidence that everything fails: so it takes failures of five keys. */
const EVIDENCE_PER_KEY = 2;
/** A handler that hangs until `maxHandlingMs` has kept a worker from others all that time: of a key it counts for so many. */
const OVERDUE_WEIGHT = 4;
/** A delivery that has failed so often has failed before an outage as well, and is no evidence of one. */
const LATEST_EVIDENCE = 5;
/** So many keys are watched, and so many may be in an outage: keys come from senders. */
const MAX_KEYS = 1000;
/** A key of which nothing has been due for so long is forgotten: it may never have anything again. */
const FORGET_MS = 600_000;
/** The part of the workers that deliveries of failing keys may have, so that a handler that hangs leaves the others theirs. */
const PROBES_SHARE = 1 / 4;

/** What the outages are decided with. */
export interface DownstreamParts {
  readonly now: () => number;
  readonly random: () => number;
  readonly report: InboxReport;
  readonly load: KeyLoad;
  /** An outage has begun; of a key, or with null of everything. */
  readonly failing: (key: string | null) => void;
}

/** An attempt that has failed, and not because of its delivery alone. */
export interface FailedAttempt {
  readonly delivery: DeliveryRef;
  readonly countedAttempts: number;
  readonly error: string;
  /** Its handler took longer than `maxHandlingMs`. */
  readonly isOverdue: boolean;
}

/** What may be claimed as far as the downstream goes. */
export interface Allowance {
  /** Deliveries. */
  readonly count: number;
  /** So many of a claim may be of one key. */
  readonly perKey: number;
  /** Keys of which none may be claimed. */
  readonly except: readonly string[];
  /** When it may be more, on the monotonic clock. */
  readonly againAtMs: number;
}

/**
 * Notices when it is not the deliveries that fail but what their handlers depend on, for all keys or for one: then one
 * attempt is made now and then, none counts, and when one succeeds everything goes on.
 */
export class Downstream {
  readonly #parts: DownstreamParts;
  readonly #all: Breaker;
  readonly #streak = new Streak(EVIDENCE_PER_KEY);
  /** Of keys that have failed since they last succeeded, the one that was added first in front. */
  readonly #streaks = new Map<string, Streak>();
  /** Of keys that are in an outage, or have just been. */
  readonly #keys = new Map<string, Breaker>();
  /** Keys that were probed in an outage of everything: others come before them. */
  readonly #probed = new Set<string>();
  /** Attempts that are made of failing keys. */
  #probes = 0;
  /** How many handlers may run side by side, as of the last question. */
  #workers = 1;
  /** With few workers, a probe that took long is followed by a time in which others have them. */
  #restsUntilMs = -Infinity;

  constructor(parts: DownstreamParts) {
    this.#parts = parts;
    this.#all = new Breaker(parts.random);
  }

  /** Since when everything fails, on the monotonic clock; undefined while it does not. */
  get failingSinceMs(): number | undefined {
    return isFailing(this.#all) ? this.#all.openedAtMs : undefined;
  }

  /** How many keys fail. */
  get failingKeys(): number {
    let count = 0;
    for (const breaker of this.#keys.values()) if (isFailing(breaker)) count += 1;
    return count;
  }

  /**
   * @param inHand - deliveries that are claimed.
   * @param workers - how many handlers may run side by side.
   * @param isIdle - nothing else is due: a probe takes no worker from anybody.
   */
  allow(inHand: number, workers: number, isIdle: boolean): Allowance {
    const nowMs = this.#parts.now();
    this.#workers = workers;
    if (this.#all.state === 'open') return this.#allowProbe(inHand, isIdle, nowMs);
    const limit = this.#all.limit(nowMs, workers);
    const except: string[] = [];
    let perKey = Infinity;
    let againAtMs = limit === Infinity ? Infinity : this.#all.rampEndsMs;
    for (const [key, breaker] of this.#keys) {
      const room = this.#roomOf(key, breaker, isIdle, nowMs);
      if (room > 0) perKey = Math.min(perKey, room);
      else {
        except.push(key);
        againAtMs = Math.min(againAtMs, againAt(breaker, nowMs));
      }
    }
    return { count: limit - inHand, perKey, except, againAtMs };
  }

  /** A claim with this allowance has found less than it asked for. Whether it is worth asking again. */
  cameShort({ except }: Allowance, isIdle: boolean): boolean {
    if (this.#all.state === 'open') {
      // All keys that have something have had their probe; a new round begins.
      const hadProbes = this.#probed.size > 0;
      this.#probed.clear();
      return hadProbes && except.length > 0;
    }
    return !isIdle && except.length > 0 && this.#parts.now() < this.#restsUntilMs;
  }

  /** An attempt begins. Whether it is one of a failing key. */
  began(key: string): boolean {
    const nowMs = this.#parts.now();
    if (this.#all.state === 'open') {
      this.#all.probed(nowMs);
      if (this.#probed.size >= MAX_KEYS) this.#probed.clear();
      this.#probed.add(key);
    }
    const breaker = this.#keys.get(key);
    if (breaker === undefined || !isFailing(breaker)) return false;
    if (breaker.state === 'open') breaker.probed(nowMs);
    breaker.offeredAtMs = undefined;
    this.#probes += 1;
    return true;
  }

  /** An attempt that was one of a failing key has ended, in whatever way. */
  probeEnded(tookMs: number): void {
    this.#probes -= 1;
    const share = this.#probeRoom / this.#workers;
    if (share <= PROBES_SHARE) return;
    this.#restsUntilMs = this.#parts.now() + tookMs * (share / PROBES_SHARE - 1);
  }

  succeeded({ key }: DeliveryRef): void {
    const nowMs = this.#parts.now();
    this.#streak.clear();
    this.#streaks.delete(key);
    if (this.#all.succeeded(nowMs)) {
      this.#probed.clear();
      this.#tell('restored', null);
    }
    if (this.#keys.get(key)?.succeeded(nowMs) === true) this.#tell('restored', key);
  }

  /** An attempt has failed because of its delivery alone. */
  saidNothing({ key }: DeliveryRef): void {
    const nowMs = this.#parts.now();
    this.#all.saidNothing(nowMs);
    this.#keys.get(key)?.saidNothing(nowMs);
  }

  /** How long the delivery waits, where the attempt does not count; undefined where it counts. */
  failed(failure: FailedAttempt): number | undefined {
    const { delivery, countedAttempts, error } = failure;
    const { key } = delivery;
    const nowMs = this.#parts.now();
    const isEvidence = countedAttempts <= LATEST_EVIDENCE;
    const ofKey = this.#failedOfKey(failure, isEvidence, nowMs);
    if (this.#all.failed(nowMs)) this.#tell('outage', null, error);
    // What is known of a key says nothing of the others.
    if (isEvidence && (ofKey === undefined || ofKey.state === 'ramp')) this.#streak.add(delivery);
    const mayOpen = this.#all.state === 'closed' || this.#all.state === 'ramp';
    if (mayOpen && this.#streak.length >= EVIDENCE) {
      this.#all.open(nowMs);
      this.#streak.clear();
      this.#tell('outage', null, error);
      this.#parts.failing(null);
    }
    if (this.#all.state === 'open') return this.#all.delayMs;
    return this.#keys.get(key)?.state === 'open' ? this.#keys.get(key)?.delayMs : undefined;
  }

  #failedOfKey(
    { delivery, error, isOverdue }: FailedAttempt,
    isEvidence: boolean,
    nowMs: number,
  ): Breaker | undefined {
    const { key } = delivery;
    const breaker = this.#keys.get(key);
    if (breaker?.failed(nowMs) === true) this.#tell('outage', key, error);
    if (!isEvidence || this.#all.state === 'open' || (breaker !== undefined && isFailing(breaker)))
      return breaker;
    const streak = this.#streakOf(key);
    streak.add(delivery, isOverdue ? OVERDUE_WEIGHT : 1);
    if (streak.length < EVIDENCE) return breaker;
    const opening = breaker ?? this.#newBreaker(key);
    if (opening === undefined) return undefined;
    this.#streaks.delete(key);
    opening.open(nowMs);
    this.#tell('outage', key, error);
    this.#parts.failing(key);
    return opening;
  }

  #streakOf(key: string): Streak {
    let streak = this.#streaks.get(key);
    if (streak === undefined) {
      streak = new Streak(EVIDENCE);
      if (this.#streaks.size >= MAX_KEYS) this.#streaks.delete(this.#streaks.keys().next().value as string);
      this.#streaks.set(key, streak);
    }
    return streak;
  }

  #newBreaker(key: string): Breaker | undefined {
    if (this.#keys.size >= MAX_KEYS) return undefined;
    const breaker = new Breaker(this.#parts.random);
    this.#keys.set(key, breaker);
    return breaker;
  }

  #allowProbe(inHand: number, isIdle: boolean, nowMs: number): Allowance {
    const { probeAtMs } = this.#all;
    const isTime = nowMs >= probeAtMs && inHand < this.#probeRoom;
    // While one hangs there is nothing to look for before it ends, which is looked at then.
    const againAtMs = nowMs >= probeAtMs ? Infinity : probeAtMs;
    return { count: isTime ? 1 : 0, perKey: 1, except: isIdle ? [] : [...this.#probed], againAtMs };
  }

  #roomOf(key: string, breaker: Breaker, isIdle: boolean, nowMs: number): number {
    const { load } = this.#parts;
    if (!isFailing(breaker)) {
      const limit = breaker.limit(nowMs, this.#workers);
      if (limit === Infinity) this.#keys.delete(key);
      return limit - load.of(key);
    }
    if (this.#probes >= this.#probeRoom || (!isIdle && nowMs < this.#restsUntilMs)) return 0;
    // A second one while the first hangs, where no other key needs the place.
    const most = this.#keys.size === 1 ? this.#probeRoom : 1;
    const isDue = nowMs >= breaker.probeAtMs && load.of(key) < most;
    if (breaker.state === 'open' && !isDue) return 0;
    breaker.offeredAtMs ??= nowMs;
    if (load.of(key) === 0 && nowMs - breaker.offeredAtMs > FORGET_MS) {
      this.#keys.delete(key);
      this.#tell('restored', key);
    }
    return 1;
  }

  /** How many attempts of failing keys may run side by side. */
  get #probeRoom(): number {
    return Math.max(1, Math.floor(this.#workers * PROBES_SHARE));
  }

  #tell(type: 'outage' | 'restored', key: string | null, error = ''): void {
    const { report } = this.#parts;
    if (type === 'restored') {
      report.emit({ type, key });
      return;
    }
    const breaker = key === null ? this.#all : this.#keys.get(key);
    report.totals.outages += breaker?.state === 'open' ? 1 : 0;
    report.emit({ type, key, error, isCounting: breaker?.state === 'tired' });
  }
}

function isFailing({ state }: Breaker): boolean {
  return state === 'open' || state === 'tired';
}

/** When a key of which nothing may be claimed is worth another look; what ends is looked at then anyway. */
function againAt(breaker: Breaker, nowMs: number): number {
  if (breaker.state === 'ramp') return breaker.rampEndsMs;
  return breaker.state === 'open' && breaker.probeAtMs > nowMs ? breaker.probeAtMs : Infinity;
}
