import type { BucketLimit, Buckets, TokenGrant } from '@webhook-backpressure/fleet';

/** Buckets with as many tokens as the test says, which count what becomes of them. */
export class CountedBuckets implements Buckets {
  readonly processes: number;
  /** Tokens that are there. */
  tokens: number;
  /** The most that `use` allows. */
  usable = Infinity;
  /** Tokens that were taken, and neither given back nor refused by `use`. */
  out = 0;
  /** The endpoint that was paused, and for how long. */
  readonly paused: [name: string, forMs: number][] = [];
  /** Calls of `take`. */
  calls = 0;
  /** What `take` waits for. */
  gate: Promise<void> | undefined;

  constructor(tokens = 1000, processes = 1) {
    this.tokens = tokens;
    this.processes = processes;
  }

  async take(_: string, count: number): Promise<TokenGrant> {
    this.calls += 1;
    await this.gate;
    const taken = Math.min(count, this.tokens);
    this.#move(taken);
    return { taken, waitMs: 100 };
  }

  use(_: string, count: number): Promise<number> {
    const usable = Math.min(count, this.usable);
    this.#move(usable - count);
    return Promise.resolve(usable);
  }

  giveBack(_: string, count: number): void {
    this.#move(-count);
  }

  pause(name: string, forMs: number): void {
    this.paused.push([name, forMs]);
  }

  peek(_: string, limit: BucketLimit): number {
    return Math.min(limit.burst, this.tokens);
  }

  forget(): void {
    // Nothing is kept.
  }

  #move(count: number): void {
    this.tokens -= count;
    this.out += count;
  }
}
