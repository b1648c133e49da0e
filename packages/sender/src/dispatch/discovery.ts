import { DAY_MS } from '@webhook-backpressure/base';
import { nextTurn, type Task } from '@webhook-backpressure/inbox/store';
import type { SenderContext } from '../outbox/sender-context.ts';

/** Endpoints of one call. Another turn of the event loop begins after each. */
const PAGE = 1000;
/** How often a store that other processes use is asked. */
const SHARED_INTERVAL_MS = 2000;
/** How often any other store is asked, so that nothing is forgotten for long. */
const INTERVAL_MS = 60_000;
/** Later than any due time. */
const EVER_MS = 1000 * DAY_MS;

/** Finds the endpoints that have events in the store: when it opens, and when other processes may have stored some. */
export class Discovery {
  readonly #context: SenderContext;
  readonly #due: (id: string, atMs: number) => void;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #isWanted = false;
  #hasAll = false;

  /** @param due - called with the time when events of an endpoint are due, on the monotonic clock. */
  constructor(context: SenderContext, due: (id: string, atMs: number) => void) {
    this.#context = context;
    this.#due = due;
    this.#task = context.scheduler.task(() => {
      this.look();
    });
  }

  /** Lists endpoints with something due. Call it when the store is open, and when there may be some that are not known. */
  look(isAll = false): void {
    if (isAll) this.#hasAll = false;
    this.#isWanted = true;
    if (this.#isOpen) this.#running ??= this.#run();
  }

  /** Resolves when the current call of the store has ended. Call it when the sender is closing. */
  async end(): Promise<void> {
    this.#task.clear();
    await this.#running;
  }

  get #isOpen(): boolean {
    return this.#context.phase === 'open';
  }

  async #run(): Promise<void> {
    const { health, scheduler } = this.#context;
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
    if (this.#isOpen)
      this.#task.set(scheduler.nowMs + (this.#context.isShared ? SHARED_INTERVAL_MS : INTERVAL_MS));
  }

  async #list(): Promise<void> {
    const { store, health, scheduler, wallMs } = this.#context;
    const isAll = !this.#hasAll;
    // Later ones are found the next time.
    const dueByMs = wallMs() + (isAll ? EVER_MS : INTERVAL_MS);
    let after: string | undefined;
    do {
      const { keys, next } = await store.dueKeys({ after, limit: PAGE, dueByMs });
      health.worked();
      const [nowMs, nowWallMs] = [scheduler.nowMs, wallMs()];
      for (const { key, nextDueMs } of keys) this.#due(key, nowMs + Math.max(0, nextDueMs - nowWallMs));
      after = next;
      if (after !== undefined) await nextTurn();
    } while (after !== undefined && this.#isOpen);
    if (after === undefined) this.#hasAll = true;
  }
}
