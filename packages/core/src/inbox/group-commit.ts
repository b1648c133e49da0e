import type { Awaitable } from './inbox-store.ts';
import { nextTurn } from './turn.ts';

/** So much goes into one commit. */
const MAX_ITEMS = 256;
const MAX_BYTES = 16 * 1024 * 1024;

interface Waiting<T, R> {
  readonly item: T;
  readonly bytes: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Lets what arrives together share one commit. What arrives in one turn of the event loop is one batch; while a commit
 * runs, the next batch gathers. A lone item waits for nobody.
 */
export class GroupCommit<T, R> {
  readonly #commit: (batch: readonly T[]) => Awaitable<readonly R[]>;
  #waiting: Waiting<T, R>[] = [];
  #running: Promise<void> | undefined;

  /** @param commit - stores a batch, all or, when it throws or rejects, none; one result for each, in order. */
  constructor(commit: (batch: readonly T[]) => Awaitable<readonly R[]>) {
    this.#commit = commit;
  }

  /** Resolves when the item is committed, and rejects when its commit has failed. */
  add(item: T, bytes = 0): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, bytes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Whether anything is being committed, or waits for it. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when nothing is. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      await nextTurn();
      await this.#commitBatch(this.#take());
    }
    this.#running = undefined;
  }

  async #commitBatch(batch: readonly Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#commit(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('The store did not answer for each of the batch.');
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as R);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  #take(): Waiting<T, R>[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#waiting.length && count < MAX_ITEMS) {
      bytes += this.#waiting[count]?.bytes ?? 0;
      if (bytes > MAX_BYTES && count > 0) break;
      count += 1;
    }
    if (count === this.#waiting.length) {
      const all = this.#waiting;
      this.#waiting = [];
      return all;
    }
    return this.#waiting.splice(0, count);
  }
}
