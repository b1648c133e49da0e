import type { KeyLimits, KeyPriority } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { KEYED, limiting, sendAll, startedOf } from './limited-bench.ts';
import { onTime, type Outcome, quantile, run } from './work-order-simulation.ts';

/** Ten workers with handlers of 100 ms: 100 starts per second. */
const TEN = { concurrency: 10, handlerMs: 100, forMs: 10_000 };
/** `CATCH_UP=1000000` runs the figure of docs/inbox.md: 3 GB of memory, some minutes. */
const BACKLOG = Number(process.env['CATCH_UP'] ?? 5000);

function keysOf(priority: KeyPriority, count: number): string[] {
  return Array.from({ length: count }, (_, at) => `${priority} ${String(at)}`);
}

const byName = (key: string): KeyLimits => ({ priority: key.split(' ')[0] as KeyPriority });

function outcomeOf(outcomes: ReadonlyMap<string, Outcome>, flow: string): Outcome {
  return outcomes.get(flow) ?? { arrived: 0, started: 0, waitsMs: [] };
}

function partOf(outcomes: ReadonlyMap<string, Outcome>, flow: string): number {
  let all = 0;
  for (const { started } of outcomes.values()) all += started;
  return outcomeOf(outcomes, flow).started / all;
}

describe('priorities of keys', () => {
  const flows = {
    critical: { perSecond: 50, keys: keysOf('critical', 20) },
    normal: { perSecond: 100, keys: keysOf('normal', 20) },
    bulk: { perSecond: 350, keys: keysOf('bulk', 20) },
  };

  it('start critical deliveries within a second at five times the load, and bulk all the time', async () => {
    const without = await run({ ...TEN, forMs: 5000, flows });
    const outcomes = await run({ ...TEN, flows, limits: byName });
    const critical = outcomeOf(outcomes, 'critical');
    expect(critical.arrived).toBeGreaterThan(450);
    expect(onTime(critical, 1000)).toBeGreaterThanOrEqual(0.999);
    expect(onTime(outcomeOf(without, 'critical'), 1000)).toBeLessThan(0.5);
    expect(partOf(outcomes, 'bulk')).toBeGreaterThan(0.008);
    // No worker is idle.
    expect(outcomes.get('critical')?.started).toBeGreaterThan(450);
    const started = [...outcomes.values()].reduce((sum, one) => sum + one.started, 0);
    expect(started).toBeGreaterThan(950);
  });

  it('leave a tenth to normal keys and a hundredth to bulk keys, whatever critical keys have', async () => {
    for (const concurrency of [1, 40]) {
      const outcomes = await run({
        ...TEN,
        concurrency,
        handlerMs: 10 * concurrency,
        limits: byName,
        flows: {
          critical: { perSecond: 200, keys: keysOf('critical', 3) },
          normal: { perSecond: 100, keys: keysOf('normal', 300) },
          bulk: { perSecond: 100, keys: keysOf('bulk', 50) },
        },
      });
      expect(partOf(outcomes, 'normal')).toBeGreaterThan(0.09);
      expect(partOf(outcomes, 'normal')).toBeLessThan(0.13);
      expect(partOf(outcomes, 'bulk')).toBeGreaterThan(0.008);
      expect(partOf(outcomes, 'bulk')).toBeLessThan(0.02);
    }
  });

  it('give all workers to keys that can start, whatever the others wait for', async () => {
    const bench = limiting({
      a: { priority: 'critical', maxConcurrent: 1 },
      b: { priority: 'normal', perMinute: 1 },
      c: { priority: 'bulk' },
    });
    for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 40);
    expect(['a', 'b', 'c'].map((key) => startedOf(bench, key))).toEqual([1, 1, 18]);
    for (let at = 0; at < 20; at += 1) await bench.calls[at]?.finish();
    expect(startedOf(bench, 'a')).toBe(2);
    expect(startedOf(bench, 'c')).toBe(18 + 18 + 1);
  });

  it('change with an update while a backlog waits', async () => {
    const bench = limiting({ a: { priority: 'bulk' }, b: { priority: 'normal' } }, { concurrency: 1 });
    await sendAll(bench, 'b', 30);
    await sendAll(bench, 'a', 30);
    bench.inbox.update({ limits: (key) => ({ priority: key === 'a' ? 'critical' : 'normal' }) });
    for (let at = 0; at < 8; at += 1) await bench.calls[at]?.finish();
    expect(startedOf(bench, 'a')).toBe(8);
  });
});

