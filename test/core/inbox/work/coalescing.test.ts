import { memoryStore, type InboxDelivery, type InboxOptions } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

/** The group of a delivery is the letter that its id begins with; `-` for none. */
const byLetter = ({ id }: InboxDelivery): string | null => (id.startsWith('-') ? null : id.slice(0, 1));

/** Stores deliveries, each a millisecond later than the one before, while nothing is processed. */
async function stored(options: Partial<InboxOptions>, ids: readonly string[]): Promise<InboxBench> {
  const bench = new InboxBench({ coalesce: byLetter, ...options });
  await bench.inbox.pause();
  for (const id of ids) {
    await bench.deliver(id);
    bench.clock.advance(1);
  }
  await bench.inbox.resume();
  await turns(20);
  return bench;
}

const started = (bench: InboxBench): string[] => bench.calls.map(({ delivery }) => delivery.id);

describe('coalesce', () => {
  it('excludes complete(), which would complete one delivery of a group', async () => {
    const settleIn = vi.fn(() => true);
    const store = Object.assign(memoryStore(), { settleIn });
    const bench = await stored({ store }, ['a1', 'a2']);
    expect(() => bench.last.complete({})).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_TRANSACTION' }) as Error,
    );
    expect(settleIn).not.toHaveBeenCalled();
    await bench.last.finish();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0 });
  });

  it('processes the newest delivery of a group, and completes the older ones with it', async () => {
    const bench = await stored({ concurrency: 1 }, ['a1', 'b1', 'a2', '-1', 'a3', '-2', 'b2']);
    expect(started(bench)).toEqual(['a3']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 7 });
    for (let at = 0; at < 4; at += 1) await bench.calls[at]?.finish();
    expect(started(bench)).toEqual(['a3', 'b2', '-1', '-2']);
    const completed = bench.events.flatMap((event) =>
      event.type === 'completed' ? [`${event.id} ${event.as ?? 'ran'}`] : [],
    );
    expect(completed.sort()).toEqual([
      '-1 ran',
      '-2 ran',
      'a1 coalesced',
      'a2 coalesced',
      'a3 ran',
      'b1 coalesced',
      'b2 ran',
    ]);
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      bytes: 0,
      totals: { started: 4, completed: 7, coalesced: 3, failed: 0 },
    });
    expect((await bench.deliver('a1')).body).toContain('duplicate');
  });

  it('reports how long the handler took for the newest alone', async () => {
    const bench = await stored({ concurrency: 1 }, ['a1', 'a2']);
    await bench.advance(300);
    await bench.last.finish();
    const took = bench.events.flatMap((event) =>
      event.type === 'completed' ? [[event.id, event.tookMs]] : [],
    );
    expect(took.sort()).toEqual([
      ['a1', 0],
      ['a2', 300],
    ]);
  });

  it('gives the older ones back when another process takes over the newest before it starts', async () => {
    const store = memoryStore();
    const bench = await stored({ store, concurrency: 5, maxStartsPerSecond: 0.05 }, ['b1', 'a1', 'a2']);
    expect(started(bench)).toEqual(['b1']);
    store.renew = (claims) => claims.map(({ id }) => id !== 'a2');
    await bench.advance(10_000);
    expect(bench.told('lost', 'released')).toEqual(['lost a2', 'released a1']);
  });

  it('reports once an older one that another process takes over, and completes the others', async () => {
    const store = memoryStore();
    const bench = await stored({ store, concurrency: 1 }, ['a1', 'a2', 'a3']);
    store.renew = (claims) => claims.map(({ id }) => id !== 'a1');
    store.settle = (settlements) => settlements.map(({ id }) => id !== 'a1');
    await bench.advance(10_000);
    await bench.last.finish();
    expect(bench.told('lost', 'completed').sort()).toEqual(['completed a2', 'completed a3', 'lost a1']);
  });

  it('lets older ones wait for the retry of the newest, without an attempt of their own', async () => {
    const bench = await stored(
      { retry: { attempts: 2, firstDelayMs: 1000, maxDelayMs: 1000 }, concurrency: 1 },
      ['a1', 'a2', 'a3'],
    );
    await bench.last.fail();
    expect(bench.told('failed', 'completed')).toEqual(['failed a3']);
    await bench.advance(499);
    expect(started(bench)).toEqual(['a3']);
    await bench.advance(501);
    expect(started(bench)).toEqual(['a3', 'a3']);
    expect(bench.last.attempt).toBe(2);
    // The last attempt: the next newest is processed.
    await bench.last.fail();
    expect(bench.told('dead')).toEqual(['dead a3']);
    expect(started(bench)).toEqual(['a3', 'a3', 'a2']);
    expect(bench.last.attempt).toBe(1);
    await bench.last.finish();
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, deadLetters: 1, totals: { coalesced: 1 } });
  });

  it('gives all back when the inbox closes, and when the handler takes too long', async () => {
    const closing = await stored({}, ['a1', 'a2']);
    const closed = closing.inbox.close({ timeoutMs: 10 });
    await closing.advance(10);
    await closed;
    expect(closing.told('released').sort()).toEqual(['released a1', 'released a2']);

    const slow = await stored({ maxHandlingMs: 1000, concurrency: 1 }, ['a1', 'a2']);
    await slow.advance(1200);
    expect(slow.told('overdue', 'failed', 'released').sort()).toEqual([
      'failed a2',
      'overdue a2',
      'released a1',
    ]);
    await slow.last.finish();
    await slow.advance(5000);
    expect(started(slow)).toEqual(['a2', 'a2']);
    await slow.last.finish();
    expect(slow.inbox.snapshot().depth).toBe(0);
  });

  it('keeps keys and handlers apart, also encrypted', async () => {
    const seen: string[] = [];
    const note =
      (name: string) =>
      ({ id, key }: InboxDelivery): void => {
        seen.push(`${name} ${key} ${id}`);
      };
    const bench = new InboxBench({
      process: note('rest'),
      on: { '*': note('all'), '*:e': note('e') },
      keyGenerator: ({ headers }) => headers['x-key'],
      coalesce: ({ json }) => (json() as { g: string }).g,
      encrypt: { keys: { a: new Uint8Array(32) } },
      concurrency: 1,
    });
    await bench.inbox.pause();
    for (const [id, key] of [
      ['1', 'x'],
      ['2', 'x'],
      ['3', 'y'],
    ] as const)
      await bench.send(id, '{"type":"e","g":"g"}', { 'x-key': key });
    await bench.inbox.resume();
    await vi.waitFor(() => {
      expect(bench.inbox.snapshot().depth).toBe(0);
    });
    expect(seen.sort()).toEqual(['all x 2/*', 'all y 3/*', 'e x 2/*:e', 'e y 3/*:e']);
  });

  it('looks at fewer deliveries of a key whose groups differ', async () => {
    const store = memoryStore();
    const counts: number[] = [];
    const claimKeys = store.claimKeys.bind(store);
    Object.assign(store, {
      claimKeys: (...args: Parameters<typeof claimKeys>) => {
        counts.push(...args[0].map(({ count }) => count));
        return claimKeys(...args);
      },
    });
    const bench = new InboxBench({
      store,
      concurrency: 1,
      process: () => undefined,
      coalesce: ({ id }) => id,
    });
    await bench.inbox.pause();
    await Promise.all(Array.from({ length: 300 }, (_, at) => bench.send(String(at))));
    await bench.inbox.resume();
    while (bench.inbox.snapshot().depth > 0) await turns(1);
    expect(counts.slice(0, 6)).toEqual([100, 50, 25, 12, 8, 8]);
    expect(bench.inbox.snapshot().totals).toMatchObject({ started: 300, completed: 300, coalesced: 0 });
  });

  it('passes the newest of each group to processBatch', async () => {
    const batches: string[][] = [];
    const bench = await stored(
      {
        process: undefined,
        processBatch: (deliveries) => {
          batches.push(deliveries.map(({ id }) => id));
          return deliveries.map(({ id }) =>
            id === 'b2' && batches.length === 1 ? new Error('no') : undefined,
          );
        },
        retry: { firstDelayMs: 1000 },
      },
      ['a1', 'b1', 'a2', '-1', '-2', 'b2'],
    );
    expect(batches).toEqual([['a2', '-1', '-2', 'b2']]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 2, totals: { coalesced: 1, completed: 4 } });
    await bench.advance(1000);
    expect(batches[1]).toEqual(['b2']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { coalesced: 2, completed: 6 } });
  });

  it.each([
    ['garbage', () => 7 as never],
    ['a promise', () => Promise.resolve('a') as never],
    [
      'an error',
      () => {
        throw new Error('no group');
      },
    ],
  ])('fails the attempt for %s', async (_, coalesce) => {
    for (const shape of [{}, { process: undefined, processBatch: () => undefined }]) {
      const bench = await stored({ coalesce, ...shape }, ['a', 'b']);
      expect(bench.calls).toEqual([]);
      expect(bench.told('failed').sort()).toEqual(['failed a', 'failed b']);
      await bench.inbox.close();
    }
  });
});
