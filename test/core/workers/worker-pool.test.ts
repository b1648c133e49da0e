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
let create: (size: number) => WorkerPool;

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
          set: (concurrency: number) => {
            limit.concurrency = concurrency;
          },
        });
      },
    };
  });
  const module = await import('../../../packages/core/src/workers/worker-pool.ts');
  create = (size) => new module.WorkerPool(size);
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
  it('are tasks of p-limit, hired when they are first needed', async () => {
    const pool = create(3);
    expect(await tasks()).toEqual([0, 0]);
    const first = pool.take();
    pool.take();
    expect(await tasks()).toEqual([2, 0]);
    pool.take();
    expect(pool.isFree).toBe(false);
    expect(await tasks()).toEqual([3, 0]);
    pool.give(first);
    expect(pool.take()).toBe(first);
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
    const pool = create(1);
    pool.take();
    expect(pool.isFree).toBe(false);
    pool.resize(3);
    pool.take();
    pool.take();
    expect(pool.isFree).toBe(false);
    expect(await tasks()).toEqual([3, 0]);
  });

  it('above a lowered concurrency finish what they handle and then rest', async () => {
    const pool = create(4);
    const workers = [1, 2, 3, 4].map(() => pool.take());
    pool.resize(1);
    for (const [at, worker] of workers.entries()) {
      expect(pool.isFree).toBe(false);
      expect(await tasks()).toEqual([4, 0]);
      pool.give(worker);
      expect(pool.active).toBe(3 - at);
    }
    expect(pool.isFree).toBe(true);
    pool.resize(4);
    for (let at = 0; at < 4; at += 1) expect(workers).toContain(pool.take());
    expect(await tasks()).toEqual([4, 0]);
  });

  it('are dismissed at the close: idle ones immediately, the others when they are free', async () => {
    const pool = create(3);
    const [first, second] = [pool.take(), pool.take()];
    pool.give(second);
    expect(await tasks()).toEqual([2, 0]);
    pool.close();
    expect(await tasks()).toEqual([1, 0]);
    pool.give(first);
    expect(await tasks()).toEqual([0, 0]);
  });

  it('are hired only as needed where the concurrency means no limit', async () => {
    const pool = create(Number.MAX_SAFE_INTEGER);
    expect(await tasks()).toEqual([0, 0]);
    const workers = Array.from({ length: 1500 }, () => pool.take());
    expect(pool.isFree).toBe(true);
    expect(await tasks()).toEqual([1500, 0]);
    for (const worker of workers) pool.give(worker);
    pool.close();
    expect(await tasks()).toEqual([0, 0]);
  });

  it('run in the async context of the intake, not of the request that needed them', async () => {
    const pool = requests.run('the intake', () => create(2));
    requests.run('a request', () => pool.take());
    expect(await tasks()).toEqual([1, 0]);
    expect(stores).toEqual(['the intake']);
  });
});
