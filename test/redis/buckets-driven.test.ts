import type { BucketLimit, Buckets } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import { redisBuckets } from '@webhook-backpressure/redis';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { seeded } from '../sender/dispatch/bed.ts';
import { isRedisSkipped, redisPrefix, redisUrl } from './bed.ts';
import { DrivenServer, type CallFate } from './driven-server.ts';

const LIMITS: Readonly<Record<string, BucketLimit>> = {
  single: { amount: 1, periodMs: 1000, burst: 1 },
  quick: { amount: 10, periodMs: 1000, burst: 1 },
  slow: { amount: 20, periodMs: 60_000, burst: 1 },
  usual: { amount: 10, periodMs: 1000, burst: 50 },
  fast: { amount: 200, periodMs: 1000, burst: 50 },
  saved: { amount: 50, periodMs: 1000, burst: 250 },
};
const PROCESSES = 4;

/** Processes that always have something to start, with their starts. */
class World {
  readonly clock = manualClock();
  readonly random: () => number;
  readonly server: DrivenServer;
  readonly starts = new Map<string, number[]>(Object.keys(LIMITS).map((name) => [name, []]));
  readonly #prefix = redisPrefix();
  readonly #running: { isAlive: boolean; buckets: Buckets }[] = [];
  /** By process. */
  fateOf: (process: number) => CallFate = () => this.swift();
  lost = 0;
  /** Whether the store is slow at times, and tokens are returned. */
  isBusy = true;

  constructor(redis: Redis, seed: number) {
    this.random = seeded(seed);
    vi.spyOn(Math, 'random').mockImplementation(this.random);
    this.server = new DrivenServer(redis, this.clock);
  }

  /** Mostly fast, sometimes too slow to be of use. */
  swift(): CallFate {
    const ms = this.random() < 0.95 ? 3 : 150;
    return { thereMs: this.random() * ms, backMs: this.random() * ms, isFailed: false };
  }

