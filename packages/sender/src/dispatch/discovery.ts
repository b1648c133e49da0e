import type { InboxStore } from '@webhook-backpressure/inbox';
import { DAY_MS } from '@webhook-backpressure/base';
import { nextTurn, type Scheduler, type StoreHealth, type Task } from '@webhook-backpressure/inbox/store';

/** Endpoints of one call. Another turn of the event loop begins after each. */
const PAGE = 1000;
/** How often a store that other processes use is asked. */
const SHARED_INTERVAL_MS = 2000;
/** How often any other store is asked, so that nothing is forgotten for long. */
const INTERVAL_MS = 60_000;
/** Later than any due time. */
const EVER_MS = 1000 * DAY_MS;

export interface DiscoveryParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly scheduler: Scheduler;
  readonly wallMs: () => number;
  /** Whether other processes use the store. */
  readonly isShared: () => boolean;
  /** Events of an endpoint are due at this time, on the monotonic clock. */
  readonly due: (id: string, atMs: number) => void;
}

/** Finds the endpoints that have events in the store: when it opens, and when other processes may have stored some. */
export class Discovery {
  readonly #parts: DiscoveryParts;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #isOpen = false;
  #hasAll = false;

  constructor(parts: DiscoveryParts) {
    this.#parts = parts;
    this.#task = parts.scheduler.task(() => {
      this.look();
    });
  }

  /** Call it when the store is open. */
  begin(): void {
    this.#isOpen = true;
    this.look();
  }

  /** Lists endpoints with something due. Call it when there may be some that this process does not know of. */
  look(isAll = false): void {
    if (isAll) this.#hasAll = false;
    this.#isWanted = true;
    if (this.#isOpen) this.#running ??= this.#run();
  }

  /** Stops. Resolves when the current call of the store has ended. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#task.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { health, scheduler, isShared } = this.#parts;
    while (this.#isWanted && this.#isOpen) {
      if (health.isResting) await health.rest();
      this.#isWanted = false;
      try {
        await this.#list();
      } catch (error) {
        health.failed('dueKeys', error);
        this.#isWanted = true;
      }
    }
    this.#running = undefined;
    if (this.#isOpen) this.#task.set(scheduler.nowMs + (isShared() ? SHARED_INTERVAL_MS : INTERVAL_MS));
  }

  async #list(): Promise<void> {
    const { store, health, scheduler, wallMs, due } = this.#parts;
    const isAll = !this.#hasAll;
    // Later ones are found the next time.
    const dueByMs = wallMs() + (isAll ? EVER_MS : INTERVAL_MS);
    let after: string | undefined;
    do {
      const { keys, next } = await store.dueKeys({ after, limit: PAGE, dueByMs });
      health.worked();
      const [nowMs, nowWallMs] = [scheduler.nowMs, wallMs()];
      for (const { key, nextDueMs } of keys) due(key, nowMs + Math.max(0, nextDueMs - nowWallMs));
      after = next;
      if (after !== undefined) await nextTurn();
    } while (after !== undefined && this.#isOpen);
    if (after === undefined) this.#hasAll = true;
  }
}
