import { BackpressureError } from '@webhook-backpressure/base';
import { type InboxAnswer, type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

function reasonOf({ body }: InboxAnswer): string {
  return (JSON.parse(body) as { reason: string }).reason;
}

describe('a store that fails', () => {
  function failing(
    call: 'put' | 'claim' | 'settle' | 'open' | 'stats',
    error = new Error('disk full'),
  ): { store: InboxStore; heal: () => void } {
    const store = memoryStore();
    const own = store[call].bind(store);
    Object.assign(store, {
      [call]: () => {
        throw error;
      },
    });
    return { store, heal: () => Object.assign(store, { [call]: own }) };
  }

  it('makes the inbox refuse deliveries until it works again', async () => {
    const { store, heal } = failing('put');
    const bench = new InboxBench({ store });
    const refused = await bench.deliver('a');
    expect([refused.status, reasonOf(refused)]).toEqual([503, 'pressure']);
    expect(bench.events.find(({ type }) => type === 'store-failed')).toMatchObject({
      call: 'put',
      error: 'disk full',
    });
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { storeFailures: 1, stored: 0 } });
    heal();
    await bench.advance(100);
    expect((await bench.deliver('a')).status).toBe(200);
    expect(bench.told('store-failed', 'store-recovered')).toEqual(['store-failed', 'store-recovered']);
  });

  it('is called less and less often, and at least once a second', async () => {
    const { store } = failing('put');
    const put = vi.spyOn(store, 'put');
    const bench = new InboxBench({ store });
    const read = (): Promise<'whole'> => Promise.reject(new Error('it was read'));
    const asked: number[] = [];
    for (let ms = 0; ms < 10_000; ms += 50) {
      const before = put.mock.calls.length;
      await bench.deliver(String(ms));
      if (put.mock.calls.length > before) asked.push(ms);
      // During a pause a refusal is cheap: the body is not read.
      const early = await bench.inbox.receive({ headers: {}, hint: '', read });
      expect(reasonOf(early as InboxAnswer)).toBe('pressure');
      await bench.advance(50);
    }
    const pauses = asked.slice(1).map((ms, at) => ms - (asked[at] ?? 0));
    expect(pauses.slice(0, 5)).toEqual([100, 200, 400, 800, 1000]);
    expect(new Set(pauses.slice(4))).toEqual(new Set([1000]));
    expect(bench.inbox.snapshot().totals).toMatchObject({ stored: 0, storeFailures: asked.length });
  });

  it('never has an unknown result acknowledged', async () => {
    const store = memoryStore();
    store.put = (batch) => batch.map(() => undefined as never);
    const bench = new InboxBench({ store });
    expect((await bench.deliver('a')).status).toBe(503);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { storeFailures: 1, stored: 0 } });
  });

  it('does not affect other deliveries when one cannot be stored', async () => {
    const store = memoryStore();
    const put = store.put.bind(store);
    store.put = (batch, options) => {
      const isBad = batch.some(({ delivery }) => delivery.id === 'bad');
      if (isBad) throw new BackpressureError('ERR_WBP_STORE_VALUE', 'It cannot be kept.');
      return put(batch, options);
    };
    const bench = new InboxBench({ store });
    const together = await Promise.all(['a', 'bad', 'b', 'c'].map((id) => bench.send(id)));
    expect(together.map((answer) => answer?.status)).toEqual([200, 503, 200, 200]);
    expect((await bench.deliver('bad')).status).toBe(503);
    expect((await bench.deliver('d')).status).toBe(200);
    expect(bench.told('store-failed', 'store-recovered')).toEqual(['store-failed', 'store-failed']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 4, totals: { stored: 4, storeFailures: 2 } });
  });

  it.each(['claim', 'settle'] as const)(
    'is called again after %s fails, less and less often, and loses no delivery',
    async (call) => {
      const { store, heal } = failing(call);
      const bench = new InboxBench({ store });
      await bench.deliver('a');
      if (call === 'settle') await bench.last.finish();
      for (let at = 0; at < 60; at += 1) await bench.advance(1000);
      const { storeFailures } = bench.inbox.snapshot().totals;
      expect(storeFailures).toBeGreaterThan(5);
      expect(storeFailures).toBeLessThan(20);
      heal();
      await bench.advance(10_000);
      if (call === 'claim') await bench.last.finish();
      expect(bench.told('completed', 'store-recovered')).toEqual(['store-recovered', 'completed a']);
      expect(bench.calls).toHaveLength(1);
    },
  );

  it('makes the inbox refuse deliveries when claims have failed for long', async () => {
    const { store, heal } = failing('claim');
    const bench = new InboxBench({ store });
    expect((await bench.deliver('a')).status).toBe(200);
    await bench.advance(29_000);
    expect((await bench.deliver('b')).status).toBe(200);
    await bench.advance(1000);
    const refused = await bench.deliver('c');
    expect([refused.status, reasonOf(refused)]).toEqual([503, 'pressure']);
    heal();
    await bench.advance(10_000);
    expect((await bench.deliver('c')).status).toBe(200);
    expect(bench.calls.map(({ delivery }) => delivery.id)).toEqual(['a', 'b', 'c']);
  });

  it('delays a redriven delivery of an idle inbox only until it works again', async () => {
    const { store, heal } = failing('stats');
    const bench = new InboxBench({ store, retry: { attempts: 1 } });
    await bench.deliver('a');
    await bench.last.fail();
    await bench.advance(5000);
    heal();
    await bench.advance(10_000);
    expect(bench.told('store-recovered')).toEqual(['store-recovered']);
    await bench.inbox.deadLetters.redrive('a');
    await turns();
    expect(bench.calls).toHaveLength(2);
  });

  it('makes createInbox throw when open throws', () => {
    expect(() => new InboxBench({ store: failing('open').store })).toThrow('disk full');
  });

  it('makes the inbox refuse deliveries while open rejects', async () => {
    const store = memoryStore();
    const open = store.open.bind(store);
    store.open = () => Promise.reject(new Error('no network'));
    const bench = new InboxBench({ store });
    expect(reasonOf(await bench.deliver('a'))).toBe('pressure');
    store.open = (nowMs) => Promise.resolve(open(nowMs));
    await bench.advance(1000);
    expect((await bench.deliver('a')).status).toBe(200);
    expect(bench.calls).toHaveLength(1);
  });

  it('is not opened again after the inbox was closed', async () => {
    const store = memoryStore();
    const open = vi.fn(() => Promise.reject(new Error('no network')));
    store.open = open;
    const bench = new InboxBench({ store });
    await turns();
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(10_000);
    await closing;
    await turns();
    expect(open).toHaveBeenCalledTimes(1);
  });
});