  begin(number: number): void {
    const process = { isAlive: true, buckets: undefined as unknown as Buckets };
    const client = this.server.client(
      () => this.fateOf(number),
      () => process.isAlive,
    );
    process.buckets = redisBuckets(client, { prefix: this.#prefix });
    process.buckets.open?.({
      clock: this.clock,
      listener: ({ type }) => {
        if (type === 'lost') this.lost += 1;
      },
    });
    this.#running[number] = process;
    for (const [name, limit] of Object.entries(LIMITS)) void this.#use(process, name, limit);
  }

  kill(number: number): void {
    const process = this.#running[number];
    if (process === undefined) return;
    process.isAlive = false;
    process.buckets.close?.();
  }

  close(): void {
    for (const number of this.#running.keys()) this.kill(number);
  }

  async pass(ms: number): Promise<void> {
    for (const untilMs = this.clock.now() + ms; this.clock.now() < untilMs;) {
      this.clock.advance(1);
      await new Promise((resolve) => setImmediate(resolve));
      await this.server.run();
    }
  }

  async #use(
    process: { isAlive: boolean; buckets: Buckets },
    name: string,
    limit: BucketLimit,
  ): Promise<void> {
    const { buckets } = process;
    while (process.isAlive) {
      const { taken, waitMs } = await buckets.take(name, 20, limit);
      if (taken > 0) {
        // As a claim of events takes it.
        if (this.isBusy && this.random() < 0.7)
          await this.#wait(this.random() < 0.9 ? this.random() * 5 : 200);
        const wanted = this.isBusy && this.random() < 0.1 ? Math.ceil(taken / 2) : taken;
        const usable = (await buckets.use?.(name, taken, limit)) ?? taken;
        const used = Math.min(wanted, usable);
        if (!this.#isAlive(process)) return;
        const nowMs = this.clock.now();
        for (let count = 0; count < used; count += 1) this.starts.get(name)?.push(nowMs);
        if (used < usable) buckets.giveBack(name, usable - used, limit);
      }
      await this.#wait(Math.max(1, waitMs));
    }
  }

  #isAlive(process: { isAlive: boolean }): boolean {
    return process.isAlive;
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.setTimeout(resolve, ms));
  }

  /** Seconds with more starts than the limit and the burst, and the share of the rate that was used. */
  judged(): { exceeded: string[]; used: Record<string, number> } {
    const exceeded: string[] = [];
    const used: Record<string, number> = {};
    for (const [name, starts] of this.starts) {
      const { amount, periodMs, burst } = LIMITS[name] as BucketLimit;
      const allowed = burst + (amount * 1000) / periodMs;
      let from = 0;
      let most = 0;
      let atMs = 0;
      for (const [at, ms] of starts.entries()) {
        while ((starts[from] as number) <= ms - 1000) from += 1;
        if (at - from + 1 > most) [most, atMs] = [at - from + 1, ms];
      }
      if (most > allowed) exceeded.push(`${name}: ${String(most)} of ${String(allowed)} at ${String(atMs)}`);
      // One may be about to start.
      used[name] = (starts.length + 1) / (burst + (amount * this.clock.now()) / periodMs);
    }
    return { exceeded, used };
  }
}

describe.skipIf(isRedisSkipped)('redisBuckets of four processes, driven step by step', () => {
  let redis: Redis;
  let world: World;
  beforeEach(async () => {
    redis = new Redis(redisUrl, { lazyConnect: true });
    await redis.connect();
  });
  afterEach(async () => {
    world.close();
    vi.restoreAllMocks();
    await redis.quit();
  });

  function begin(seed: number): void {
    world = new World(redis, seed);
    for (let number = 0; number < PROCESSES; number += 1) world.begin(number);
  }

  const seeds = Array.from({ length: Number(process.env['DRIVEN_SEEDS'] ?? 1) }, (_, at) => at + 1);

  it('use their rates while the server is well', async () => {
    begin(1);
    world.isBusy = false;
    world.fateOf = () => ({ thereMs: world.random() * 3, backMs: world.random() * 3, isFailed: false });
    await world.pass(15_000);
    const { exceeded, used } = world.judged();
    expect(exceeded).toEqual([]);
    expect(Object.entries(used).filter(([, share]) => share < 0.95)).toEqual([]);
  });

  it.each(seeds)('keep every limit while calls are late and processes are killed (%i)', async (seed) => {
    begin(seed);
    for (let step = 0; step < 12; step += 1) {
      await world.pass(500 + world.random() * 500);
      const number = Math.floor(world.random() * PROCESSES);
      world.kill(number);
      world.begin(number);
    }
    const { exceeded } = world.judged();
    expect(exceeded).toEqual([]);
    expect(world.lost).toBe(0);
  });

  it.each(seeds)('keep every limit while the server fails for all, and is there again (%i)', async (seed) => {
    begin(seed);
    await world.pass(3000);
    const failed: CallFate = { thereMs: undefined, backMs: 1, isFailed: true };
    const goneMs = world.clock.now();
    const backMs = goneMs + 6000;
    const later = [0, 100, 900, 1500].sort(() => world.random() - 0.5);
    world.fateOf = (number) => (world.clock.now() < backMs + (later[number] ?? 0) ? failed : world.swift());
    await world.pass(12_000);
    const { exceeded } = world.judged();
    expect(exceeded).toEqual([]);
    expect(world.lost).toBe(4);
  });

  it.each(seeds)('keep every limit while the server is silent for some or all (%i)', async (seed) => {
    begin(seed);
    await world.pass(3000);
    const fromMs = world.clock.now();
    const until = [0, 1, 2, 3].map(() => fromMs + 1000 + world.random() * 3500);
    world.fateOf = (number) => {
      const leftMs = (until[number] ?? 0) - world.clock.now();
      const { thereMs, backMs } = world.swift();
      return {
        thereMs: leftMs > 0 && world.random() < 0.5 ? leftMs : thereMs,
        backMs: Math.max(leftMs, backMs),
        isFailed: false,
      };
    };
    await world.pass(8000);
    expect(world.judged().exceeded).toEqual([]);
  });
});
