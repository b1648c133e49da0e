import type { Agenda, Task } from './agenda.ts';
import type { ClaimedDelivery, InboxStore } from './inbox-store.ts';
import type { StoreHealth } from './store-health.ts';

/** A claim is lost to others when it was not renewed for so long: its process stands still, or is gone. */
export const LEASE_MS = 30_000;
/** Something is due that cannot be claimed now, as another process holds it back: it is looked at again after this. */
const LOOK_AGAIN_MS = 1000;

/** What the claiming asks of the workers. */
export interface Claimants {
  /** How many could begin now; 0 while nothing is to be claimed. */
  free(): number;
  /** Whether none of those that were stranded before runs now. */
  mayTakeStranded(): boolean;
  begin(claimed: ClaimedDelivery): void;
}

/** What the claiming works with. */
export interface ClaimParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly agenda: Agenda;
  readonly now: () => number;
  readonly wallMs: () => number;
}

/** Gets deliveries out of the store as workers get free: one call at a time, and none when nothing is due. */
export class Claims {
  readonly #parts: ClaimParts;
  readonly #claimants: Claimants;
  readonly #wake: Task;
  #running: Promise<void> | undefined;
  #isWanted = false;

  constructor(parts: ClaimParts, claimants: Claimants) {
    this.#parts = parts;
    this.#claimants = claimants;
    this.#wake = parts.agenda.task(() => {
      this.look();
    });
  }

  /** Something may be due, or a worker free. */
  look(): void {
    this.#isWanted = true;
    this.#running ??= this.#run();
  }

  /** Resolves when no call is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false;
      await this.#parts.health.rest();
      await this.#claim();
    }
    this.#running = undefined;
  }

  async #claim(): Promise<void> {
    const { store, health, now, wallMs } = this.#parts;
    const count = this.#claimants.free();
    if (count <= 0) return;
    const isStrandedAllowed = this.#claimants.mayTakeStranded();
    try {
      const claimed = await store.claim(count, { leaseMs: LEASE_MS, nowMs: wallMs(), isStrandedAllowed });
      for (const one of claimed) this.#claimants.begin(one);
      // A store may give fewer than there are: of the stranded, one at a time.
      const dueMs = claimed.length < count ? await store.nextDueMs() : undefined;
      health.worked();
      if (dueMs === undefined) return;
      const inMs = dueMs - wallMs();
      this.#wake.set(now() + (inMs > 0 ? inMs : LOOK_AGAIN_MS));
    } catch (error) {
      health.failed('claim', error);
      this.#isWanted = this.#claimants.free() > 0;
    }
  }
}
