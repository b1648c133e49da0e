import type { Awaitable } from '@webhook-backpressure/inbox';
import { errorMessageOf } from '@webhook-backpressure/inbox/store';
import { isThenable } from '@webhook-backpressure/base';
import type { BucketLimit, Buckets, BucketsEvent, BucketsOptions, TokenGrant } from './buckets.ts';

/** The delay of the next try after a call that failed. */
const RETRY_MS = 1000;

/** {@link Buckets} of which nothing is known. */
type UserBuckets = {
  readonly [K in keyof Buckets]: Buckets[K] extends ((...args: infer A) => unknown) | undefined
    ? (...args: A) => unknown
    : unknown;
};

/**
 * Buckets of a user, which may throw, reject, or return anything: then no tokens are granted, and the sender goes on. The
 * first failure of a row is reported as `lost`, the next success as `restored`.
 */
export class GuardedBuckets implements Buckets {
  readonly #buckets: UserBuckets;
  readonly #now: () => number;
  #listener: (event: BucketsEvent) => void = () => undefined;
  #failingSinceMs: number | undefined;
  #retryAtMs = 0;

  constructor(buckets: Buckets, now: () => number) {
    this.#buckets = buckets;
    this.#now = now;
  }

  get processes(): number {
    const processes = this.#try(() => this.#buckets.processes);
    return Number.isSafeInteger(processes) && (processes as number) >= 1 ? (processes as number) : 1;
  }

  open(options: BucketsOptions): void {
    this.#listener = options.listener;
    this.#try(() => this.#buckets.open?.(options));
  }

  take(name: string, count: number, limit: BucketLimit): Awaitable<TokenGrant> {
    const waitMs = this.#retryAtMs - this.#now();
    if (waitMs > 0) return { taken: 0, waitMs };
    // With `use`, the tokens are only good if it works as well.
    const isLast = typeof this.#buckets.use !== 'function';
    return this.#ask(
      () => this.#buckets.take(name, count, limit),
      (grant) => grantOf(grant, count),
      { taken: 0, waitMs: RETRY_MS },
      isLast,
    );
  }

  use(name: string, count: number, limit: BucketLimit): Awaitable<number> {
    const buckets = this.#buckets;
    if (typeof buckets.use !== 'function') return count;
    return this.#ask(
      () => buckets.use?.(name, count, limit),
      (used) => countOf(used, count),
      0,
    );
  }

  giveBack(name: string, count: number, limit: BucketLimit): void {
    this.#try(() => this.#buckets.giveBack(name, count, limit));
  }

  pause(name: string, forMs: number, limit: BucketLimit): void {
    this.#try(() => this.#buckets.pause(name, forMs, limit));
  }

  peek(name: string, limit: BucketLimit): number | null {
    const tokens = this.#try(() => this.#buckets.peek(name, limit));
    return Number.isFinite(tokens) ? (tokens as number) : null;
  }

  forget(name: string): void {
    this.#try(() => this.#buckets.forget(name));
  }

  close(): void {
    this.#try(() => this.#buckets.close?.());
  }

  #ask<T extends number | TokenGrant>(
    call: () => unknown,
    check: (result: unknown) => T | undefined,
    otherwise: T,
    isLast = true,
  ): Awaitable<T> {
    const settle = (result: unknown): T => {
      const checked = check(result);
      if (checked === undefined) return fail(new Error('The buckets returned an invalid result.'));
      if (isLast) this.#worked();
      return checked;
    };
    const fail = (error: unknown): T => {
      this.#retryAtMs = this.#now() + RETRY_MS;
      this.#failed(error);
      return otherwise;
    };
    try {
      const result = call();
      return isThenable(result) ? Promise.resolve(result).then(settle).catch(fail) : settle(result);
    } catch (error) {
      return fail(error);
    }
  }

  /** A method that should return immediately may return a promise all the same. */
  #try(call: () => unknown): unknown {
    try {
      const result = call();
      if (isThenable(result)) {
        Promise.resolve(result).catch((error: unknown) => {
          this.#failed(error);
        });
      }
      return result;
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  #failed(error: unknown): void {
    if (this.#failingSinceMs !== undefined) return;
    this.#failingSinceMs = this.#now();
    this.#listener({ type: 'lost', error: errorMessageOf(error), processes: 1 });
  }

  #worked(): void {
    if (this.#failingSinceMs === undefined) return;
    const lostMs = this.#now() - this.#failingSinceMs;
    this.#failingSinceMs = undefined;
    this.#listener({ type: 'restored', lostMs });
  }
}

/** More than the wanted count would exceed the in-flight limit, and NaN would never be compared. */
function grantOf(grant: unknown, wanted: number): TokenGrant | undefined {
  const { taken, waitMs } = (grant ?? {}) as Partial<TokenGrant>;
  const count = countOf(taken, wanted);
  if (count === undefined || typeof waitMs !== 'number' || !(waitMs >= 0)) return undefined;
  // With no token and no wait, the bucket would be asked without a pause.
  return { taken: count, waitMs: count === 0 ? Math.max(1, waitMs) : waitMs };
}

function countOf(count: unknown, wanted: number): number | undefined {
  if (!Number.isSafeInteger(count) || (count as number) < 0) return undefined;
  return Math.min(count as number, wanted);
}
