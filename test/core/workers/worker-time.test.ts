import { describe, expect, it } from 'vitest';
import type { Delivery, IntakeOptions, Permit, Refusal } from '@webhook-backpressure/core';
import { WorkerTime, type Account } from '../../../packages/core/src/workers/worker-time.ts';
import {
  createBench,
  exponential,
  letIn,
  occupy,
  seeded,
  startedNow,
  turnedAway,
  type Bench,
} from '../harness.ts';
import { arrivals, percentile, runUntil } from '../workshop.ts';

const WORKERS = 10;

interface Tenant {
  readonly key: string;
  readonly serviceMs: number;
  readonly perSecond: number;
  readonly fromMs?: number;
}

class Took {
  brought = 0;
  workedMs = 0;
  readonly delaysMs: number[] = [];
  readonly statuses = new Set<number>();
}

/** Tenants whose handlers take different times, with one intake, measured from `measuredMs` on. */
async function contend(
  tenants: readonly Tenant[],
  options: IntakeOptions,
  untilMs: number,
  measuredMs: number,
  seed = 1,
): Promise<Map<string, Took>> {
  const random = seeded(seed);
  const bench = createBench({ concurrency: WORKERS, random, ...options });
  const { clock, intake } = bench;
  const accounts = new Map(tenants.map(({ key }) => [key, new Took()]));
  const bring = ({ key, serviceMs }: Tenant): void => {
    const account = accounts.get(key) as Took;
    const arrivedMs = clock.now();
    const isMeasured = arrivedMs >= measuredMs;
    if (isMeasured) account.brought += 1;
    const work = (result: Permit | Refusal): void => {
      if (!result.admitted) {
        account.statuses.add(result.status);
        return;
      }
      const tookMs = exponential(random, serviceMs);
      clock.setTimeout(() => {
        result.release();
        if (clock.now() >= measuredMs) account.workedMs += tookMs;
        if (isMeasured) account.delaysMs.push(clock.now() - arrivedMs);
      }, tookMs);
    };
    const result = intake.admit({ key });
    if (!result.admitted) work(result);
    else if (result.permit instanceof Promise) void result.permit.then(work);
    else work(result.permit);
  };
  for (const tenant of tenants) {
    clock.setTimeout(() => {
      arrivals(
        clock,
        untilMs,
        () => exponential(random, 1000 / tenant.perSecond),
        () => {
          bring(tenant);
        },
      );
    }, tenant.fromMs ?? 0);
  }
  await runUntil(clock, untilMs + 20_000);
  return accounts;
}

const greedy: Tenant = { key: 'slow', serviceMs: 3000, perSecond: 20 };
const fast: Tenant = { key: 'fast', serviceMs: 20, perSecond: 20, fromMs: 20_000 };

describe('a tenant with handlers of 20 ms beside a greedy one with 3 s', () => {
  // If turns cost the same: 21 % served, a p50 of 4.3 s, and 429. Full service needs `maxConcurrencyPerKey`: without it
  // the slow handlers hold all workers, and the effective capacity falls between two completions.
  it.each([1, 2, 3, 4, 5])('is mostly served and not blamed, seed %i', async (seed) => {
    const accounts = await contend([greedy, fast], {}, 60_000, 20_000, seed);
    const { brought, delaysMs, statuses } = accounts.get('fast') as Took;
    expect(delaysMs.length / brought).toBeGreaterThanOrEqual(0.85);
    // Its turn comes whenever one of ten handlers of 3 s ends.
    expect(percentile(delaysMs, 0.5)).toBeLessThanOrEqual(350);
    expect([...statuses]).not.toContain(429);
    expect([...(accounts.get('slow') as Took).statuses]).toEqual([429]);
  });

  it.each([0.5, 0.8, 5])(
    'is served as if it were alone if a key may have %d workers',
    async (maxConcurrencyPerKey) => {
      const alone = (await contend([fast], {}, 60_000, 20_000)).get('fast') as Took;
      const accounts = await contend([greedy, fast], { maxConcurrencyPerKey }, 60_000, 20_000);
      const { brought, delaysMs } = accounts.get('fast') as Took;
      expect(delaysMs.length / brought).toBeGreaterThanOrEqual(0.95);
      expect(percentile(delaysMs, 0.5)).toBeLessThanOrEqual(3 * percentile(alone.delaysMs, 0.5));
    },
  );
});

