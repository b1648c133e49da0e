import { inBackground } from '@webhook-backpressure/base';
import type { ClaimedDelivery, ClaimRef, Settlement } from '@webhook-backpressure/inbox';
import { GroupCommit, type Leased, storedBytes } from '@webhook-backpressure/inbox/store';
import type { SenderContext } from '../outbox/sender-context.ts';
import type { Destination } from './destinations.ts';

/** A claimed event, until its result is stored. */
export interface Claim extends Leased {
  readonly destination: Destination;
  readonly event: ClaimedDelivery;
  readonly ref: ClaimRef;
  readonly bytes: number;
  state: 'held' | 'settling' | 'over';
}

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

/** The claims of this process. Each ends in a commit, together with others. */
export class Settling {
  readonly claims: Set<Claim> = new Set<Claim>();
  readonly #context: SenderContext;
  readonly #ended: (destination: Destination) => void;
  readonly #relieved: (id: string) => void;
  readonly #settlements: GroupCommit<Settlement, boolean>;
  #onIdle: (() => void) | undefined;

  /**
   * @param ended - called when a claim has ended.
   * @param relieved - called with the id of the endpoint when an event is finished, so that the level has fallen.
   */
  constructor(
    context: SenderContext,
    ended: (destination: Destination) => void,
    relieved: (id: string) => void,
  ) {
    this.#context = context;
    this.#ended = ended;
    this.#relieved = relieved;
    this.#settlements = new GroupCommit((batch) => context.store.settle(batch, context.wallMs()));
  }

  get isBusy(): boolean {
    return this.#settlements.isBusy;
  }

  /** Resolves when no result is being stored, or is to be stored again. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      this.#checkIdle();
    });
  }

  /** Events were claimed. */
  hold(destination: Destination, events: readonly ClaimedDelivery[]): readonly Claim[] {
    const claims: Claim[] = [];
    for (const event of events) {
      const { key, id, attempt } = event;
      const ref = { key, id, attempt };
      claims.push({ destination, event, ref, bytes: storedBytes(event), state: 'held' });
    }
    for (const claim of claims) this.claims.add(claim);
    destination.held += claims.length;
    return claims;
  }

  /** Gives events back that are due as before. */
  release(claims: readonly Claim[]): void {
    for (const claim of claims) inBackground(this.settle(claim, { as: 'released', retryInMs: 0 }));
  }

  /** Stores how a claim ends, however long that takes. Resolves to false when another process had taken the claim over. */
  async settle(claim: Claim, fate: Fate): Promise<boolean> {
    if (claim.state !== 'held') return false;
    claim.state = 'settling';
    const { health, finished, wallMs } = this.#context;
    const settlement = settlementOf(claim, fate, wallMs());
    const confirmRoom = finished.expect(settlement, claim.bytes);
    for (;;) {
      if (health.isResting) await health.rest();
      try {
        const isHeld = await this.#settlements.add(settlement);
        health.worked();
        confirmRoom(isHeld);
        if (isHeld) this.#settled(claim, fate);
        else this.lose(claim);
        return isHeld;
      } catch (error) {
        health.failed('settle', error);
        // Then the claim ends when the store closes, or when the lease runs out.
        if (this.#context.isOutOfTime) {
          confirmRoom(false);
          this.#end(claim);
          return false;
        }
      }
    }
  }

  /** Another process has taken the claim over. */
  lose(claim: Claim): void {
    const { report } = this.#context;
    const { key: endpoint, id, attempt } = claim.ref;
    report.totals.lost += 1;
    report.emit({ type: 'lost', endpoint, id, attempt, events: 1 });
    this.#end(claim);
  }

  #settled(claim: Claim, fate: Fate): void {
    const { level, report, now } = this.#context;
    const { destination, bytes } = claim;
    const nowMs = now();
    if (fate.as === 'failed' || fate.as === 'released') {
      destination.dueMs = Math.min(destination.dueMs, nowMs + fate.retryInMs + 1);
      this.#end(claim);
      return;
    }
    level.remove(bytes);
    destination.stored = Math.max(0, destination.stored - 1);
    report.monitor?.moved(nowMs);
    // The next one has been the head since now.
    if (destination.learned?.settings.isOrdered === true) destination.dueMs = nowMs;
    this.#end(claim);
    this.#relieved(destination.id);
  }

  #end(claim: Claim): void {
    if (!this.claims.delete(claim)) return;
    claim.state = 'over';
    claim.destination.held -= 1;
    this.#ended(claim.destination);
    this.#checkIdle();
  }

  #checkIdle(): void {
    if (this.#onIdle === undefined) return;
    for (const { state } of this.claims) if (state === 'settling') return;
    this.#onIdle();
    this.#onIdle = undefined;
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
