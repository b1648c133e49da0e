import type { Scheduler, Task } from '../time/scheduler.ts';
import type { ClaimedDelivery, InboxStore } from '../store/inbox-store.ts';
import type { StoreHealth } from '../store-calls/store-health.ts';

/** A claim that is not renewed within this time may be taken over: its process hangs or has died. */
export const LEASE_MS = 30_000;
/** The delay of the next try when a due delivery cannot be claimed because another process blocks it. */
const RECHECK_MS = 1000;

/** What may be claimed now. */
export interface ClaimLimits {
  /** 0 or less: nothing. */
  readonly count: number;
  readonly maxStranded: number;
  /** Keys to skip. */
  readonly except: ReadonlySet<string>;
  /** When more may be claimed without any run having ended, on the monotonic clock; Infinity for never. */
  readonly againAtMs: number;
}

/** What the claimer needs of the workers. */
export interface ClaimingWorkers {
  /** @param isIdle - the last claim returned fewer deliveries than allowed. */
  limits(isIdle: boolean): ClaimLimits;
  begin(claimed: ClaimedDelivery): void;
  /** Called after a claim. Returns whether to claim again although it returned fewer deliveries than allowed. */
  claimed(claimed: readonly ClaimedDelivery[], limits: ClaimLimits, isIdle: boolean): boolean;
}

export interface ClaimParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly scheduler: Scheduler;
  readonly now: () => number;
  readonly wallMs: () => number;
}

/** Claims deliveries as workers become free: one call at a time, and none while nothing is due. */
export class Claimer {
  readonly #parts: ClaimParts;
  readonly #workers: ClaimingWorkers;
  readonly #nextClaim: Task;
  #running: Promise<void> | undefined;
  #isWanted = false;

  constructor(parts: ClaimParts, workers: ClaimingWorkers) {
    this.#parts = parts;
    this.#workers = workers;
    this.#nextClaim = parts.scheduler.task(() => {
      this.wake();
    });
  }

  /** Call it when a delivery may be due or a worker free. */
  wake(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no call is in progress. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#parts.health.rest();
      try {
        await this.#fill();
      } catch (error) {
        this.#parts.health.failed('claim', error);
        this.#isWanted = this.#workers.limits(false).count > 0;
      }
    }
    this.#running = undefined;
  }

  /** Claims until the limits are reached, or nothing is due. */
  async #fill(): Promise<void> {
    const { store, health, wallMs } = this.#parts;
    let isIdle = false;
    for (;;) {
      const limits = this.#workers.limits(isIdle);
      const { count, maxStranded, except, againAtMs } = limits;
      if (count <= 0) {
        this.#claimAt(againAtMs);
        return;
      }
      const nowMs = wallMs();
      const claimed = await store.claim(count, { leaseMs: LEASE_MS, nowMs, maxStranded, except });
      for (const one of claimed) this.#workers.begin(one);
      const claimsAgain = this.#workers.claimed(claimed, limits, isIdle);
      if (claimed.length === count) {
        health.worked();
        continue;
      }
      isIdle = true;
      if (claimsAgain) continue;
      // A store may return fewer than there are, because of `maxStranded`.
      const dueMs = await store.nextDueMs(except);
      health.worked();
      this.#claimAt(Math.min(againAtMs, this.#atMs(dueMs)));
      return;
    }
  }

  /** Converts a due time to the monotonic clock. */
  #atMs(dueMs: number | undefined): number {
    if (dueMs === undefined) return Infinity;
    const { now, wallMs } = this.#parts;
    const inMs = dueMs - wallMs();
    return now() + (inMs > 0 ? inMs : RECHECK_MS);
  }

  #claimAt(atMs: number): void {
    if (atMs < Infinity) this.#nextClaim.set(atMs);
  }
}