describe('greedy keys with different handling times', () => {
  // If turns cost the same, Jain's index is 0.51, 0.41, 0.33 and 0.49.
  it.each([[[20, 3000]], [[20, 200, 2000]], [[50, 50, 50, 1000]], [[10, 100, 100, 1000, 1000]]])(
    'get the same worker time with %j ms',
    async (times) => {
      const tenants = times.map((serviceMs, i) => ({
        key: `tenant ${String(i)}`,
        serviceMs,
        perSecond: (3000 * WORKERS) / serviceMs / times.length,
      }));
      const accounts = await contend(tenants, { capacity: 5000, maxWaitMs: 20_000 }, 120_000, 20_000);
      const worked = [...accounts.values()].map(({ workedMs }) => workedMs);
      const sum = worked.reduce((total, ms) => total + ms, 0);
      const squares = worked.reduce((total, ms) => total + ms * ms, 0);
      expect((sum * sum) / (worked.length * squares)).toBeGreaterThanOrEqual(0.98);
    },
  );
});

describe('maxConcurrencyPerKey', () => {
  function brings(bench: Bench, key: string, count: number): (Permit | undefined)[] {
    return Array.from({ length: count }, () => {
      const { permit } = letIn(bench.intake.admit({ key }));
      return permit instanceof Promise ? undefined : permit;
    });
  }

  it.each<[number, number, number]>([
    [3, 10, 3],
    [0.5, 10, 5],
    [0.25, 10, 2],
    [0.01, 10, 1],
    [50, 10, 10],
  ])('%d of %i workers are %i', (maxConcurrencyPerKey, concurrency, most) => {
    const bench = createBench({ concurrency, maxConcurrencyPerKey });
    brings(bench, 'a', 20);
    expect(bench.intake.snapshot()).toMatchObject({ active: most, depth: 20 - most });
  });

  it('leaves the other workers to other keys, which start immediately', () => {
    const bench = createBench({ concurrency: 4, maxConcurrencyPerKey: 2 });
    const [first] = brings(bench, 'a', 5);
    expect(brings(bench, 'b', 1)[0]).toBeDefined();
    expect(bench.intake.snapshot()).toMatchObject({ active: 3, depth: 3, keys: 1 });
    first?.release();
    expect(bench.intake.snapshot()).toMatchObject({ active: 3, depth: 2 });
  });

  it('follows an update, and changes of the concurrency', () => {
    const bench = createBench({ concurrency: 10, maxConcurrencyPerKey: 2 });
    const { intake } = bench;
    brings(bench, 'a', 20);
    intake.update({ maxConcurrencyPerKey: 4 });
    expect(intake.snapshot().active).toBe(4);
    intake.update({ maxConcurrencyPerKey: 0.5 });
    expect(intake.snapshot().active).toBe(5);
    intake.update({ concurrency: 14 });
    expect(intake.snapshot().active).toBe(7);
    intake.update({ maxConcurrencyPerKey: 1 });
    expect(startedNow(intake.admit({ key: 'b' })).waitedMs).toBe(0);
    expect(intake.snapshot()).toMatchObject({ active: 8, depth: 13 });
  });

  function handle(bench: Bench, tookMs: number): void {
    const permit = startedNow(bench.intake.admit({ key: 'a' }));
    bench.clock.advance(tookMs);
    permit.release();
  }

  /** A key with one worker, handlers of a second, and a queue with room for all. */
  function oneAtATime(): { readonly bench: Bench; readonly refuse: () => Refusal } {
    const bench = createBench({
      ...{ concurrency: 10, maxConcurrencyPerKey: 1, maxWaitMs: 5000 },
      retryAfter: { strategy: 'booked' },
    });
    for (let i = 0; i < 4; i += 1) handle(bench, 1000);
    return { bench, refuse: () => turnedAway(bench.intake.admit({ key: 'a' })) };
  }

  it('refuses a delivery whose key cannot start it within the longest wait', () => {
    const { bench, refuse } = oneAtATime();
    brings(bench, 'a', 6);
    expect(bench.intake.snapshot()).toMatchObject({ active: 1, depth: 5 });
    expect(refuse().reason).toBe('wait');
    expect(startedNow(bench.intake.admit({ key: 'b' })).waitedMs).toBe(0);
  });

  it('does so too if the sender waits longer, but not if it never retries', () => {
    const { bench } = oneAtATime();
    brings(bench, 'a', 6);
    expect(turnedAway(bench.intake.admit({ key: 'a', maxWaitMs: 60_000 })).reason).toBe('wait');
    expect(bench.intake.admit({ key: 'a', retries: false }).admitted).toBe(true);
  });

  it('does not refuse later deliveries because of one slow handler', () => {
    const bench = createBench({ concurrency: 10, maxConcurrencyPerKey: 1, maxWaitMs: 20_000 });
    for (let i = 0; i < 30; i += 1) handle(bench, 50);
    handle(bench, 30_000);
    brings(bench, 'a', 20);
    expect(bench.intake.snapshot()).toMatchObject({ active: 1, depth: 19 });
  });

  it('books the refused deliveries of such a key as far apart as its handlers end', () => {
    const { bench, refuse } = oneAtATime();
    brings(bench, 'a', 6);
    const seconds = Array.from({ length: 8 }, () => refuse().retryAfterSeconds);
    // An earlier retry would be refused again: one of the six is handled each second, and frees one place.
    expect(seconds).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('gives the worker of a revoked delivery to the next one of the key', () => {
    const bench = createBench({ concurrency: 2, maxConcurrencyPerKey: 1, maxHandlingMs: 1000 });
    brings(bench, 'a', 3);
    bench.clock.advance(1100);
    expect(bench.intake.snapshot()).toMatchObject({ active: 1, depth: 1 });
  });

  it('refuses queued deliveries of a key at its limit when the intake closes', async () => {
    const bench = createBench({ concurrency: 2, maxConcurrencyPerKey: 1 });
    brings(bench, 'a', 3);
    const closed = bench.intake.close({ timeoutMs: 0 });
    bench.clock.advance(100);
    expect(await closed).toMatchObject({ refused: 2, remaining: 1 });
  });
});

describe('a key that is part of the cause', () => {
  it('has queued deliveries or has held a worker', () => {
    const bench = createBench({ concurrency: 2, capacity: 10, highWaterMark: 0.5, lowWaterMark: 0.1 });
    const { intake } = bench;
    occupy(intake, 'busy');
    for (let i = 0; i < 5; i += 1) letIn(intake.admit({ key: 'busy' }));
    const status = (delivery: Delivery): number => turnedAway(intake.admit(delivery)).status;
    expect([status({ key: 'busy' }), status({ key: 'new' })]).toEqual([429, 503]);
  });
});

describe('the accounts of keys', () => {
  function handle(time: WorkerTime, key: string, atMs: number, tookMs = 10): Account {
    const account = time.take(key, atMs);
    time.give(account, atMs + tookMs, tookMs, true);
    return account;
  }

  it('of regular keys outlive 100,000 keys that are used once', () => {
    const time = new WorkerTime();
    for (let i = 0; i < 4; i += 1) handle(time, 'busy', i, 500);
    for (let i = 0; i < 100_000; i += 1) handle(time, `invented ${String(i)}`, i + 4);
    expect(time.payerOf('busy')?.cost).toBeGreaterThan(10);
    expect(time.of('invented 99999')).toBeDefined();
    expect(time.of('invented 99000')).toBeUndefined();
  });

  it('are kept while they hold a worker, and are at most 1,000 otherwise', () => {
    const time = new WorkerTime();
    const held = time.take('held', 0);
    for (let i = 0; i < 5000; i += 1) for (let n = 0; n < 3; n += 1) handle(time, String(i), i);
    expect(time.of('held')).toBe(held);
    const known = Array.from({ length: 5000 }, (_, i) => time.of(String(i))).filter(
      (one) => one !== undefined,
    );
    expect(known.length).toBe(800);
  });

  it('learn nothing from an interrupted handler', () => {
    const time = new WorkerTime();
    for (let i = 0; i < 10; i += 1) handle(time, 'usual', i);
    const account = time.take('cut', 0);
    expect(time.give(account, 60_000, 60_000, false)).toBeGreaterThan(100);
    expect(account.cost).toBe(1);
  });
});
