import { type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';

const KEYED: Partial<InboxOptions> = { keyGenerator: ({ headers }) => headers['x-key'] };
const send = (bench: InboxBench, id: string, key: string): Promise<unknown> =>
  bench.deliver(id, '{}', { 'x-key': key });

function ids(bench: InboxBench): string[] {
  return bench.calls.map(({ delivery }) => delivery.id);
}

describe('maxConcurrencyPerKey', () => {
  it('leaves the other workers to other keys, and starts the next delivery of a key when one ends', async () => {
    const bench = new InboxBench({ ...KEYED, concurrency: 5, maxConcurrencyPerKey: 2 });
    for (const id of ['a1', 'a2', 'a3', 'a4']) await send(bench, id, 'a');
    expect(ids(bench)).toEqual(['a1', 'a2']);
    await send(bench, 'b1', 'b');
    expect(ids(bench)).toEqual(['a1', 'a2', 'b1']);
    await bench.calls[0]?.finish();
    expect(ids(bench)).toEqual(['a1', 'a2', 'b1', 'a3']);
    bench.inbox.update({ maxConcurrencyPerKey: 5 });
    await turns();
    expect(ids(bench)).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
  });

  it('accepts a fraction of the workers', async () => {
    const bench = new InboxBench({ ...KEYED, concurrency: 10, maxConcurrencyPerKey: 0.35 });
    for (let at = 0; at < 10; at += 1) await send(bench, String(at), 'a');
    expect(bench.calls).toHaveLength(3);
  });

  it('applies to the first claim after a start too', async () => {
    const state = new MemoryState();
    const first = new InboxBench({ ...KEYED, store: new MemoryStore(state), concurrency: 1 });
    await first.inbox.pause();
    for (let at = 0; at < 40; at += 1) await send(first, String(at), `key ${String(at % 3)}`);
    await first.inbox.close({ timeoutMs: 0 });
    const most = vi.fn<(key: string, count: number) => void>();
    const active = new Map<string, number>();
    const bench = new InboxBench({
      ...KEYED,
      store: new MemoryStore(state),
      concurrency: 20,
      maxConcurrencyPerKey: 3,
      process: async ({ key }) => {
        active.set(key, (active.get(key) ?? 0) + 1);
        most(key, active.get(key) ?? 0);
        await turns(3);
        active.set(key, (active.get(key) ?? 0) - 1);
      },
    });
    await bench.inbox.resume();
    await turns(400);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 40 } });
    expect(Math.max(...most.mock.calls.map(([, count]) => count))).toBe(3);
  });

  it('starves no key, and claims no more often than deliveries end', async () => {
    const store = memoryStore();
    const claim = vi.spyOn(store, 'claim');
    const bench = new InboxBench({
      ...KEYED,
      store,
      concurrency: 10,
      maxConcurrencyPerKey: 1,
      capacity: 10_000,
    });
    const done: string[] = [];
    bench.inbox.subscribe((event) => {
      if (event.type === 'completed') done.push(event.key);
    });
    for (let at = 0; at < 500; at += 1) void bench.send(`n${String(at)}`, '{}', { 'x-key': 'noisy' });
    for (let at = 0; at < 100; at += 1)
      void bench.send(`q${String(at)}`, '{}', { 'x-key': `quiet ${String(at)}` });
    await turns(30);
    claim.mockClear();
    // More handlers start meanwhile.
    for (const { finish } of bench.calls) await finish();
    expect(done).toHaveLength(600);
    expect(done.slice(0, 150).filter((key) => key !== 'noisy')).toHaveLength(100);
    // Each end of a handler causes one claim, and one that finds that no other delivery may be claimed.
    expect(claim.mock.calls.length).toBeLessThan(2.2 * 600);
    claim.mockClear();
    for (let at = 0; at < 30; at += 1) await bench.advance(1000);
    expect(claim.mock.calls.length).toBeLessThan(10);
  }, 30_000);

  it('skips 5,000 keys quickly', async () => {
    const bench = new InboxBench({
      ...KEYED,
      concurrency: 100,
      maxConcurrencyPerKey: 1,
      capacity: 50_000,
      process: () => undefined,
    });
    await bench.inbox.pause();
    for (let at = 0; at < 5000; at += 1) void bench.send(String(at), '{}', { 'x-key': String(at) });
    await turns(200);
    expect(bench.inbox.snapshot().depth).toBe(5000);
    const claim = vi.spyOn(bench.store, 'claim');
    await bench.inbox.resume();
    const done = (): number => bench.inbox.snapshot().totals.completed;
    for (let at = 0; at < 5000 && done() < 1250; at += 1) await turns(1);
    expect(done()).toBeGreaterThanOrEqual(1250);
    expect(claim.mock.calls.length).toBeLessThan(2 * done());
    const passed = claim.mock.calls.map(([, { except }]) => except.size);
    expect(Math.max(...passed)).toBeLessThanOrEqual(100);
  }, 90_000);
});

describe('ordered', () => {
  it('runs the deliveries of a key one at a time in the order of arrival, and the keys concurrently', async () => {
    const bench = new InboxBench({ ...KEYED, ordered: true, concurrency: 10 });
    for (const id of ['a1', 'a2', 'a3']) await send(bench, id, 'a');
    await send(bench, 'b1', 'b');
    expect(ids(bench)).toEqual(['a1', 'b1']);
    await bench.calls[0]?.finish();
    expect(ids(bench)).toEqual(['a1', 'b1', 'a2']);
    await bench.calls[2]?.finish();
    expect(ids(bench)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('blocks a key behind a failed delivery until that is completed or a dead letter', async () => {
    const bench = new InboxBench({ ...KEYED, ordered: true, retry: { attempts: 2, firstDelayMs: 1000 } });
    for (const id of ['1', '2', '3']) await send(bench, id, 'a');
    await bench.last.fail();
    await bench.advance(500);
    expect(ids(bench)).toEqual(['1']);
    await bench.advance(500);
    expect(ids(bench)).toEqual(['1', '1']);
    await bench.last.fail();
    expect([ids(bench), bench.told('dead')]).toEqual([['1', '1', '2'], ['dead 1']]);
    await bench.last.finish();
    // Redriven, it is behind the head, and before those that arrived later.
    await send(bench, '4', 'a');
    await bench.inbox.deadLetters.redrive('1');
    await bench.last.finish();
    await bench.last.finish();
    await bench.last.finish();
    expect(ids(bench)).toEqual(['1', '1', '2', '3', '1', '4']);
    expect(bench.inbox.snapshot().depth).toBe(0);
  });

  it.each([1, 'yes', null])('rejects %j', (ordered) => {
    expect(() => new InboxBench({ ordered: ordered as unknown as boolean })).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_ORDERED' }) as Error,
    );
  });
});
