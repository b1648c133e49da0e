import { type InboxOptions, memoryStore, Unrecoverable } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { LEASE, START } from '../store/cases/store-fixtures.ts';

function ids(bench: InboxBench): string[] {
  return bench.calls.map(({ delivery }) => delivery.id);
}

describe('the workers of an inbox', () => {
  it('run as many handlers as the concurrency, and the next one when one ends', async () => {
    const bench = new InboxBench({ concurrency: 2 });
    for (const id of ['a', 'b', 'c', 'd']) await bench.deliver(id);
    expect(ids(bench)).toEqual(['a', 'b']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 4, active: 2, concurrency: 2 });
    await bench.calls[1]?.finish();
    expect(ids(bench)).toEqual(['a', 'b', 'c']);
    await bench.calls[0]?.finish();
    await bench.calls[2]?.finish();
    await bench.calls[3]?.finish();
    expect(bench.inbox.snapshot()).toMatchObject({
      depth: 0,
      active: 0,
      bytes: 0,
      totals: { started: 4, completed: 4 },
    });
  });

  it('take the keys in turn', async () => {
    const bench = new InboxBench({ concurrency: 1, keyGenerator: ({ headers }) => headers['x-key'] });
    for (const id of ['a1', 'a2', 'a3']) await bench.deliver(id, '{}', { 'x-key': 'a' });
    await bench.deliver('b1', '{}', { 'x-key': 'b' });
    for (let at = 0; at < 4; at += 1) await bench.calls[at]?.finish();
    expect(ids(bench)).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  it('start handlers at the drain rate', async () => {
    const bench = new InboxBench({ concurrency: 10, maxStartsPerSecond: 2 });
    for (const id of ['a', 'b', 'c', 'd']) await bench.deliver(id);
    expect(ids(bench)).toEqual(['a']);
    await bench.advance(500);
    expect(ids(bench)).toEqual(['a', 'b']);
    await bench.advance(1000);
    expect(ids(bench)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('claim each delivery once, however many wait for the drain rate', async () => {
    const store = memoryStore();
    const claim = vi.spyOn(store, 'claim');
    const bench = new InboxBench({ store, concurrency: 1500, maxStartsPerSecond: 1 });
    await Promise.all(Array.from({ length: 1500 }, (_, at) => bench.send(String(at))));
    await turns();
    const claims = claim.mock.calls.length;
    await turns(100);
    expect(claim.mock.calls.length).toBe(claims);
    expect(bench.told('released')).toEqual([]);
  });

  it.each(['completed', 'dead'] as const)(
    'let the inbox accept deliveries again as soon as enough are %s',
    async (end) => {
      const bench = new InboxBench({ capacity: 4, highWaterMark: 0.75, lowWaterMark: 0.5 });
      for (const id of ['a', 'b', 'c', 'd']) await bench.deliver(id);
      expect(bench.told('shedding', 'accepting')).toEqual(['shedding']);
      for (const call of bench.calls.slice())
        await (end === 'dead' ? call.fail(new Unrecoverable()) : call.finish());
      expect(bench.told('shedding', 'accepting')).toEqual(['shedding', 'accepting']);
    },
  );

  it('follow an update of the concurrency immediately', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    for (const id of ['a', 'b', 'c']) await bench.deliver(id);
    bench.inbox.update({ concurrency: 3 });
    await turns();
    expect(ids(bench)).toEqual(['a', 'b', 'c']);
    expect(bench.told('updated')).toEqual(['updated']);
  });

  it('use one timer however much is stored, and none for an empty store', async () => {
    const bench = new InboxBench({ concurrency: 1000 });
    const idle = bench.clock.pending;
    for (let at = 0; at < 300; at += 1) void bench.send(String(at));
    await turns(40);
    expect(bench.calls).toHaveLength(300);
    expect(bench.clock.pending - idle).toBeLessThanOrEqual(4);
  });
});

describe('a failed attempt', () => {
  it('is retried after a delay that doubles up to its bound', async () => {
    const retry = { attempts: 6, firstDelayMs: 1000, maxDelayMs: 3000 };
    const bench = new InboxBench({ retry, random: () => 0.5 });
    await bench.deliver('a');
    const delays: number[] = [];
    for (let attempt = 1; attempt < 6; attempt += 1) {
      await bench.last.fail();
      const before = bench.clock.now();
      while (bench.calls.length === attempt) await bench.advance(50);
      delays.push(bench.clock.now() - before);
      expect(bench.last.attempt).toBe(attempt + 1);
    }
    expect(delays).toEqual([750, 1500, 2250, 2250, 2250]);
    expect(bench.events.find(({ type }) => type === 'failed')).toMatchObject({
      id: 'a',
      attempt: 1,
      error: 'it failed',
      retryInMs: 750,
      isCounted: true,
    });
  });

  it('moves the delivery to the dead-letter queue and calls onDead if it was the last', async () => {
    const dead: unknown[] = [];
    const bench = new InboxBench({
      retry: { attempts: 2, firstDelayMs: 0 },
      onDead: ({ id }, error) => {
        dead.push([id, error]);
        throw new Error('an onlooker');
      },
    });
    await bench.deliver('a', '{"n":1}');
    await bench.last.fail(new Error('first'));
    await bench.advance(1000);
    await bench.last.fail(new TypeError(''));
    expect(dead).toEqual([['a', 'TypeError']]);
    expect(await bench.inbox.deadLetters.get('a')).toMatchObject({
      id: 'a',
      attempts: 2,
      reason: 'dead',
      error: 'TypeError',
      deadAt: new Date(START + 1000),
    });
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, totals: { failed: 2, dead: 1 } });
    await bench.advance(10_000_000);
    expect(bench.calls).toHaveLength(2);
    expect(JSON.parse((await bench.deliver('a')).body)).toMatchObject({ status: 'duplicate' });
  });

  it('may be caused by any thrown value', async () => {
    const withMessage = (message: unknown): unknown => Object.assign(new TypeError('x'), { message });
    const thrown: unknown[] = [
      ...['text', undefined, { odd: 1 }, null],
      ...[withMessage({ odd: '"2"' }), withMessage(undefined), withMessage(17)],
      new Error('long'.repeat(1_000_000)),
    ];
    const process: InboxOptions['process'] = ({ text }) => {
      throw thrown[Number(text())];
    };
    const bench = new InboxBench({ process, retry: { attempts: 1 } });
    for (const at of thrown.keys()) await bench.deliver(String(at), String(at));
    const shelf = await bench.inbox.deadLetters.list();
    expect(shelf.map(({ error }) => error)).toEqual([
      ...['text', 'undefined', '{"odd":1}', 'null'],
      ...[String.raw`{"odd":"\"2\""}`, 'TypeError', '17'],
      `${'long'.repeat(1024)}…`,
    ]);
  });

  it('is no evidence of an outage together with those before a success', async () => {
    const bench = new InboxBench({
      process: ({ id }) => {
        if (id !== '9') throw new Error('it failed');
      },
    });
    for (let at = 0; at < 19; at += 1) await bench.deliver(String(at));
    expect(bench.told('outage')).toEqual([]);
    await bench.deliver('19');
    expect(bench.told('outage')).toEqual(['outage']);
  });

  it('frees its worker until the retry', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    await bench.deliver('a');
    await bench.deliver('b');
    await bench.last.fail();
    expect(ids(bench)).toEqual(['a', 'b']);
  });
});