describe('the shares of priorities', () => {
  it('are the same when a single worker becomes free between many', async () => {
    const bench = new InboxBench({ ...KEYED, concurrency: 50, capacity: 10_000, limits: byName });
    const finished = new Set<number>();
    const finish = async (at: number): Promise<void> => {
      finished.add(at);
      await bench.calls[at]?.finish();
    };
    // The first one runs out of phase with the others.
    await sendAll(bench, 'critical first', 1);
    await bench.inbox.pause();
    for (const priority of ['critical', 'normal', 'bulk']) await sendAll(bench, priority, 1000);
    await bench.inbox.resume();
    await bench.advance(25);
    const from = bench.calls.length;
    for (let round = 0; round < 18; round += 1) {
      const running = bench.calls.map((_, at) => at).filter((at) => !finished.has(at));
      const [odd, ...others] = round === 0 ? running : [running.at(-1) ?? 0, ...running.slice(0, -1)];
      await finish(odd ?? 0);
      await turns();
      for (const at of others.slice(0, -1)) finished.add(at);
      await Promise.all(
        bench.calls.filter((_, at) => others.slice(0, -1).includes(at)).map((call) => call.finish()),
      );
      await finish(others.at(-1) ?? 0);
      await turns();
    }
    const starts = bench.calls.slice(from);
    const part = (priority: string): number =>
      starts.filter(({ delivery }) => delivery.key === priority).length / starts.length;
    expect(starts.length).toBeGreaterThan(800);
    expect(part('normal')).toBeGreaterThan(0.08);
    expect(part('bulk')).toBeGreaterThan(0.007);
  });

  it('are not used up by keys whose claims find nothing', async () => {
    const memory = new MemoryState();
    const limits = (key: string): KeyLimits => ({
      priority: key.split(' ')[0] as KeyPriority,
      maxConcurrent: key.includes('stuck') ? 1 : undefined,
    });
    const shared = { ...KEYED, limits, capacity: 10_000 };
    const other = new InboxBench({ ...shared, store: new MemoryStore(memory), concurrency: 50 });
    for (let at = 0; at < 50; at += 1) await sendAll(other, `bulk stuck ${String(at)}`, 2);
    const bench = new InboxBench({ ...shared, store: new MemoryStore(memory), concurrency: 10 });
    await bench.inbox.pause();
    await sendAll(bench, 'critical', 4000);
    await sendAll(bench, 'bulk free', 100);
    await bench.inbox.resume();
    let finished = 0;
    for (let step = 0; step < 300; step += 1) {
      other.clock.advance(100);
      await bench.advance(100);
      const { length } = bench.calls;
      await Promise.all(bench.calls.slice(finished, length).map((call) => call.finish()));
      finished = length;
    }
    expect(startedOf(bench, 'bulk free') / bench.calls.length).toBeGreaterThan(0.008);
  });

  it('move a key that the table promotes, while it waits and receives deliveries', async () => {
    const table = new Map<string, KeyPriority>();
    const bench = new InboxBench({
      ...KEYED,
      concurrency: 1,
      limits: (key) => ({ priority: table.get(key) ?? (key.split(' ')[0] as KeyPriority) }),
    });
    await sendAll(bench, 'normal', 300);
    for (let at = 0; at < 20; at += 1) await sendAll(bench, `bulk ${String(at)}`, 2);
    await sendAll(bench, 'bulk vip', 10);
    table.set('bulk vip', 'critical');
    await bench.advance(10_000);
    await sendAll(bench, 'bulk vip', 1, 10);
    for (let at = 0; at < 13; at += 1) await bench.calls[at]?.finish();
    expect(startedOf(bench, 'bulk vip')).toBeGreaterThanOrEqual(10);
  });
});

describe('freshShare', () => {
  const fresh = { perSecond: 50, keys: ['a'] };
  const twenty = { ...TEN, concurrency: 20, backlog: { count: BACKLOG, key: 'a' } };
  const forMs = Math.max(20_000, BACKLOG * 5);
  const stepMs = BACKLOG > 5000 ? 50 : 10;

  it(`starts new deliveries soon while a backlog of ${String(BACKLOG)} is processed`, async () => {
    const outcomes = await run({
      ...twenty,
      forMs,
      stepMs,
      flows: { fresh },
      limits: () => ({ freshShare: 0.3 }),
    });
    const { started } = outcomeOf(outcomes, 'backlog');
    console.log(
      `A backlog of ${String(BACKLOG)}: ${String(started)} started in ${String(forMs / 1000)} s; p99 of ${String(outcomeOf(outcomes, 'fresh').arrived)} fresh ones ${String(quantile(outcomeOf(outcomes, 'fresh'), 0.99))} ms`,
    );
    expect(quantile(outcomeOf(outcomes, 'fresh'), 0.99)).toBeLessThan(5000);
    expect(partOf(outcomes, 'backlog')).toBeGreaterThan(0.65);
  }, 1_800_000);

  it('lets them wait behind the backlog without it', async () => {
    const backlog = { count: 5000, key: 'a' };
    const outcomes = await run({ ...twenty, backlog, forMs: 20_000, flows: { fresh } });
    expect(outcomeOf(outcomes, 'fresh').started).toBe(0);
  });

  it('processes the backlog with the whole rate when nothing is new', async () => {
    const backlog = { count: 5000, key: 'a' };
    const flows = { fresh: { perSecond: 0.1, keys: ['a'] } };
    const outcomes = await run({
      ...twenty,
      backlog,
      forMs: 20_000,
      flows,
      limits: () => ({ freshShare: 0.9 }),
    });
    expect(outcomeOf(outcomes, 'backlog').started).toBeGreaterThan(3950);
  });

  it('costs a key no turn while it has only retries', async () => {
    const starts: string[] = [];
    const bench: InboxBench = limiting(
      { a: { freshShare: 0.9 } },
      {
        concurrency: 2,
        retry: { attempts: 20, firstDelayMs: 1000, maxDelayMs: 1000 },
        process: ({ id, key }, { attempt }) => {
          // Half of them, so that it is no outage.
          if (attempt === 1 && /[02468]$/.test(id)) return;
          if (attempt === 1) throw new Error('it failed');
          starts.push(key);
          return new Promise<void>((resolve) => {
            bench.clock.setTimeout(() => {
              resolve();
            }, 100);
          });
        },
      },
    );
    for (let at = 0; at < 400; at += 20) for (const key of ['a', 'b']) await sendAll(bench, key, 20, at);
    for (let at = 0; at < 80; at += 1) await bench.advance(50);
    const ofA = starts.filter((key) => key === 'a').length;
    expect(starts.length).toBeGreaterThan(40);
    expect(ofA / starts.length).toBeGreaterThan(0.45);
  });
});
