import { createRequire } from 'node:module';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerPool } from '../../../packages/core/src/workers/worker-pool.ts';
import { reactions } from '../harness.ts';

const source = new URL('../../../packages/core/src/workers/worker-pool.ts', import.meta.url);

/** What p-limit tells about its tasks. */
interface Limit {
  readonly activeCount: number;
  readonly pendingCount: number;
}

const limits: Limit[] = [];
let create: (size: number) => WorkerPool;

beforeEach(async () => {
  limits.length = 0;
  vi.resetModules();
  // The workers are tasks of p-limit and nobody sees them from outside, so it is watched as it makes them.
  vi.doMock(createRequire(source).resolve('p-limit'), async (original) => {
    const { default: pLimit } = await original<{ default: (size: number) => Limit }>();
    return {
      default: (size: number) => {
        const limit = pLimit(size);
        limits.push(limit);
        return limit;
      },
    };
  });
  const module = await import('../../../packages/core/src/workers/worker-pool.ts');
  create = (size) => new module.WorkerPool(size);
});

/** Workers that p-limit runs, and that it would run if it could. */
async function workers(): Promise<[running: number, queued: number]> {
  await reactions();
  const [limit] = limits;
  return [limit?.activeCount ?? -1, limit?.pendingCount ?? -1];
}

describe('the workers', () => {
  it('are tasks of p-limit, as many as the concurrency, before and after an update', async () => {
    const pool = create(3);
    expect(await workers()).toEqual([3, 0]);
    pool.resize(5);
    expect(await workers()).toEqual([5, 0]);
    pool.resize(2);
    expect(await workers()).toEqual([2, 0]);
  });

  it('above a lowered concurrency finish what they handle and then leave', async () => {
    const pool = create(4);
    for (let i = 0; i < 4; i += 1) pool.take();
    pool.resize(1);
    expect(pool.isFree).toBe(false);
    expect(await workers()).toEqual([4, 0]);
    pool.give();
    pool.give();
    expect(pool.isFree).toBe(false);
    expect(await workers()).toEqual([2, 0]);
    pool.give();
    pool.give();
    expect(pool.isFree).toBe(true);
    expect(await workers()).toEqual([1, 0]);
  });

  it('all end at the close, and none is hired after it', async () => {
    const pool = create(3);
    pool.take();
    pool.close();
    expect(await workers()).toEqual([0, 0]);
    pool.give();
    pool.resize(10);
    expect(await workers()).toEqual([0, 0]);
  });

  it('of a concurrency that stands for no limit are hired when they are needed', async () => {
    const pool = create(Number.MAX_SAFE_INTEGER);
    const [ready] = await workers();
    expect(ready).toBeLessThanOrEqual(1000);
    for (let i = 0; i < 1500; i += 1) pool.take();
    expect(pool.isFree).toBe(true);
    expect(await workers()).toEqual([1500, 0]);
    pool.close();
    expect(await workers()).toEqual([0, 0]);
  });
});
