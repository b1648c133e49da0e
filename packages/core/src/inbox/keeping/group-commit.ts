import type { Awaitable } from '../delivery/stored-delivery.ts';
import { blameOf, valueError } from '../store/store-blame.ts';
import { nextTurn } from '../store/turn.ts';

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
 *
 * A batch that fails because of one item is split until that one is alone, so that the others do not fail with it.
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
    const parts = [batch];
    const alone: { readonly one: Waiting<T, R>; readonly error: unknown }[] = [];
    // From the batch down to one bad item every part fails, and then the one beside it does not.
    let patience = Math.ceil(Math.log2(batch.length)) + 2;
    let isStoreWell = false;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await this.#commitPart(part);
        isStoreWell = true;
      } catch (error) {
        const blame = blameOf(error);
        if (blame === 'unknown' && !isStoreWell) patience -= 1;
        if (blame === 'store' || patience === 0) {
          // Nobody else needs to be told so by the store itself, which may take its time for it.
          const rest = blame === 'store' ? this.#waiting.splice(0) : [];
          for (const { reject } of [...part, ...parts.flat(), ...rest]) reject(error);
          break;
        }
        const [first, ...others] = part;
        if (first !== undefined && others.length === 0) alone.push({ one: first, error });
        const middle = Math.ceil(part.length / 2);
        if (others.length > 0) parts.push(part.slice(middle), part.slice(0, middle));
      }
    }
    for (const { one, error } of alone) one.reject(isStoreWell ? valueError(error) : error);
  }

  async #commitPart(part: readonly Waiting<T, R>[]): Promise<void> {
    const results = await this.#commit(part.map(({ item }) => item));
    if (results.length !== part.length) throw new Error('The store did not answer for each of the batch.');
    for (const [at, { resolve }] of part.entries()) resolve(results[at] as R);
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
