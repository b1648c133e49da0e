import { inBackground } from '@webhook-backpressure/base';
import type { Scheduler, Task } from '../time/scheduler.ts';
import type { ClaimRef, InboxStore } from '../store/inbox-store.ts';
import type { StoreHealth } from '../store-calls/store-health.ts';

/** A claim that is not renewed within this time may be taken over: its process hangs or has died. */
export const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3;

/** The holder of a claim: a run of a handler, or an attempt of a sender. */
export interface Leased {
  readonly ref: ClaimRef;
  /** `settling`: its result is being stored. `over`: the claim has ended. */
  readonly state: string;
  /** False while something else may have locked the claim. Absent: true. */
  readonly isRenewed?: boolean;
}

export interface LeaseRenewalParts<T extends Leased> {
  readonly store: Pick<InboxStore, 'renew'>;
  readonly health: StoreHealth;
  readonly scheduler: Scheduler;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly runs: ReadonlySet<T>;
  /** Called when another process has taken over a claim. */
  readonly lost: (run: T) => void;
}

/** Renews the leases of claimed deliveries, so that no other process takes them over. */
export class LeaseRenewal<T extends Leased> {
  readonly #parts: LeaseRenewalParts<T>;
  readonly #task: Task;
  /** By the id alone: with the same id in two keys, the earlier of them is not found. */
  readonly #latest = new Map<string, T>();

  constructor(parts: LeaseRenewalParts<T>) {
    this.#parts = parts;
    this.#task = parts.scheduler.task(() => {
      inBackground(this.#renew());
    });
  }

  begin(): void {
    this.#task.set(this.#parts.now() + RENEW_MS);
  }

  end(): void {
    this.#task.clear();
  }

  /** An earlier claim of the same delivery, if this process has one, was taken over, or undone by a failover. */
  claimed(run: T): void {
    const { key, id } = run.ref;
    const earlier = this.#latest.get(id);
    if (earlier?.ref.key === key && isLosable(earlier)) this.#parts.lost(earlier);
    this.#latest.set(id, run);
  }

  ended(run: T): void {
    const { id } = run.ref;
    if (this.#latest.get(id) === run) this.#latest.delete(id);
  }

  async #renew(): Promise<void> {
    const { store, health, now, wallMs, runs, lost } = this.#parts;
    this.#task.set(now() + RENEW_MS);
    const held = [...runs].filter(({ state, isRenewed }) => state !== 'over' && isRenewed !== false);
    try {
      const results = await store.renew(
        held.map(({ ref }) => ref),
        { leaseMs: LEASE_MS, nowMs: wallMs() },
      );
      // While all workers are busy, no other call finds out. One that stores a result does, and may fail although renewals work.
      if (held.every(({ state }) => state !== 'settling')) health.worked();
      for (const [at, run] of held.entries()) {
        if (results[at] !== true && isLosable(run)) lost(run);
      }
    } catch (error) {
      health.failed('renew', error);
    }
  }
}

/** A run that is settling may have been settled meanwhile, and its claim ended by that. */
function isLosable({ state, isRenewed }: Leased): boolean {
  return state !== 'settling' && state !== 'over' && isRenewed !== false;
}
