import type { Agenda, Task } from './agenda.ts';
import type { InboxStore, StoreStats } from './inbox-store.ts';
import type { StoreHealth } from './store-health.ts';

const EVERY_MS = 5000;
/** So many completed ids are remembered, whatever their age: some 100 MB of a file. */
const MAX_REMEMBERED = 1_000_000;
/** In an inbox that is never quiet: nearly right every half minute is better than wrong for ever. */
const MAX_INEXACT = 6;
/** So many are forgotten at a time: a call must not hold up deliveries. */
const PART = 1000;

/** What the upkeep works with. */
export interface UpkeepParts {
  readonly store: InboxStore;
  readonly health: StoreHealth;
  readonly agenda: Agenda;
  readonly now: () => number;
  readonly wallMs: () => number;
  readonly retentionMs: () => number;
  /** Whether nothing is on its way to the store, so that what it says is the whole truth. */
  readonly isQuiet: () => boolean;
  readonly learn: (stats: StoreStats, isWhole: boolean) => void;
  /** A call has failed. Somebody else has to find out when the store works again: the upkeep waits for that. */
  readonly failed: () => void;
}

/** What is done every few seconds: old ids are forgotten, and the level compared with the store. */
export class Upkeep {
  readonly #parts: UpkeepParts;
  readonly #task: Task;
  #running: Promise<void> | undefined;
  #hasEnded = false;
  #inexact = 0;

  constructor(parts: UpkeepParts) {
    this.#parts = parts;
    this.#task = parts.agenda.task(() => void this.run());
  }

  begin(): void {
    this.#task.set(this.#parts.now() + EVERY_MS);
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
    this.begin();
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  async #look(): Promise<void> {
    const { store, health, now, wallMs, retentionMs, isQuiet, learn, failed } = this.#parts;
    if (!health.isWell) return;
    try {
      const wasQuiet = isQuiet();
      const stats = await store.stats();
      const isWhole = wasQuiet && isQuiet();
      this.#inexact = isWhole ? 0 : this.#inexact + 1;
      learn(stats, isWhole || this.#inexact % MAX_INEXACT === 0);
      const forgotten = await store.forget({
        beforeMs: wallMs() - retentionMs(),
        keep: MAX_REMEMBERED,
        limit: PART,
      });
      // A full part: there is more of it.
      if (forgotten === PART) this.#task.set(now() + 1);
    } catch (error) {
      health.failed('stats', error);
      failed();
    }
  }
}
