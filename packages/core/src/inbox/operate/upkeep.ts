import type { Agenda, Task } from '../keeping/agenda.ts';
import type { Clearing } from './clearing.ts';
import type { InboxStore, StoreStats } from '../store/inbox-store.ts';
import { LONGEST_ASKED_MS } from '../delivery/retry-errors.ts';
import type { StoreHealth } from '../keeping/store-health.ts';

const EVERY_MS = 5000;
/** In an inbox that is never quiet: nearly right every half minute is better than wrong for ever. */
const MAX_INEXACT = 6;
/** So many are hastened at a time: a call must not hold up deliveries. */
const PART = 1000;
/** While there is more to do, it may take this share of the time. */
const BUSY_SHARE = 0.1;
/** To count the keys takes a moment where very much is stored. So it is done seldom, for a small part of the time. */
const COUNT_EVERY_MS = 30_000;
const COUNT_SHARE = 1 / 500;

/** What the upkeep works with. */
export interface UpkeepParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly agenda: Agenda;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly clearing: Clearing;
  /** Up to how much may be put back from the shelf by somebody who has no inbox. */
  readonly lowWater: () => { readonly depth: number; readonly bytes: number };
  readonly maxRetryDelayMs: () => number;
  /** Whether nothing is on its way to the store, so that what it says is the whole truth. */
  readonly isQuiet: () => boolean;
  /** What the store holds. With `asTruth` the level is set by it; returns whether that shows that another process was there. */
  readonly learn: (stats: StoreStats, asTruth: boolean, isWhole: boolean) => boolean;
  readonly learnKeys: (depthByKey: ReadonlyMap<string, number>) => void;
  /**
   * Something may be due that was not. Also when a call has failed: somebody else has to find out when the store works
   * again, as the upkeep waits for that.
   */
  readonly look: () => void;
}

/**
 * What is done at the start and then every few seconds: the level is compared with the store, what is too old or too
 * much is cleared away, and what would wait for longer than any delay, since the clock was wrong, becomes due.
 */
export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #hasEnded = false;
  #inexact = 0;
  #areKeysInDoubt = false;
  #countAfterMs = 0;
  #notedRoom: { readonly depth: number; readonly bytes: number } | undefined;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#task = parts.agenda.task(() => void this.run());
  }

  begin(): void {
    this.#task.set(this.#parts.now());
  }

  /** Calls the store no more, once the call that is under way has ended. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#task.clear();
    await this.#running;
  }

  async run(): Promise<void> {
    if (this.#hasEnded) return;
    // Also when a call is under way, which may take longer than this.
    this.#task.set(this.#parts.now() + EVERY_MS);
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #look(): Promise<void> {
    const { store, health, now, wallMs, clearing, maxRetryDelayMs, isQuiet, learn, look } = this.#parts;
    if (!health.isWell) return;
    try {
      const startedMs = now();
      const wasQuiet = isQuiet();
      const stats = await store.stats();
      const isWhole = wasQuiet && isQuiet();
      this.#inexact = isWhole ? 0 : this.#inexact + 1;
      const asTruth = isWhole || this.#inexact % MAX_INEXACT === 0;
      if (learn(stats, asTruth, isWhole)) this.#areKeysInDoubt = true;
      if (asTruth && this.#areKeysInDoubt && now() >= this.#countAfterMs) await this.#countKeys();
      const nowMs = wallMs();
      // A handler may have asked for a longer delay than `retry` has.
      const longestMs = Math.max(maxRetryDelayMs(), LONGEST_ASKED_MS);
      const hastened = await store.hasten({ afterMs: nowMs + longestMs, nowMs, limit: PART });
      await this.#noteRoom();
      const isMore = await clearing.run(stats);
      if (isMore || hastened === PART) this.#task.set(now() + Math.max(1, (now() - startedMs) / BUSY_SHARE));
    } catch (error) {
      health.failed('stats', error);
    }
    look();
  }

  async #noteRoom(): Promise<void> {
    const { store, lowWater } = this.#parts;
    const { depth, bytes } = lowWater();
    if (depth === this.#notedRoom?.depth && bytes === this.#notedRoom.bytes) return;
    await store.noteRoom({ depth, bytes });
    this.#notedRoom = { depth, bytes };
  }

  async #countKeys(): Promise<void> {
    const { store, now, isQuiet, learnKeys } = this.#parts;
    const [wasQuiet, startedMs] = [isQuiet(), now()];
    learnKeys(await store.depthByKey());
    // What is on its way is counted wrongly; then it is done once more.
    this.#areKeysInDoubt = !(wasQuiet && isQuiet());
    this.#countAfterMs = now() + Math.max(COUNT_EVERY_MS, (now() - startedMs) / COUNT_SHARE);
  }
}
