import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { WorkerPool } from '../../../packages/core/src/workers/worker-pool.ts';
import { reactions } from '../harness.ts';

const source = new URL('../../../packages/core/src/workers/worker-pool.ts', import.meta.url);

/** What p-limit reports about its tasks. */
interface Limit {
  (task: () => unknown): Promise<unknown>;
  concurrency: number;
  readonly activeCount: number;
  readonly pendingCount: number;
}

const limits: Limit[] = [];
const stores: unknown[] = [];
const requests = new AsyncLocalStorage();
let create: (size: number, most?: number) => WorkerPool;

beforeEach(async () => {
  limits.length = 0;
  stores.length = 0;
  vi.resetModules();
  // The tasks of p-limit cannot be seen from outside, so it is watched while it creates them.
  vi.doMock(createRequire(source).resolve('p-limit'), async (original) => {
    const { default: pLimit } = await original<{ default: (size: number) => Limit }>();
    return {
      default: (size: number) => {
        const limit = pLimit(size);
        limits.push(limit);
        const watched = (task: () => unknown): Promise<unknown> =>
          limit(() => {
            stores.push(requests.getStore());
            return task();
          });
        return Object.defineProperty(watched, 'concurrency', {
          get: () => limit.concurrency,
          set: (concurrency: number) => {
            limit.concurrency = concurrency;
          },
        });
      },
    };
  });
  const module = await import('../../../packages/core/src/workers/worker-pool.ts');
  create = (size, most) => new module.WorkerPool(size, most);
});

/** Tasks that p-limit runs, and tasks that it would run if it could. */
async function tasks(): Promise<[running: number, queued: number]> {
  await reactions();
  const [limit] = limits;
  return [limit?.activeCount ?? -1, limit?.pendingCount ?? -1];
}

/** A queued delivery that notes its permit. */
function queued(name: string, granted: string[]): { grant(): void } {
  return { grant: () => granted.push(name) };
}

describe('the workers', () => {
  it('are tasks of p-limit, as many as the concurrency, which handle one delivery after another', async () => {
    const pool = create(3);
    expect(await tasks()).toEqual([3, 0]);
    const workers = [pool.take(), pool.take(), pool.take()];
    expect(new Set(workers).size).toBe(3);
    expect(pool.isFree).toBe(false);
    expect(await tasks()).toEqual([3, 0]);
    for (const worker of workers) pool.give(worker);
    expect(workers).toContain(pool.take());
    expect(await tasks()).toEqual([3, 0]);
  });

  it('give queued deliveries their permits in order, once their tasks run', async () => {
    const granted: string[] = [];
    const pool = create(2);
    const worker = pool.take();
    pool.grant(queued('first', granted));
    pool.take();
    pool.grant(queued('second', granted));
    expect(granted).toEqual([]);
    await reactions();
    expect(granted).toEqual(['first', 'second']);
    pool.give(worker);
    pool.take();
    pool.grant(queued('third', granted));
    expect(granted).toEqual(['first', 'second', 'third']);
  });

  it('give every permit, even if all deliveries end and the pool is closed before', async () => {
    const granted: string[] = [];
    const pool = create(1);
    for (const name of ['first', 'second', 'third']) {
      const worker = pool.take();
      pool.grant(queued(name, granted));
      pool.give(worker);
    }
    pool.close();
    expect(await tasks()).toEqual([0, 0]);
    expect(granted).toEqual(['first', 'second', 'third']);
  });

  it('are more after the concurrency was raised', async () => {
    const pool = create(3);
    pool.resize(5);
    expect(await tasks()).toEqual([5, 0]);
    for (let taken = 0; taken < 5; taken += 1) pool.take();
    expect(pool.isFree).toBe(false);
    expect(await tasks()).toEqual([5, 0]);
  });

  it('are as many as a learned concurrency may become', async () => {
    const pool = create(2, 5);
    expect(await tasks()).toEqual([5, 0]);
    pool.take();
    pool.take();
    expect(pool.isFree).toBe(false);
    pool.resize(3, 5);
    expect(pool.isFree).toBe(true);
    expect(await tasks()).toEqual([5, 0]);
  });

  it('above a lowered concurrency finish what they handle and then rest', async () => {
    const pool = create(4);
    const workers = Array.from({ length: 4 }, () => pool.take());
    pool.resize(1);
    for (const worker of workers) {
      expect(pool.isFree).toBe(false);
      pool.give(worker);
    }
    expect(pool.isFree).toBe(true);
    pool.resize(4);
    for (let taken = 0; taken < 4; taken += 1) expect(workers).toContain(pool.take());
    expect(pool.isFree).toBe(false);
    expect(await tasks()).toEqual([4, 0]);
  });

  it('are dismissed at the close: idle ones immediately, the others when they are free', async () => {
    const pool = create(3);
    const worker = pool.take();
    expect(await tasks()).toEqual([3, 0]);
    pool.close();
    expect(await tasks()).toEqual([1, 0]);
    pool.give(worker);
    pool.resize(10);
    expect(await tasks()).toEqual([0, 0]);
  });

  it('are hired as needed where the concurrency means no limit', async () => {
    const pool = create(Number.MAX_SAFE_INTEGER);
    const [ready] = await tasks();
    expect(ready).toBeLessThanOrEqual(1000);
    const workers = Array.from({ length: 1500 }, () => pool.take());
    expect(pool.isFree).toBe(true);
    expect(await tasks()).toEqual([1500, 0]);
    for (const worker of workers) pool.give(worker);
    pool.close();
    expect(await tasks()).toEqual([0, 0]);
  });

  it('run in the async context of the intake, not of the request that needed them', async () => {
    const pool = requests.run('the intake', () => create(Number.MAX_SAFE_INTEGER));
    requests.run('a request', () => {
      for (let taken = 0; taken < 1001; taken += 1) pool.take();
    });
    expect(await tasks()).toEqual([1001, 0]);
    expect(new Set(stores)).toEqual(new Set(['the intake']));
  });
});
