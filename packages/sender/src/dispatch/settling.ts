import type { InboxStore, Settlement } from '@webhook-backpressure/inbox';
import { type FinishedUsage, GroupCommit, type StoreHealth } from '@webhook-backpressure/inbox/store';
import type { OutboxLevel } from '../outbox/outbox-level.ts';
import type { SenderReport } from '../watch/sender-report.ts';
import type { Claim } from './claim.ts';
import type { Destination } from './destination.ts';

/** How a claim ends. */
export type Fate =
  | { readonly as: 'completed' }
  | { readonly as: 'dead'; readonly error: string }
  /** `isRepeated`: it was the last attempt, and the dead-letter queue is full. */
  | {
      readonly as: 'failed';
      readonly retryInMs: number;
      readonly error: string;
      readonly isRepeated: boolean;
    }
  /** The attempt does not count. */
  | { readonly as: 'released'; readonly retryInMs: number };

export interface SettlingParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly level: OutboxLevel;
  readonly finished: FinishedUsage;
  readonly report: SenderReport;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** Whether a failed call is repeated. */
  readonly isOpen: () => boolean;
  /** Called when a claim has ended. */
  readonly ended: (destination: Destination) => void;
  /** Called when an event is finished, so that the level has fallen. */
  readonly relieved: () => void;
}

/** The claims of this process. Each ends in a commit, together with others. */
export class Settling {
  readonly claims: Set<Claim> = new Set<Claim>();
  readonly #parts: SettlingParts;
  readonly #settlements: GroupCommit<Settlement, boolean>;

  constructor(parts: SettlingParts) {
    this.#parts = parts;
    this.#settlements = new GroupCommit((batch) => parts.store.settle(batch, parts.wallMs()));
  }

  get isBusy(): boolean {
    return this.#settlements.isBusy;
  }

  /** Resolves when no result is being stored. */
  idle(): Promise<void> {
    return this.#settlements.idle();
  }

  hold(claim: Claim): void {
    this.claims.add(claim);
    claim.destination.held += 1;
  }

  /** Stores how a claim ends, however long that takes. Resolves to false when another process had taken the claim over. */
  async settle(claim: Claim, fate: Fate): Promise<boolean> {
    if (claim.state !== 'held') return false;
    claim.state = 'settling';
    const { health, finished, wallMs, isOpen } = this.#parts;
    const confirmRoom = finished.expect(settlementOf(claim, fate, 0), claim.bytes);
    for (;;) {
      if (health.isResting) await health.rest();
      try {
        const isHeld = await this.#settlements.add(settlementOf(claim, fate, wallMs()));
        health.worked();
        confirmRoom(isHeld);
        if (isHeld) this.#settled(claim, fate);
        else this.lose(claim);
        return isHeld;
      } catch (error) {
        health.failed('settle', error);
        // While closing there is one try: the claim ends when the store closes, or when the lease runs out.
        if (!isOpen()) {
          confirmRoom(false);
          this.#end(claim);
          return false;
        }
      }
    }
  }

  /** Another process has taken the claim over. */
  lose(claim: Claim): void {
    const { report } = this.#parts;
    const { key: endpoint, id, attempt } = claim.ref;
    report.totals.lost += 1;
    report.emit({ type: 'lost', endpoint, id, attempt, events: 1 });
    this.#end(claim);
  }

  #settled(claim: Claim, fate: Fate): void {
    const { level, report, now, relieved } = this.#parts;
    const { destination, bytes } = claim;
    const isFinished = fate.as === 'completed' || fate.as === 'dead';
    if (isFinished) {
      level.remove(bytes);
      destination.stored = Math.max(0, destination.stored - 1);
      report.monitor?.moved(now());
      // The next one has been the head since now.
      if (destination.learned?.settings.isOrdered === true) destination.dueMs = now();
    } else {
      destination.dueMs = Math.min(destination.dueMs, now() + fate.retryInMs + 1);
    }
    this.#end(claim);
    if (isFinished) relieved();
  }

  #end(claim: Claim): void {
    if (!this.claims.delete(claim)) return;
    claim.state = 'over';
    claim.destination.held -= 1;
    this.#parts.ended(claim.destination);
  }
}

function settlementOf({ ref }: Claim, fate: Fate, nowMs: number): Settlement {
  switch (fate.as) {
    case 'completed':
      return { ...ref, as: 'completed', keep: false };
    case 'dead':
      return { ...ref, as: 'dead', error: fate.error };
    // The time is rounded down; rounded up, no wait is shorter than the endpoint asked.
    case 'failed': {
      const { retryInMs, error, isRepeated } = fate;
      return { ...ref, as: 'failed', retryAtMs: nowMs + retryInMs + 1, error, isRepeated };
    }
    case 'released': {
      const { retryInMs } = fate;
      return { ...ref, as: 'released', retryAtMs: retryInMs === 0 ? undefined : nowMs + retryInMs + 1 };
    }
  }
}
