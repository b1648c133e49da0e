import { IN_TRANSIT, type FillLevel, type OwnChanges } from '../capacity/fill-level.ts';
import type { StoreDrainRate } from '../capacity/store-drain-rate.ts';
import type { InboxReport } from '../events/inbox-report.ts';
import type { InboxRole } from '../options/roles.ts';
import type { StoreHealth } from '../store-calls/store-health.ts';
import type { InboxStore, StoreStats } from '../store/inbox-store.ts';
import type { Scheduler, Task } from '../time/scheduler.ts';

/** How often the totals of a shared store are read. The level lacks what other processes stored in this time. */
const INTERVAL_MS = 500;
/** Workers without a receiver refuse nothing, so that they may know the level later. */
const WORKER_INTERVAL_MS = 5000;
/** After this time without a sign of another process, the own counts are exact again. */
const SHARED_MS = 60_000;

export interface LevelWatchParts {
  readonly role: InboxRole;
  readonly store: InboxStore;
  /** Whether the store can say when a delivery is due. */
  readonly hasDueTimes: boolean;
  readonly health: StoreHealth;
  readonly scheduler: Scheduler;
  readonly report: InboxReport;
  readonly level: FillLevel;
  readonly storeRate: StoreDrainRate;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** Whether nothing is in transit to or from the store. */
  readonly isQuiet: () => boolean;
  /** Called with the totals, after the level has adopted them. */
  readonly learned: (stats: StoreStats) => void;
}

/**
 * Reads the totals of a store that other processes use too: the level is the store's plus what this process has stored
 * since the last reading, and the drain rate is that of all workers.
 */
export class LevelWatch {
  readonly #parts: LevelWatchParts;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #isOpen = false;
  #sharedUntilMs = -Infinity;
  #wasStalled = false;
  /** What others have stored and finished, at the last sign of them. */
  #others: { readonly added: number; readonly finished: number } | undefined;

  constructor(parts: LevelWatchParts) {
    this.#parts = parts;
    this.#task = parts.scheduler.task(() => void this.#look());
  }

  /** Whether other processes use the store. */
  get isShared(): boolean {
    const { role, now } = this.#parts;
    return role !== 'both' || now() < this.#sharedUntilMs;
  }

  /** Call it when the store is open. */
  begin(): void {
    this.#isOpen = true;
    if (this.isShared) void this.#look();
  }

  /** There is a sign of another process: it has stored or finished deliveries. A store may report it while it opens. */
  noteOthers(): void {
    const { role, now } = this.#parts;
    const wasShared = this.isShared;
    this.#sharedUntilMs = now() + SHARED_MS;
    if (role === 'both' && !wasShared) void this.#look();
  }

  /** Stops. Resolves when the current call of the store has ended. */
  async end(): Promise<void> {
    this.#isOpen = false;
    this.#task.clear();
    await this.#running;
  }

  async #look(): Promise<void> {
    if (!this.#isOpen || !this.isShared) return;
    const { role, now } = this.#parts;
    this.#task.set(now() + (role === 'worker' ? WORKER_INTERVAL_MS : INTERVAL_MS));
    this.#running ??= this.#read().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #read(): Promise<void> {
    const { role, store, health, level, storeRate, now, isQuiet, learned } = this.#parts;
    // A receiver without workers has to find out itself when the store works again; else the claims do.
    if (role === 'receiver') await health.rest();
    else if (!health.isWell) return;
    if (!this.#isOpen) return;
    try {
      const wasQuiet = isQuiet();
      const before = level.ownChanges;
      const stats = await store.stats();
      const readMs = now();
      level.adopt(stats, before);
      this.#compare(stats, before, wasQuiet && isQuiet());
      const isBacklogged = await this.#isBacklogged(stats);
      storeRate.note({ nowMs: readMs, drained: stats.drained, inFlight: stats.inFlight, isBacklogged });
      if (role === 'receiver') health.worked();
      learned(stats);
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
    this.#sharedUntilMs = this.#parts.now() + SHARED_MS;
  }

  /** Whether deliveries are due that no worker has claimed. */
  async #isBacklogged({ depth, inFlight }: StoreStats): Promise<boolean> {
    const waiting = depth - inFlight;
    if (waiting <= 0) return false;
    const { store, hasDueTimes, wallMs } = this.#parts;
    // Without due times, retries that are not due yet cannot be distinguished from the backlog.
    if (!hasDueTimes) return waiting >= inFlight;
    const dueMs = await store.nextDueMs();
    return dueMs !== undefined && dueMs <= wallMs();
  }

  /** A receiver without workers has no attempts whose end it could miss. */
  #reportStall(): void {
    const { role, storeRate, report } = this.#parts;
    if (role !== 'receiver' || storeRate.isStalled === this.#wasStalled) return;
    this.#wasStalled = !this.#wasStalled;
    report.emit({ type: this.#wasStalled ? 'stalled' : 'recovered' });
  }
}