it('stores the result of a handler that ends while the inbox closes', async () => {
  const bench = new InboxBench();
  await bench.deliver('a');
  const finishing = bench.last.finish();
  const closing = bench.inbox.close({ timeoutMs: 0 });
  await bench.advance(0);
  await Promise.all([finishing, closing]);
  expect(bench.told('completed', 'lost', 'released', 'store-failed')).toEqual(['completed a']);
});

describe('a handler that takes too long', () => {
  it('has its signal aborted, and its attempt fails', async () => {
    const bench = new InboxBench({ concurrency: 1, maxHandlingMs: 5000, random: () => 0 });
    await bench.deliver('a');
    await bench.deliver('b');
    const [first] = bench.calls;
    await bench.advance(5100);
    // The signal as a handler passes it to fetch.
    const signal: AbortSignal | undefined = first?.signal;
    expect(signal?.aborted).toBe(true);
    expect(bench.told('overdue', 'failed')).toEqual(['overdue a', 'failed a']);
    expect(bench.inbox.snapshot().totals).toMatchObject({ overdue: 1, failed: 1 });
    // The handler ends too late to complete the delivery.
    await first?.finish();
    expect(bench.inbox.snapshot().totals.completed).toBe(0);
    expect(ids(bench)).toEqual(['a', 'b']);
  });

  it('keeps its claim until maxHandlingMs', async () => {
    const store = memoryStore();
    const renewals: number[] = [];
    const renew = store.renew.bind(store);
    store.renew = (claims, options) => {
      renewals.push(options.nowMs - START);
      return renew(claims, options);
    };
    const bench = new InboxBench({ store, maxHandlingMs: 600_000 });
    await bench.deliver('a');
    for (let at = 0; at < 10; at += 1) await bench.advance(LEASE / 3);
    expect(renewals.slice(0, 3)).toEqual([10_000, 20_000, 30_000]);
    await bench.last.finish();
    expect(bench.told('completed', 'lost')).toEqual(['completed a']);
  });

  it('has its signal aborted when another process takes over its delivery', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, maxHandlingMs: 600_000 });
    await bench.deliver('a');
    store.renew = (claims) => claims.map(() => false);
    await bench.advance(10_000);
    expect(bench.last.signal.aborted).toBe(true);
    expect(bench.told('lost')).toEqual(['lost a']);
    expect(bench.inbox.snapshot()).toMatchObject({ active: 0, totals: { lost: 1 } });
  });

  it('has its signal aborted when its process claims the delivery again that another one had meanwhile', async () => {
    const state = new MemoryState();
    const bench = new InboxBench({ store: new MemoryStore(state) });
    await bench.deliver('a');
    const [first] = bench.calls;
    const other = new MemoryStore(state);
    const lease = { leaseMs: LEASE, nowMs: START + LEASE };
    const [claim] = await other.claim(1, { ...lease, maxStranded: 1, except: new Set() });
    await other.settle([{ key: 'default', id: 'a', attempt: claim?.attempt ?? 0, as: 'released' }], START);
    await bench.deliver('b');
    await bench.advance(0);
    expect(bench.calls.map(({ delivery, attempt }) => [delivery.id, attempt])).toContainEqual(['a', 2]);
    expect(first?.signal.aborted).toBe(true);
    expect(bench.told('lost')).toEqual(['lost a']);
    expect(bench.inbox.snapshot()).toMatchObject({ active: 2, totals: { lost: 1 } });
  });

  it('has its signal aborted when a failover undoes its claim, and its process claims the delivery again', async () => {
    const bench = new InboxBench();
    await bench.deliver('a');
    const [first] = bench.calls;
    await bench.store.settle([{ key: 'default', id: 'a', attempt: 1, as: 'released' }], START);
    await bench.deliver('b');
    await bench.advance(0);
    expect(bench.calls.map(({ delivery, attempt }) => [delivery.id, attempt])).toContainEqual(['a', 1]);
    expect(first?.signal.aborted).toBe(true);
    for (const call of bench.calls) await call.finish();
    expect(bench.told('lost', 'completed').sort()).toEqual(['completed a', 'completed b', 'lost a']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 0, active: 0, totals: { completed: 2, lost: 1 } });
  });

  it('goes on when its process claims a delivery of another key with the same id', async () => {
    const bench = new InboxBench({ keyGenerator: ({ headers }) => headers['x-key'] ?? 'default' });
    await bench.deliver('a', '', { 'x-key': 'one' });
    await bench.deliver('a', '', { 'x-key': 'two' });
    expect(bench.calls.map(({ signal }) => signal.aborted)).toEqual([false, false]);
    for (const call of bench.calls) await call.finish();
    expect(bench.inbox.snapshot()).toMatchObject({ totals: { completed: 2, lost: 0 } });
  });

  it('does not complete a delivery that another process has taken over', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store });
    await bench.deliver('a');
    store.settle = (settlements) => settlements.map(() => false);
    await bench.last.finish();
    expect(bench.told('completed', 'lost')).toEqual(['lost a']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 1, totals: { completed: 0, lost: 1 } });
  });
});
