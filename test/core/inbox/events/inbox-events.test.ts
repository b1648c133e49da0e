import { type InboxAnswer, type InboxEvent, type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

const shop: SenderProfile = {
  name: 'shop',
  match: { header: 'x-shop' },
  source: 'https://example.org',
  verifiedAt: '2026-11-20',
};

const FROM_SHOP = { 'x-shop': '1' };

/** The events of this type. */
function reported<T extends InboxEvent['type']>(bench: InboxBench, type: T): (InboxEvent & { type: T })[] {
  return bench.events.filter((event): event is InboxEvent & { type: T } => event.type === type);
}

function secondsOf({ headers }: InboxAnswer): number {
  return Number(headers['Retry-After']);
}

describe('the events of an inbox', () => {
  it('name the sender of a delivery, whatever its key is', async () => {
    const bench = new InboxBench({
      senders: [shop],
      keyGenerator: () => 'tenant 7',
      concurrency: 1,
      capacity: 2,
      maxHandlingMs: 1000,
      retry: { attempts: 2, firstDelayMs: 0, maxDelayMs: 0 },
    });
    await bench.deliver('a', '{}', FROM_SHOP);
    await bench.deliver('a', '{}', FROM_SHOP);
    await bench.deliver('a', '{"other":1}', FROM_SHOP);
    await bench.deliver('b', '{}', FROM_SHOP);
    await bench.deliver('c', '{}', FROM_SHOP);
    await bench.last.fail();
    await bench.advance(1500);
    await bench.last.fail();
    await bench.advance(2000);
    await bench.last.finish();
    const named = bench.events.flatMap((event) => ('sender' in event ? [[event.type, event.sender]] : []));
    const types = ['stored', 'duplicate', 'conflict', 'refused', 'started', 'failed', 'dead', 'overdue'];
    for (const type of types) expect(named).toContainEqual([type, 'shop']);
    expect(new Set(named.map(([, sender]) => sender))).toEqual(new Set(['shop']));
  });

  it('have no sender if it was not recognized', async () => {
    const bench = new InboxBench();
    await bench.deliver('a');
    await bench.last.finish();
    const named = bench.events.flatMap((event) => ('sender' in event ? [[event.type, event.sender]] : []));
    expect(named).toEqual([
      ['stored', undefined],
      ['started', undefined],
      ['completed', undefined],
    ]);
  });

  it('say how long a handler took that completed its delivery, and no reason beside it', async () => {
    const bench = new InboxBench();
    await bench.deliver('a');
    await bench.advance(250);
    await bench.last.finish();
    const [completed] = reported(bench, 'completed');
    expect(completed).toMatchObject({ id: 'a', tookMs: 250 });
    expect(Object.keys(completed ?? {})).not.toContain('as');
    expect(Object.keys(bench.inbox.snapshot().totals)).not.toContain('undefined');
  });

  it('say how long a handler took that failed, was overdue, or was not called', async () => {
    const bench = new InboxBench({
      concurrency: 1,
      maxHandlingMs: 1000,
      retry: { attempts: 2, firstDelayMs: 200, maxDelayMs: 200 },
    });
    await bench.deliver('a');
    await bench.advance(250);
    await bench.last.fail();
    await bench.advance(300);
    expect(reported(bench, 'failed')).toMatchObject([{ id: 'a', tookMs: 250 }]);
    await bench.advance(1100);
    const [dead] = reported(bench, 'dead');
    expect(dead).toMatchObject({ id: 'a', attempt: 2 });
    expect(dead?.tookMs).toBeGreaterThanOrEqual(1000);
    expect(dead?.tookMs).toBeLessThanOrEqual(1100);

    await bench.deliver('b');
    await bench.last.fail();
    bench.inbox.update({ retry: { attempts: 1 } });
    await bench.advance(500);
    expect(reported(bench, 'dead').slice(1)).toMatchObject([{ id: 'b', tookMs: 0 }]);
  });
});

describe('the event of a commit', () => {
  /** A store whose puts end when the test says so. */
  function slow(): { store: InboxStore; end: (error?: Error) => Promise<void> } {
    const store = memoryStore();
    const put = store.put.bind(store);
    let endPut: ((error?: Error) => void) | undefined;
    store.put = (...given) =>
      new Promise((resolve, reject) => {
        endPut = (error) => {
          if (error === undefined) resolve(put(...given));
          else reject(error);
        };
      });
    const end = (error?: Error): Promise<void> => {
      endPut?.(error);
      return turns();
    };
    return { store, end };
  }

  it('says how many deliveries it held and how long it took, before they are reported as stored', async () => {
    const { store, end } = slow();
    const bench = new InboxBench({ store });
    const sending = [bench.send('a'), bench.send('b'), bench.send('a')];
    await turns();
    bench.clock.advance(40);
    await end();
    await Promise.all(sending);
    expect(reported(bench, 'committed')).toMatchObject([{ deliveries: 3, tookMs: 40 }]);
    expect(bench.told('committed', 'stored', 'duplicate')).toEqual([
      'committed',
      'stored a',
      'stored b',
      'duplicate a',
    ]);
  });

  it('does not come if the commit fails', async () => {
    const { store, end } = slow();
    const bench = new InboxBench({ store });
    const sending = bench.send('a');
    await turns();
    await end(new Error('disk full'));
    expect((await sending)?.status).toBe(503);
    expect(bench.told('committed', 'store-failed')).toEqual(['store-failed']);
  });
});

describe('the snapshot of an inbox', () => {
  it.each(['put', 'claim'] as const)('says that the store fails, until it works again: %s', async (call) => {
    const store = memoryStore();
    const own = store[call].bind(store);
    const bench = new InboxBench({ store });
    await bench.deliver('a');
    expect(bench.inbox.snapshot().isStoreFailing).toBe(false);
    Object.assign(store, { [call]: () => Promise.reject(new Error('disk full')) });
    await bench.deliver('b');
    expect(bench.inbox.snapshot().isStoreFailing).toBe(true);
    await bench.advance(5000);
    expect(bench.inbox.snapshot().isStoreFailing).toBe(true);
    Object.assign(store, { [call]: own });
    await bench.advance(20_000);
    await bench.deliver('c');
    expect(bench.inbox.snapshot().isStoreFailing).toBe(false);
  });

  it('counts every request, and refusals by status and reason', async () => {
    const bench = new InboxBench({ capacity: 1, maxBodyBytes: 10, shed: { off: true }, statusCode: 429 });
    await bench.deliver('a');
    await bench.deliver('a');
    await bench.deliver('b');
    bench.inbox.update({ statusCode: 503, capacity: 100 });
    await bench.deliver('c', 'x'.repeat(11));
    bench.inbox.update({ shed: { default: true } });
    await bench.deliver('d');
    const { totals } = bench.inbox.snapshot();
    const { arrivals, stored, duplicate, tooLarge, refused, refusedByStatus } = totals;
    const none = { shedding: 0, full: 0, wait: 0, displaced: 0, pressure: 0, shed: 0, closing: 0 };
    expect({ arrivals, stored, duplicate, tooLarge }).toEqual({
      arrivals: 5,
      stored: 1,
      duplicate: 0,
      tooLarge: 1,
    });
    expect(refusedByStatus).toEqual({ 429: { ...none, full: 2 }, 503: { ...none, shed: 1 } });
    expect(refused).toEqual({ ...none, full: 2, shed: 1 });
  });

  it('counts kept and missed promises, and shows the bookings ahead', async () => {
    const bench = new InboxBench({ capacity: 10, concurrency: 1, retryAfter: { strategy: 'booked' } });
    for (let at = 0; at < 10; at += 1) {
      await bench.deliver(`early ${String(at)}`);
      await bench.advance(100);
      await bench.last.finish();
    }
    for (let at = 0; at < 8; at += 1) await bench.deliver(String(at));
    const [kept, missed] = [await bench.deliver('kept'), await bench.deliver('missed')];
    expect([kept.status, missed.status]).toEqual([503, 503]);
    const { booked, bookedAhead } = bench.inbox.snapshot();
    expect([booked, bookedAhead[0], bookedAhead.length]).toEqual([2, 2, 90]);
    await bench.advance(Math.max(secondsOf(kept), secondsOf(missed)) * 1000);
    expect((await bench.deliver('kept')).status).toBe(200);
    bench.inbox.update({ shed: { default: true } });
    for (let at = 0; at < 2; at += 1) expect((await bench.deliver('missed')).status).toBe(503);
    expect(bench.inbox.snapshot().totals.promises).toEqual({ kept: 1, missed: 1 });
  });

  it('counts a delivery once whose result is being stored while the totals are read', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, concurrency: 1 });
    const settle = store.settle.bind(store);
    let answer: () => void = () => undefined;
    store.settle = async (...given) => {
      const results = await settle(...given);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return results;
    };
    for (const id of ['a', 'b']) await bench.deliver(id);
    await bench.last.finish();
    await bench.advance(10_000);
    answer();
    await turns();
    expect(bench.inbox.snapshot().depth).toBe(1);
  });

  it('names endangered senders', async () => {
    const strict = { ...shop, switchOff: { inARow: 4 } };
    const bench = new InboxBench({ senders: [strict], shed: { shop: true } });
    for (let at = 0; at < 3; at += 1) await bench.deliver(undefined, '{}', FROM_SHOP);
    expect(bench.inbox.snapshot().endangered).toEqual(['shop']);
    bench.inbox.update({ shed: {} });
    await bench.deliver(undefined, '{}', FROM_SHOP);
    expect(bench.inbox.snapshot().endangered).toEqual([]);
  });
});
