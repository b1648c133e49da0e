import { inBackground, MAX_RETRY_AFTER_MS } from '@webhook-backpressure/base';
import type { Scheduler, Task } from '../time/scheduler.ts';
import type { Retention } from './retention.ts';
import type { InboxStore, StoreStats } from '../store/inbox-store.ts';
import type { StoreHealth } from '../store-calls/store-health.ts';

const INTERVAL_MS = 5000;
/** In a busy inbox every sixth count is adopted although deliveries in transit make it slightly wrong. */
const MAX_INEXACT = 6;
/** The most retries that one call hastens, so that it does not block deliveries. */
const HASTEN_LIMIT = 1000;
/** The share of time that maintenance may take while there is more to do. */
const BUSY_SHARE = 0.1;
/** Counting the keys may be slow, so it is rare and takes a small share of the time. */
const COUNT_INTERVAL_MS = 30_000;
const COUNT_SHARE = 1 / 500;

export interface MaintenanceParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly scheduler: Scheduler;
  readonly now: () => number;
  readonly wallMs: () => number;
  /** Undefined without workers: workers delete old data, and without them no data gets old. */
  readonly retention: Retention | undefined;
  /**
   * The low-water marks of the options, which limit a redrive by a program without an inbox. Undefined: the store takes none, or those of
   * the receivers apply.
   */
  readonly redriveMarks: (() => { readonly depth: number; readonly bytes: number }) | undefined;
  readonly maxRetryDelayMs: () => number;
  /** Whether nothing is in transit to or from the store, so that its counts are exact. */
  readonly isQuiet: () => boolean;
  /** Whether nothing is claimed. */
  readonly isIdle: () => boolean;
  /** Whether other processes use the store. Then its counts are read more often, elsewhere. */
  readonly isShared: () => boolean;
  /**
   * Called with the store's counts. With `adopt` the level adopts them; returns whether that proves that another process
   * uses the store.
   */
  readonly learn: (stats: StoreStats, adopt: boolean, isExact: boolean) => boolean;
  readonly learnKeys: (depthByKey: ReadonlyMap<string, number>) => void;
  /**
   * Called when deliveries may have become due, and after a failed call: maintenance pauses while the store fails, so the
   * claimer has to find out when it works again.
   */
  readonly wake: () => void;
}

/**
 * Runs at the start and then every few seconds: compares the level with the store, deletes what is too old or too much,
 * and makes retries due that a wrong clock has scheduled too far ahead.
 */
export class Maintenance {
  readonly #parts: MaintenanceParts;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #hasEnded = false;
  #inexact = 0;
  #areKeysInDoubt = false;
  #countAfterMs = 0;
  #notedRoom: { readonly depth: number; readonly bytes: number } | undefined;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#task = parts.scheduler.task(() => {
      inBackground(this.run());
    });
  }

  begin(): void {
    this.#task.set(this.#parts.now());
  }

  /** Stops. Resolves when the current call of the store has ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#task.clear();
    await this.#running;
  }

  async run(): Promise<void> {
    if (this.#hasEnded) return;
    // Also while a run is in progress, which may take longer than the interval.
    this.#task.set(this.#parts.now() + INTERVAL_MS);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #run(): Promise<void> {
    const { store, health, now, isQuiet, isShared, learn, wake, isIdle } = this.#parts;
    if (!health.isWell) {
      // Otherwise no call finds out whether the store works again: attempts are renewed and settled, which does.
      if (isIdle()) wake();
      return;
    }
    try {
      const startedMs = now();
      const wasQuiet = isQuiet();
      const stats = await store.stats();
      const isExact = wasQuiet && isQuiet();
      this.#inexact = isExact ? 0 : this.#inexact + 1;
      const isWatched = isShared();
      const adopt = !isWatched && (isExact || this.#inexact % MAX_INEXACT === 0);
      if (learn(stats, adopt, isExact) || isWatched) this.#areKeysInDoubt = true;
      if ((adopt || isWatched) && this.#areKeysInDoubt && now() >= this.#countAfterMs)
        await this.#countKeys();
      await this.#noteRoom();
      if (await this.#cleanUp(stats)) this.#task.set(now() + Math.max(1, (now() - startedMs) / BUSY_SHARE));
    } catch (error) {
      health.failed('stats', error);
    }
    wake();
  }

  /** Hastens retries, and deletes what is old. Returns whether there is more to do. */
  async #cleanUp(stats: StoreStats): Promise<boolean> {
    const { store, wallMs, retention, maxRetryDelayMs } = this.#parts;
    if (retention === undefined) return false;
    const nowMs = wallMs();
    // A `RetryAfter` may be longer than the delays of `retry`.
    const longestMs = Math.max(maxRetryDelayMs(), MAX_RETRY_AFTER_MS);
    const hastened = await store.hasten({ afterMs: nowMs + longestMs, nowMs, limit: HASTEN_LIMIT });
    const isMore = await retention.run(stats);
    return isMore || hastened === HASTEN_LIMIT;
  }

  async #noteRoom(): Promise<void> {
    const { store, redriveMarks } = this.#parts;
    if (redriveMarks === undefined) return;
    const { depth, bytes } = redriveMarks();
    if (depth === this.#notedRoom?.depth && bytes === this.#notedRoom.bytes) return;
    await store.noteRoom({ depth, bytes });
    this.#notedRoom = { depth, bytes };
  }

  async #countKeys(): Promise<void> {
    const { store, now, isQuiet, learnKeys } = this.#parts;
    const [wasQuiet, startedMs] = [isQuiet(), now()];
    learnKeys(await store.depthByKey());
    // In-flight writes skew the count; then the keys are counted again later.
    this.#areKeysInDoubt = !(wasQuiet && isQuiet());
    this.#countAfterMs = now() + Math.max(COUNT_INTERVAL_MS, (now() - startedMs) / COUNT_SHARE);
  }
}
