import type { Awaitable } from '../delivery/stored-delivery.ts';
import { storeFaultOf, valueError } from './store-errors.ts';
import { nextTurn } from './next-turn.ts';

/** The most that goes into one commit. */
const MAX_ITEMS = 256;
const MAX_BYTES = 16 * 1024 * 1024;

interface Waiting<T, R> {
  readonly item: T;
  readonly bytes: number;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores items that arrive together in one commit. The items of one turn of the event loop form a batch; while a commit
 * runs, the next batch gathers. A single item is committed in the next turn.
 *
 * A batch that fails because of one item is split until that item is alone, so that the others are committed.
 */
export class GroupCommit<T, R> {
  readonly #commit: (batch: readonly T[]) => Awaitable<readonly R[]>;
  readonly #committed: (items: number, beganMs: number) => void;
  readonly #now: () => number;
  #waiting: Waiting<T, R>[] = [];
  #running: Promise<void> | undefined;

  /**
   * @param commit - stores a whole batch, or nothing when it throws or rejects; one result for each, in order.
   * @param committed - called after each commit with the number of its items and the time of its begin.
   */
  constructor(
    commit: (batch: readonly T[]) => Awaitable<readonly R[]>,
    committed: (items: number, beganMs: number) => void = () => undefined,
    now: () => number = () => 0,
  ) {
    this.#commit = commit;
    this.#committed = committed;
    this.#now = now;
  }

  /** Resolves when the item is committed; rejects when its commit failed. */
  add(item: T, bytes = 0): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, bytes, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Whether any item is being committed or waits for it. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when it is not busy. */
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
    // Halving down to one bad item takes so many failures; then the item beside it succeeds.
    let failuresLeft = Math.ceil(Math.log2(batch.length)) + 2;
    let hasSucceeded = false;
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await this.#commitPart(part);
        hasSucceeded = true;
      } catch (error) {
        const fault = storeFaultOf(error);
        if (fault === 'unknown' && !hasSucceeded) failuresLeft -= 1;
        if (fault === 'store' || failuresLeft === 0) {
          // The items that wait fail as well, without a call that may take long to fail.
          const rest = fault === 'store' ? this.#waiting.splice(0) : [];
          for (const { reject } of [...part, ...parts.flat(), ...rest]) reject(error);
          break;
        }
        const [first, ...others] = part;
        if (first !== undefined && others.length === 0) alone.push({ one: first, error });
        const middle = Math.ceil(part.length / 2);
        if (others.length > 0) parts.push(part.slice(middle), part.slice(0, middle));
      }
    }
    for (const { one, error } of alone) one.reject(hasSucceeded ? valueError(error) : error);
  }

  async #commitPart(part: readonly Waiting<T, R>[]): Promise<void> {
    const beganMs = this.#now();
    const results = await this.#commit(part.map(({ item }) => item));
    if (results.length !== part.length)
      throw new Error('The store must return one result for each delivery of a batch.');
    this.#committed(part.length, beganMs);
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
