import { workersPerKey } from '@webhook-backpressure/core/extend';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { LimitsOfKey } from '../options/key-limits.ts';
import type { ClaimedDelivery } from '../store/inbox-store.ts';
import type { Task } from '../time/scheduler.ts';
import { CrashSuspects } from './crash-suspects.ts';
import { LEASE_MS } from './lease-renewal.ts';
import { LimitedClaims, type Token } from './limited-claims.ts';
import type { Outages } from './outages.ts';
import type { HandlerRun } from './handler-run.ts';
import type { LookAhead } from './look-ahead.ts';
import type { RunningHandlers } from './running-handlers.ts';

/** The delay of the next try when a due delivery cannot be claimed because another process blocks it. */
const RECHECK_MS = 1000;

/** What decides how much is claimed, and what starts it. */
export interface ClaimingParts {
  /** How many workers are used, or will be. */
  readonly taken: number;
  /** Undefined unless deliveries share workers. Not together with limits of keys. */
  readonly ahead: LookAhead | undefined;
  readonly handlers: RunningHandlers;
  readonly outages: Outages;
  /** Takes on a claimed delivery. Returns its run if it may start. */
  readonly begin: (claimed: ClaimedDelivery, token?: Token) => HandlerRun | undefined;
}

/** Claims deliveries as workers become free. One claim at a time, and none while nothing is due. */
export class Claiming {
  /** Instead of claims from any key, once there are limits of keys. */
  limited: LimitedClaims | undefined;
  readonly #inbox: InboxState;
  readonly #parts: ClaimingParts;
  readonly #suspects: CrashSuspects;
  readonly #nextClaim: Task;
  #limitsInUse: LimitsOfKey | undefined;
  #running: Promise<void> | undefined;
  #isWanted = false;
  /** The keys that were paused during the claim in progress, and null for everything. */
  readonly #paused = new Set<string | null>();

  constructor(inbox: InboxState, parts: ClaimingParts) {
    this.#inbox = inbox;
    this.#parts = parts;
    this.#suspects = new CrashSuspects(inbox.now);
    this.#nextClaim = inbox.scheduler.task(() => {
      this.wake();
    });
    this.retune();
  }

  /** Claims, if a delivery is due and a worker free. */
  wake(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  /** A key is paused, or with null everything. The store may have made the claim in progress before. */
  paused(key: string | null): void {
    // Without a claim nothing clears the set, in a receiver never.
    if (this.#running !== undefined) this.#paused.add(key);
  }

  /** Resolves when no claim is in progress. */
  async ended(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  /** Applies changed options. */
  retune(): void {
    const { limits } = this.#inbox.settings;
    if (limits === this.#limitsInUse) return;
    this.#limitsInUse = limits;
    this.limited?.retune();
    const { outages, begin } = this.#parts;
    this.limited ??= new LimitedClaims(this.#inbox, outages.load, begin, this.#start);
  }

  /** Counts a suspect. */
  suspectBegan(run: HandlerRun): void {
    this.#suspects.began(run.claimed.strandings);
  }

  /** A suspect has ended. */
  suspectEnded(run: HandlerRun): void {
    this.#suspects.ended(run.isMade);
    if (this.#suspects.isResting) this.limited?.resume(this.#suspects.room(this.#attempts));
  }

  get #attempts(): number {
    return this.#inbox.settings.retry.attempts;
  }

  get #isOpen(): boolean {
    return this.#inbox.phase === 'open' && this.#inbox.role !== 'receiver';
  }

  /** Whether the key was paused during the claim in progress. */
  isPaused(key: string): boolean {
    return this.#paused.has(null) || this.#paused.has(key);
  }

  async #run(): Promise<void> {
    const { health } = this.#inbox;
    while (this.#isWanted) {
      this.#isWanted = false;
      await health.rest();
      try {
        await this.#claimAll();
      } catch (error) {
        health.failed('claim', error);
        this.#isWanted = this.#isOpen;
      }
    }
    this.#running = undefined;
  }

  /** Claims until the limits are reached, or nothing is due. */
  async #claimAll(): Promise<void> {
    const { store, health, wall, now } = this.#inbox;
    const { outages, ahead, begin } = this.#parts;
    for (let isIdle = false; ;) {
      await ahead?.look();
      this.#paused.clear();
      const { allowance, count, maxStranded, except, roomOf } = this.#room(isIdle);
      if (count <= 0) {
        this.#nextClaim.set(allowance.againAtMs);
        return;
      }
      if (this.limited !== undefined) {
        const suspects = this.#suspects.roomByKey(this.#attempts);
        const hasClaimed = await this.limited.claim({ count, roomOf, suspects });
        if (this.#suspects.isResting) this.limited.forgetDeferred();
        if (hasClaimed) continue;
        const claimsAgain = outages.cameShort(allowance, isIdle);
        isIdle = true;
        if (claimsAgain) continue;
        this.#nextClaim.set(Math.min(allowance.againAtMs, this.limited.nextMs));
        return;
      }
      const nowMs = wall.trustedMs();
      const claimed = await store.claim(count, { leaseMs: LEASE_MS, nowMs, maxStranded, except });
      await this.#start(claimed.flatMap((one) => begin(one) ?? []));
      this.#suspects.claimed(maxStranded, claimed.filter(({ strandings }) => strandings > 0).length);
      if (claimed.length === count) {
        health.worked();
        continue;
      }
      const claimsAgain = outages.cameShort(allowance, isIdle);
      isIdle = true;
      if (claimsAgain) continue;
      // A store may return fewer than there are, because of `maxStranded`.
      const dueMs = await store.nextDueMs(except);
      health.worked();
      const inMs = dueMs === undefined ? Infinity : dueMs - wall.trustedMs();
      this.#nextClaim.set(Math.min(allowance.againAtMs, now() + (inMs > 0 ? inMs : RECHECK_MS)));
      return;
    }
  }

  readonly #start = async (runs: readonly HandlerRun[]): Promise<void> => {
    const { handlers, ahead } = this.#parts;
    if (ahead !== undefined) {
      await ahead.begin(runs);
      return;
    }
    for (const run of runs) {
      run.isTokenFresh = true;
      handlers.add(run);
      run.isTokenFresh = false;
    }
  };

  /**
   * What may be claimed now: 0 or less for nothing.
   *
   * @param isIdle - the last claim returned fewer deliveries than allowed.
   */
  #room(isIdle: boolean) {
    const { settings } = this.#inbox;
    const { taken, ahead, handlers, outages } = this.#parts;
    const workers = handlers.concurrency;
    const allowance = outages.allow(taken, workers, isIdle);
    const except = new Set([...allowance.except, ...(ahead?.keys ?? [])]);
    const most = workersPerKey(settings, workers);
    const { load } = outages;
    const roomOf = (key: string): number =>
      except.has(key) ? 0 : Math.min(allowance.perKey, most - (load.get(key) ?? 0));
    let { perKey } = allowance;
    // A claim from any key can skip keys but not limit each one, so it asks for no more than the key with the least room may have.
    if (this.limited !== undefined) perKey = Infinity;
    else if (most < Infinity) {
      perKey = Math.min(perKey, most);
      for (const [key, count] of load) {
        if (count >= most) except.add(key);
        else perKey = Math.min(perKey, most - count);
      }
    }
    const free = this.#isOpen ? workers - taken : 0;
    const count = Math.min(free, allowance.count, perKey);
    const maxStranded = Math.min(count, this.#suspects.room(this.#attempts));
    return { allowance, count, maxStranded, except, roomOf };
  }
}
