import { describe, expect, it } from 'vitest';
import { turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { limiting, sendAll } from './limited-bench.ts';

describe('freshShare', () => {
  it('gives its part of the starts to the newest deliveries, and the others to the oldest', async () => {
    const newest = ['a19', 'a18', 'a17', 'a16', 'a15'];
    for (const [freshShare, count] of [
      [0, 0],
      [0.25, 3],
      [0.5, 5],
    ] as const) {
      const bench = limiting({ a: { freshShare } }, { concurrency: 1 });
      await bench.inbox.pause();
      await sendAll(bench, 'a', 20);
      await bench.inbox.resume();
      await bench.advance(25);
      for (let at = 0; at < 11; at += 1) await bench.calls[at]?.finish();
      const ids = bench.calls.map(({ delivery }) => delivery.id);
      expect(ids.filter((id) => newest.includes(id))).toEqual(newest.slice(0, count));
      expect(ids.filter((id) => !newest.includes(id))).toEqual(
        Array.from({ length: 12 - count }, (_, at) => `a${String(at)}`),
      );
    }
  });

  it('makes one call of the store at a time', async () => {
    const store = new MemoryStore(new MemoryState());
    const claimKeys = store.claimKeys.bind(store);
    let calls = 0;
    let most = 0;
    Object.assign(store, {
      claimKeys: async (...args: Parameters<typeof claimKeys>) => {
        calls += 1;
        most = Math.max(most, calls);
        await turns(1);
        calls -= 1;
        return claimKeys(...args);
      },
    });
    const bench = limiting({ a: { freshShare: 0.5 } }, { store, concurrency: 4, process: () => undefined });
    await bench.inbox.pause();
    for (const key of ['a', 'b', 'c']) await sendAll(bench, key, 20);
    await bench.inbox.resume();
    for (let at = 0; at < 40; at += 1) await bench.advance(50);
    expect([most, bench.inbox.snapshot().depth]).toEqual([1, 0]);
  });

  it('completes retries too, when nothing new is due', async () => {
    const bench = limiting(
      { a: { freshShare: 0.5, maxConcurrent: 2 } },
      {
        process: ({ id }, { attempt }) => {
          if (attempt === 1 && id === 'a3') throw new Error('it failed');
        },
      },
    );
    await sendAll(bench, 'a', 10);
    for (let at = 0; at < 10; at += 1) await bench.advance(10_000);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { completed: 10, started: 11 } });
  });
});
