import { inBackground } from '@webhook-backpressure/base';
import { IN_TRANSIT, type OwnChanges } from '../capacity/fill-level.ts';
import type { InboxState } from '../capacity/inbox-state.ts';
import type { StoreStats } from '../store/inbox-store.ts';
import type { Task } from '../time/scheduler.ts';

/** How often the totals of a shared store are read. The level lacks what other processes stored in this time. */
const INTERVAL_MS = 500;
/** Workers without a receiver refuse nothing, so that they may know the level later. */
const WORKER_INTERVAL_MS = 5000;

/**
 * Reads the totals of a store that other processes use too: the level is the store's plus what this process has stored
 * since the last reading, and the drain rate is that of all workers.
 */
export class LevelWatch {
  readonly #inbox: InboxState;
  readonly #isQuiet: () => boolean;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #isOpen = false;
  #wasStalled = false;
  /** What others have stored and finished, at the last sign of them. */
  #others: { readonly added: number; readonly finished: number } | undefined;

  /** @param isQuiet - whether nothing is in transit to or from the store. */
  constructor(inbox: InboxState, isQuiet: () => boolean) {
    this.#inbox = inbox;
    this.#isQuiet = isQuiet;
    this.#task = inbox.scheduler.task(() => {
      inBackground(this.#look());
    });
  }

  /** Call it when the store is open. */
  begin(): void {
    this.#isOpen = true;
    inBackground(this.#look());
  }

  /** There is a sign of another process: it has stored or finished deliveries. A store may report it while it opens. */
  noteOthers(): void {
    const wasShared = this.#inbox.isShared;
    this.#inbox.noteOthers();
    if (!wasShared) inBackground(this.#look());
  }

  /** Stops. Resolves when the current call of the store has ended. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#task.clear();
    await this.#running;
  }

  async #look(): Promise<void> {
    const { role, now, isShared } = this.#inbox;
    if (!this.#isOpen || !isShared) return;
    this.#task.set(now() + (role === 'worker' ? WORKER_INTERVAL_MS : INTERVAL_MS));
    this.#running ??= this.#read().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #read(): Promise<void> {
    const { role, store, health, level, storeRate, now } = this.#inbox;
    // A receiver without workers has to find out itself when the store works again; else the claims do.
    if (role === 'receiver') await health.rest();
    else if (!health.isWell) return;
    if (!this.#isOpen) return;
    try {
      const wasQuiet = this.#isQuiet();
      const before = level.ownChanges;
      const stats = await store.stats();
      const readMs = now();
      level.adopt(stats, before);
      this.#compare(stats, before, wasQuiet && this.#isQuiet());
      const isBacklogged = await this.#isBacklogged(stats);
      storeRate.note({ nowMs: readMs, drained: stats.drained, inFlight: stats.inFlight, isBacklogged });
      if (role === 'receiver') health.worked();
      this.#inbox.learn(stats);
      this.#inbox.judge();
      this.#reportStall();
    } catch (error) {
      health.failed('stats', error);
    }
  }

  /** Looks for changes that this process has not made. Its own changes in transit look the same. */
  #compare({ depth, drained }: StoreStats, own: OwnChanges, isExact: boolean): void {
    const added = depth + drained - own.added;
    const finished = drained - own.finished;
    const known = (this.#others ??= { added, finished });
    const least = isExact ? 0 : IN_TRANSIT;
    if (Math.abs(added - known.added) <= least && Math.abs(finished - known.finished) <= least) return;
    this.#others = { added, finished };
    this.#inbox.noteOthers();
  }

  /** Whether deliveries are due that no worker has claimed. */
  async #isBacklogged({ depth, inFlight }: StoreStats): Promise<boolean> {
    const waiting = depth - inFlight;
    if (waiting <= 0) return false;
    const { store, hasAllCalls, wall } = this.#inbox;
    // Without due times, retries that are not due yet cannot be distinguished from the backlog.
    if (!hasAllCalls) return waiting >= inFlight;
    const dueMs = await store.nextDueMs();
    return dueMs !== undefined && dueMs <= wall.trustedMs();
  }

  /** A receiver without workers has no attempts whose end it could miss. */
  #reportStall(): void {
    const { role, storeRate, report } = this.#inbox;
    if (role !== 'receiver' || storeRate.isStalled === this.#wasStalled) return;
    this.#wasStalled = !this.#wasStalled;
    report.emit({ type: this.#wasStalled ? 'stalled' : 'recovered' });
  }
}
