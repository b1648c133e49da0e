import type { InboxOptions, InboxStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { LEASE, START } from '../store/cases/store-fixtures.ts';

/** A process that dies with `count` deliveries in flight, and the store that it leaves. */
async function died(count: number, options: Partial<InboxOptions> = {}): Promise<() => InboxStore> {
  const state = new MemoryState();
  const dying = new InboxBench({ ...options, store: new MemoryStore(state), concurrency: count });
  for (let at = 0; at < count; at += 1) void dying.send(String(at), String(at));
  await dying.advance(0);
  await dying.advance(0);
  expect(dying.calls).toHaveLength(count);
  return () => new MemoryStore(state);
}

describe('deliveries in flight when a process died', () => {
  it('run in groups that double while the process lives', async () => {
    const store = await died(40);
    const next = new InboxBench(
      {
        store: store(),
        concurrency: 40,
      },
      START + LEASE,
    );
    const groups: number[] = [];
    for (let begun = 0; begun < 40; begun += groups.at(-1) ?? 0) {
      await next.advance(1000);
      const group = next.calls.slice(begun);
      groups.push(group.length);
      for (const { finish } of group) await finish();
    }
    // One at a time would take 40 rounds.
    expect(groups).toEqual([1, 2, 4, 8, 16, 9]);
    expect(next.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 40 } });
  });

  it('run in the same groups although their attempts fail', async () => {
    const store = await died(7);
    const retry = { firstDelayMs: 600_000 };
    const next = new InboxBench({ store: store(), concurrency: 9, retry }, START + LEASE);
    const groups: number[] = [];
    for (let begun = 0; begun < 7; begun += groups.at(-1) ?? 0) {
      await next.advance(1000);
      const group = next.calls.slice(begun);
      groups.push(group.length);
      for (const { fail } of group) await fail();
    }
    expect(groups).toEqual([1, 2, 4]);
  });

  it('run in the same groups with one delivery per key', async () => {
    const options: Partial<InboxOptions> = { maxConcurrencyPerKey: 1, keyGenerator: ({ text }) => text() };
    const store = await died(7, options);
    const next = new InboxBench({ ...options, store: store(), concurrency: 9 }, START + LEASE);
    const groups: number[] = [];
    for (let begun = 0; begun < 7; begun += groups.at(-1) ?? 0) {
      await next.advance(1000);
      const group = next.calls.slice(begun);
      groups.push(group.length);
      for (const { finish } of group) await finish();
    }
    expect(groups).toEqual([1, 2, 4]);
  });

  it('run one at a time with few attempts', async () => {
    const store = await died(5);
    const retry = { attempts: 2 };
    const next = new InboxBench(
      {
        store: store(),
        retry,
        concurrency: 5,
      },
      START + LEASE,
    );
    for (let begun = 0; begun < 5; begun += 1) {
      await next.advance(1000);
      expect(next.calls).toHaveLength(begun + 1);
      await next.last.finish();
    }
  });

  it.each([0, 1, 5, 20, 39])(
    'are isolated from the one that kills, at little cost: number %d of 40',
    async (killer) => {
      const store = await died(40);
      let wallMs = START;
      let lives = 0;
      let rounds = 0;
      for (;;) {
        wallMs += LEASE;
        lives += 1;
        expect(lives).toBeLessThan(40);
        const born = wallMs;
        const bench = new InboxBench(
          {
            store: store(),
            concurrency: 40,
            retry: { attempts: 5 },
          },
          born,
        );
        let isDead = false;
        for (let seen = 0; !isDead; rounds += 1) {
          await bench.advance(1000);
          const group = bench.calls.slice(seen);
          seen = bench.calls.length;
          if (group.length === 0) break;
          isDead = group.some(({ delivery }) => delivery.id === String(killer));
          // It kills before any handler has ended.
          if (!isDead) for (const { finish } of group) await finish();
        }
        wallMs += bench.clock.now();
        if (isDead) continue;
        const shelf = await bench.inbox.deadLetters.list();
        expect(shelf.map(({ id }) => id)).toEqual([String(killer)]);
        expect(bench.inbox.snapshot().depth).toBe(0);
        break;
      }
      // Five attempts and the stranding that does not count, the first one in the process that died first.
      expect(lives).toBe(6);
      expect(rounds).toBeLessThan(40);
    },
  );

  it.each<[string, Partial<InboxOptions>]>([
    ['processBatch', { process: undefined }],
    ['coalesce', { coalesce: () => 'one' }],
  ])('are given back before other handlers of their key start, with %s', async (name, options) => {
    const state = new MemoryState();
    const dying = new InboxBench({ store: new MemoryStore(state), concurrency: 3 });
    for (const id of ['a', 'b', 'c']) void dying.send(id);
    await dying.advance(0);
    await dying.advance(0);
    expect(dying.calls).toHaveLength(3);
    const claimed: number[] = [];
    const handle = (): Promise<never> => {
      claimed.push(state.stats().inFlight);
      return new Promise<never>(() => undefined);
    };
    const processing = name === 'coalesce' ? { process: handle } : { processBatch: handle };
    const next = new InboxBench(
      { ...options, ...processing, store: new MemoryStore(state), concurrency: 4 },
      START + LEASE,
    );
    await next.inbox.pause();
    await Promise.all([next.send('d'), next.send('e')]);
    await next.advance(0);
    await next.inbox.resume();
    await next.advance(1000);
    // One of the dead process, and the two that are new.
    expect(claimed).toEqual([3, 3]);
  });
});
