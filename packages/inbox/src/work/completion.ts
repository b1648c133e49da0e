import { BackpressureError } from '@webhook-backpressure/base';
import type { Awaitable } from '../delivery/stored-delivery.ts';

/** What {@link Completion} needs of its run. */
export interface CompletionParts {
  /** Whether the handler runs, and its result counts. */
  readonly isRunning: () => boolean;
  /** Settles the delivery by a client, and returns whether its claim was held. Undefined: the store cannot. */
  readonly settleIn: ((client: unknown) => Awaitable<boolean>) | undefined;
}

/**
 * The calls of `complete` in one run. They do not say whether the transaction was committed, so the worker asks the store
 * when the handler has ended.
 */
export class Completion {
  /** Whether `complete` was called: a transaction may hold the lock of the claim, for which other calls would wait. */
  isCalled = false;
  /** Whether a call has succeeded: its transaction may have been committed. */
  hasSucceeded = false;
  /** The error of the last call, if it failed. */
  error: unknown;
  readonly #parts: CompletionParts;
  #pending: Promise<void> | undefined;

  constructor(parts: CompletionParts) {
    this.#parts = parts;
  }

  /**
   * Not an async function: a synchronous client runs its transaction in a function that must throw to roll it back, so
   * that an error that is known now is thrown now.
   */
  readonly complete = (client: unknown): Promise<void> => {
    const { isRunning, settleIn } = this.#parts;
    if (settleIn === undefined)
      throw new BackpressureError(
        'ERR_WBP_TRANSACTION',
        'complete() needs a store that can join a transaction of the application, postgresStore() or sqliteStore(), and an inbox without coalesce.',
      );
    if (this.#pending !== undefined)
      throw new BackpressureError('ERR_WBP_TRANSACTION', 'Another call of complete() has not ended yet.');
    if (!isRunning()) throw claimLost('this attempt has ended');
    this.isCalled = true;
    this.error = undefined;
    let held: Awaitable<boolean>;
    try {
      held = settleIn(client);
      if (typeof held === 'boolean') this.#check(held);
    } catch (error) {
      this.error = error;
      throw error;
    }
    if (typeof held === 'boolean') return Promise.resolve();
    const pending = this.#settled(held);
    // A handler may not await it. Then the attempt fails with its error.
    pending.catch(() => undefined);
    this.#pending = pending;
    return pending;
  };

  /** Resolves when no call is in progress: a handler may not have awaited it. */
  async ended(): Promise<void> {
    await this.#pending?.catch(() => undefined);
  }

  async #settled(held: PromiseLike<boolean>): Promise<void> {
    try {
      this.#check(await held);
    } catch (error) {
      this.error = error;
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }

  #check(isHeld: boolean): void {
    if (!this.#parts.isRunning()) throw claimLost('this attempt has ended');
    if (!isHeld)
      throw claimLost(
        'another process has taken it over, or complete() was called before in the same transaction',
      );
    this.hasSucceeded = true;
  }
}

function claimLost(why: string): BackpressureError {
  return new BackpressureError(
    'ERR_WBP_CLAIM_LOST',
    `The delivery is not claimed by this attempt any more: ${why}. Roll the transaction back.`,
  );
}
