import { type Buckets, LocalBuckets } from '@webhook-backpressure/fleet';
import { RetryAfter } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { turns } from '../inbox-bench.ts';
import { limiting, sendAll, spied } from './limited-bench.ts';

/** Buckets whose calls a test notes, or answers by itself. */
function noted(own: Pick<Buckets, 'use'> & Partial<Pick<Buckets, 'take'>> = {}) {
  const local = new LocalBuckets();
  return {
    processes: 1,
    open: (...args: Parameters<LocalBuckets['open']>) => {
      local.open(...args);
    },
    take: vi.fn<Buckets['take']>((...args) => local.take(...args)),
    giveBack: vi.fn<Buckets['giveBack']>((...args) => {
      local.giveBack(...args);
    }),
    pause: vi.fn<Buckets['pause']>(),
    peek: () => null,
    forget: () => undefined,
    ...own,
  };
}

describe('the tokens of a key', () => {
  it('are given back when a delivery has waited for its start in vain', async () => {
    const bench = limiting({ a: { perMinute: 2, burst: 2 } }, { maxStartsPerSecond: 0.1 });
    await sendAll(bench, 'a', 2);
    await bench.inbox.pause('a');
    await turns();
    expect(bench.told('released')).toEqual(['released a1']);
    await bench.inbox.resume('a');
    await bench.advance(10_000);
    expect(bench.calls).toHaveLength(2);
  });

  it('are taken before the store is asked, which is asked for none without one', async () => {
    for (const wait of [() => turns(3), () => undefined]) {
      const { store, claimKeys } = spied();
      let left = 1;
      const take: Buckets['take'] = (_, count) => {
        const taken = Math.min(count, left);
        left -= taken;
        const waiting = wait();
        const grant = { taken, waitMs: 100 };
        return waiting === undefined ? grant : waiting.then(() => grant);
      };
      const bench = limiting({ a: { perSecond: 10 } }, { store, buckets: noted({ take }) });
      await sendAll(bench, 'a', 5);
      expect(bench.calls).toHaveLength(1);
      left = 1;
      await bench.advance(100);
      await turns(20);
      expect(bench.calls).toHaveLength(2);
      expect(claimKeys.mock.calls.map(([wants]) => wants.map(({ count }) => count))).toEqual([[1], [1]]);
    }
  });

  it('are given back, not used, when nothing was claimed', async () => {
    const { store, claimKeys } = spied();
    claimKeys.mockImplementation((wants) =>
      wants.map(({ key }) => ({ key, claimed: [], nextDueMs: undefined })),
    );
    const use = vi.fn<NonNullable<Buckets['use']>>((_, count) => count);
    const buckets = noted({ use });
    const bench = limiting({ a: { perSecond: 1 } }, { store, buckets });
    await sendAll(bench, 'a', 1);
    expect(use).not.toHaveBeenCalled();
    expect(buckets.giveBack.mock.calls.map(([name, count]) => [name, count])).toEqual([['inbox:a', 1]]);
  });

  it('are not given back when they are used or were too old, and are not asked for again immediately', async () => {
    for (const usable of [0, 1]) {
      const use = vi.fn<NonNullable<Buckets['use']>>(() => usable);
      const buckets = noted({ use });
      const bench = limiting({ a: { perSecond: 1000, burst: 100, weight: 3 } }, { buckets });
      await bench.inbox.pause();
      await sendAll(bench, 'a', 3);
      use.mockClear();
      buckets.giveBack.mockClear();
      await bench.inbox.resume();
      await bench.advance(25);
      await turns(100);
      expect(buckets.giveBack).not.toHaveBeenCalled();
      expect(bench.calls).toHaveLength(usable);
      expect(use).toHaveBeenCalledTimes(1);
    }
  });

  it('are used anew by a delivery that has waited for its start', async () => {
    const use = vi.fn<NonNullable<Buckets['use']>>((_, count) => count);
    const limits = { a: { perSecond: 10, burst: 2 } };
    const bench = limiting(limits, { buckets: noted({ use }), maxStartsPerSecond: 1 });
    await sendAll(bench, 'a', 2);
    const before = use.mock.calls.length;
    expect(bench.calls).toHaveLength(1);
    await bench.advance(1000);
    expect(bench.calls).toHaveLength(2);
    expect(use).toHaveBeenCalledTimes(before + 1);
  });

  it('are used once by a delivery that starts immediately', async () => {
    const use = vi.fn<NonNullable<Buckets['use']>>((_, count) => count);
    const bench = limiting({ a: { perSecond: 10 } }, { buckets: noted({ use }) });
    await sendAll(bench, 'a', 1);
    expect(bench.calls).toHaveLength(1);
    expect(use).toHaveBeenCalledTimes(1);
  });

  it('are paused by RetryAfter for a key with a rate only', async () => {
    const buckets = noted();
    const bench = limiting({ a: { maxConcurrent: 1 }, b: { perSecond: 1 } }, { buckets });
    for (const key of ['a', 'b']) {
      await sendAll(bench, key, 1);
      await bench.last.fail(new RetryAfter(5));
    }
    expect(buckets.pause.mock.calls.map(([name]) => name)).toEqual(['inbox:b']);
  });
});
