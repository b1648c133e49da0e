import type { InboxStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import { Tier } from '../core/inbox/roles/tier.ts';
import { page, rowsOf, sectionOf } from './pages.ts';

const manyMachines = page('docs/many-machines.md');

describe('docs/many-machines.md, about five connections', () => {
  const rows = rowsOf(
    sectionOf(manyMachines, 'Five database connections over four pods'),
    'Processes with workers',
  );

  it.each([
    ['one;', [5], 5],
    ['four:', [1, 1, 1, 1], 4],
    ['two,', [3, 2], 5],
  ])('says how many handlers run in the processes: %s', async (start, concurrencies, most) => {
    const row = rows.find((one) => one['Processes with workers']?.startsWith(start));
    expect(row?.['`concurrency` of each']).toBe([...new Set(concurrencies)].join(' and '));
    expect(row?.['Handlers at a time']).toBe(String(most));
    const tier = new Tier();
    const receiver = tier.addReceiver();
    for (let at = 0; at < 20; at += 1) await tier.send(receiver);
    let active = 0;
    let peak = 0;
    const begin = (): number => {
      active += 1;
      peak = Math.max(peak, active);
      return 1000;
    };
    const workers = concurrencies.map((concurrency) => tier.addWorker(begin, { concurrency }));
    for (const worker of workers) worker.subscribe(({ type }) => (active -= type === 'completed' ? 1 : 0));
    await tier.pass(30_000, 500);
    expect(workers.reduce((sum, worker) => sum + worker.snapshot().totals.completed, 0)).toBe(20);
    expect(peak).toBe(most);
    await tier.close();
  });
});

const HOUR_MS = 3_600_000;
const CALLS = ['put', 'claim', 'settle', 'renew', 'stats'] as const;

/** Makes calls of a store fail, and counts them. Returns a function that ends it. */
function takeAway(store: InboxStore): { readonly made: Record<string, number>; readonly end: () => void } {
  const made: Record<string, number> = {};
  const spies = CALLS.map((call) =>
    vi.spyOn(store, call).mockImplementation(() => {
      made[call] = (made[call] ?? 0) + 1;
      throw new Error('connect ECONNREFUSED');
    }),
  );
  const end = (): void => {
    for (const spy of spies) spy.mockRestore();
  };
  return { made, end };
}

describe('docs/many-machines.md, about an hour without PostgreSQL', () => {
  const text = sectionOf(manyMachines, 'PostgreSQL is down for an hour')
    .map(({ raw }) => raw)
    .join('');

  it('says what senders get, how often the store is called, and when workers start again', async () => {
    let seed = 1;
    const random = (): number => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647;
    const bench = new InboxBench({ concurrency: 1, random });
    for (const id of ['running', 'stored']) await bench.deliver(id);
    const { made, end } = takeAway(bench.store);
    const waits: number[] = [];
    for (let ms = 0; ms < HOUR_MS; ms += 500) {
      const { status, body, headers } = await bench.deliver(String(ms));
      expect([status, (JSON.parse(body) as { reason: string }).reason]).toEqual([503, 'pressure']);
      waits.push(Number(headers['Retry-After']));
      if (ms === 30_000) await bench.last.finish();
      await bench.advance(500);
    }
    end();
    expect(text).toContain('a `Retry-After` of 3 to 7 s');
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...waits)).toBe(7);
    expect(text).toContain('at most one in a second from each process');
    expect(Object.values(made).reduce((sum, count) => sum + count, 0)).toBeLessThan(HOUR_MS / 1000);
    expect(text).toContain('within 10 s, receivers without workers within 1 s');
    await bench.advance(10_000);
    expect((await bench.deliver('afterwards')).status).toBe(200);
    // The handler that ran is not called again, and the other delivery has all its attempts.
    expect(bench.told('completed')).toEqual(['completed running']);
    expect(bench.calls.map(({ delivery, attempt }) => [delivery.id, attempt])).toEqual([
      ['running', 1],
      ['stored', 1],
    ]);
  });

  it('says when receivers without workers accept again', async () => {
    const tier = new Tier();
    const store = tier.store();
    const receiver = tier.addReceiver({ store });
    const { end } = takeAway(store);
    for (let at = 0; at < 120; at += 1) {
      expect((await tier.send(receiver))?.status).toBe(503);
      await tier.pass(500, 500);
    }
    end();
    await tier.pass(1000, 500);
    expect((await tier.send(receiver))?.status).toBe(200);
    await tier.close();
  });
});
