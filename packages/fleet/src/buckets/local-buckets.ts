import { type Clock, type Heaped, MinHeap, monotonic, systemClock } from '@webhook-backpressure/base';
import type { BucketLimit, Buckets, TokenGrant } from './buckets.ts';
import { TokenLevel } from './token-level.ts';

interface Bucket extends Heaped {
  readonly name: string;
  readonly level: TokenLevel;
  pausedUntilMs: number;
  /** When it needs no memory any more; only in the heap of forgotten ones. */
  emptyAtMs: number;
  isForgotten: boolean;
}

/** Buckets of this process. */
export class LocalBuckets implements Buckets {
  readonly processes = 1;
  #now: () => number = monotonic(systemClock);
  readonly #buckets = new Map<string, Bucket>();
  /**
   * Endpoints without events whose bucket is not full or is paused. A dropped bucket would be full when the endpoint is
   * used next, so they stay until they are.
   */
  readonly #forgotten = new MinHeap<Bucket>((a, b) => a.emptyAtMs < b.emptyAtMs);

  /** Buckets in memory. */
  get size(): number {
    return this.#buckets.size;
  }

  open({ clock }: { readonly clock: Clock }): void {
    this.#now = monotonic(clock);
  }

  take(name: string, count: number, limit: BucketLimit): TokenGrant {
    const nowMs = this.#now();
    const { level, pausedUntilMs } = this.#bucket(name, limit, nowMs);
    if (pausedUntilMs > nowMs)
      return { taken: 0, waitMs: Math.max(pausedUntilMs - nowMs, level.waitMs(1, nowMs)) };
    const taken = level.take(count, nowMs);
    return { taken, waitMs: level.waitMs(1, nowMs) };
  }

  use(name: string, count: number, limit: BucketLimit): number {
    const nowMs = this.#now();
    const { level } = this.#bucket(name, limit, nowMs);
    level.giveBack(count);
    return level.take(count, nowMs);
  }

  giveBack(name: string, count: number, limit: BucketLimit): void {
    this.#bucket(name, limit, this.#now()).level.giveBack(count);
  }

  pause(name: string, forMs: number, limit: BucketLimit): void {
    const nowMs = this.#now();
    const bucket = this.#bucket(name, limit, nowMs);
    bucket.pausedUntilMs = Math.max(bucket.pausedUntilMs, nowMs + forMs);
  }

  peek(name: string, limit: BucketLimit): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return limit.burst;
    const nowMs = this.#now();
    return bucket.pausedUntilMs > nowMs ? 0 : Math.min(limit.burst, bucket.level.tokens(nowMs));
  }

  forget(name: string): void {
    const nowMs = this.#now();
    this.#drop(nowMs);
    const bucket = this.#buckets.get(name);
    if (bucket === undefined || bucket.isForgotten) return;
    bucket.emptyAtMs = Math.max(bucket.pausedUntilMs, nowMs + bucket.level.waitMs(bucket.level.size, nowMs));
    if (bucket.emptyAtMs <= nowMs) {
      this.#buckets.delete(name);
      return;
    }
    bucket.isForgotten = true;
    this.#forgotten.push(bucket);
  }

  #bucket(name: string, limit: BucketLimit, nowMs: number): Bucket {
    let bucket = this.#buckets.get(name);
    if (bucket === undefined) {
      const level = new TokenLevel(limit, nowMs);
      bucket = { name, level, pausedUntilMs: 0, emptyAtMs: 0, isForgotten: false, heapIndex: 0 };
      this.#buckets.set(name, bucket);
      return bucket;
    }
    if (bucket.isForgotten) {
      bucket.isForgotten = false;
      this.#forgotten.remove(bucket);
    }
    bucket.level.set(limit, nowMs);
    return bucket;
  }

  #drop(nowMs: number): void {
    for (;;) {
      const { top } = this.#forgotten;
      if (top === undefined || top.emptyAtMs > nowMs) return;
      this.#forgotten.pop();
      this.#buckets.delete(top.name);
    }
  }
}
