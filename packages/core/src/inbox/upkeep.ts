import type { Agenda, Task } from './agenda.ts';
import type { InboxStore, StoreStats } from './inbox-store.ts';
import { LONGEST_ASKED_MS } from './retry-errors.ts';
import type { StoreHealth } from './store-health.ts';

const EVERY_MS = 5000;
/** So many completed ids are remembered, whatever their age: some 100 MB of a file. */
const MAX_REMEMBERED = 1_000_000;
/** In an inbox that is never quiet: nearly right every half minute is better than wrong for ever. */
const MAX_INEXACT = 6;
/** So many are forgotten, or hastened, at a time: a call must not hold up deliveries. */
const PART = 1000;
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
  /** Until when ids are old by their age; 0, so that none is, while the clock is in doubt. */
  readonly agedMs: () => number;
  readonly retentionMs: () => number;
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
 * What is done at the start and then every few seconds: the level is compared with the store, old ids are forgotten, and
 * what would wait for longer than any delay, since the clock was wrong, becomes due.
 */
export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #hasEnded = false;
  #inexact = 0;
  #areKeysInDoubt = false;
  #countAfterMs = 0;

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
    const { store, health, now, wallMs, agedMs, retentionMs, maxRetryDelayMs, isQuiet, learn, look } =
      this.#parts;
    if (!health.isWell) return;
    try {
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
      const forgotten = await store.forget({
        beforeMs: agedMs() - retentionMs(),
        keep: MAX_REMEMBERED,
        limit: PART,
      });
      // A full part: there is more of it.
      if (Math.max(hastened, forgotten) === PART) this.#task.set(now() + 1);
    } catch (error) {
      health.failed('stats', error);
    }
    look();
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
