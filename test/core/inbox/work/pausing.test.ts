import { type InboxOptions, type InboxStore, memoryStore } from '@webhook-backpressure/inbox';
import { sqliteStore } from '@webhook-backpressure/sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scratch } from '../../../sqlite/scratch.ts';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';

const KEYED: Partial<InboxOptions> = { concurrency: 10, keyGenerator: ({ headers }) => headers['x-key'] };

let scratch: Scratch;
const benches: InboxBench[] = [];
beforeEach(() => {
  scratch = new Scratch();
});
afterEach(async () => {
  for (const bench of benches.splice(0)) await close(bench);
  scratch.dispose();
});

function open(options: Partial<InboxOptions>): InboxBench {
  const bench = new InboxBench({ ...KEYED, ...options });
  benches.push(bench);
  return bench;
}

async function close(bench: InboxBench): Promise<void> {
  const closing = bench.inbox.close({ timeoutMs: 0 });
  await bench.advance(0);
  await bench.advance(2000);
  await closing;
}

function ids(bench: InboxBench): string[] {
  return bench.calls.map(({ delivery }) => delivery.id);
}

const send = (bench: InboxBench, id: string, key: string): Promise<unknown> =>
  bench.deliver(id, '{}', { 'x-key': key });

describe.each([
  [
    'in memory',
    () => {
      const state = new MemoryState();
      return () => new MemoryStore(state);
    },
  ],
  ['on a file', () => () => sqliteStore({ path: scratch.file() })],
])('a pause, %s', (_, share) => {
  it('of everything starts no handler, acknowledges deliveries, and lets running handlers finish', async () => {
    const bench = open({ store: share()() });
    await send(bench, 'before', 'a');
    await bench.inbox.pause();
    await send(bench, 'after', 'a');
    await send(bench, 'other', 'b');
    await bench.last.finish();
    await bench.advance(60_000);
    expect(ids(bench)).toEqual(['before']);
    expect(bench.inbox.snapshot()).toMatchObject({ isPaused: true, pausedKeys: [], depth: 2, active: 0 });
    await bench.inbox.resume();
    await turns();
    expect(ids(bench).sort()).toEqual(['after', 'before', 'other']);
    expect(bench.inbox.snapshot()).toMatchObject({ isPaused: false });
    expect(bench.events.filter(({ type }) => type === 'paused' || type === 'resumed')).toMatchObject([
      { type: 'paused', key: null },
      { type: 'resumed', key: null },
    ]);
  });

  it('of a key does not affect other keys, even for an unusual key', async () => {
    const bench = open({ store: share()() });
    const odd = ['__proto__', '', 'a\u0000b', '"', '\ud800'];
    for (const key of odd) await bench.inbox.pause(key);
    for (const [at, key] of odd.entries()) await send(bench, String(at), key === '' ? 'default' : key);
    await send(bench, 'free', 'free');
    expect(ids(bench)).toEqual(['1', 'free']);
    expect([...bench.inbox.snapshot().pausedKeys].sort()).toEqual([...odd].sort());
    for (const key of odd) await bench.inbox.resume(key);
    await turns();
    expect(ids(bench).sort()).toEqual(['0', '1', '2', '3', '4', 'free']);
  });

  it('survives restarts, and is reported once', async () => {
    const store = share();
    const first = open({ store: store() });
    await first.inbox.pause('a');
    await first.inbox.pause('a');
    await first.inbox.pause();
    expect(first.told('paused')).toEqual(['paused', 'paused']);
    await send(first, '1', 'a');
    await send(first, '2', 'b');
    await close(benches.pop() as InboxBench);
    const second = open({ store: store() });
    await second.advance(10_000);
    expect(second.inbox.snapshot()).toMatchObject({ isPaused: true, pausedKeys: ['a'] });
    await second.inbox.resume();
    await turns();
    expect(ids(second)).toEqual(['2']);
    await second.inbox.resume('a');
    await turns();
    expect(ids(second)).toEqual(['2', '1']);
  });

  it('applies to every process on the store, and ends for all within seconds', async () => {
    const store = share();
    const [one, other] = [open({ store: store() }), open({ store: store() })];
    await one.inbox.pause('a');
    await send(other, '1', 'a');
    await other.advance(10_000);
    expect([ids(one), ids(other)]).toEqual([[], []]);
    expect(other.inbox.snapshot().pausedKeys).toEqual(['a']);
    await one.inbox.pause();
    await one.inbox.resume('a');
    await one.inbox.resume();
    await other.advance(5000);
    expect([...ids(one), ...ids(other)]).toEqual(['1']);
  });

  it('keeps a retry that becomes due meanwhile', async () => {
    const bench = open({ store: share()(), retry: { firstDelayMs: 1000 } });
    await send(bench, '1', 'a');
    await bench.last.fail();
    await bench.inbox.pause('a');
    await bench.advance(60_000);
    expect(ids(bench)).toEqual(['1']);
    await bench.inbox.resume('a');
    await turns();
    expect(ids(bench)).toEqual(['1', '1']);
  });
});

it('gives waiting deliveries back without counting an attempt', async () => {
  const bench = open({ maxStartsPerSecond: 1 });
  for (const id of ['1', '2', '3']) await send(bench, id, 'a');
  await send(bench, '4', 'b');
  await bench.inbox.pause('a');
  await turns();
  expect(bench.told('released').sort()).toEqual(['released 2', 'released 3']);
  await bench.advance(1000);
  expect(ids(bench)).toEqual(['1', '4']);
  await bench.inbox.resume('a');
  await bench.advance(2000);
  expect(bench.calls.slice(2).map(({ attempt }) => attempt)).toEqual([1, 1]);
});

it.each([
  ['from any key', {}],
  ['of named keys', { limits: () => ({ maxConcurrent: 5 }) }],
] as const)('starts nothing that a claim %s returns after the pause', async (_, options) => {
  const bench = open(options);
  await turns(20);
  let answer: () => void = () => undefined;
  const late = <A extends readonly unknown[], R>(call: (...args: A) => R) => {
    return async (...args: A): Promise<Awaited<R>> => {
      const claimed = await call(...args);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return claimed;
    };
  };
  bench.store.claim = late(bench.store.claim.bind(bench.store));
  bench.store.claimKeys = late(bench.store.claimKeys.bind(bench.store));
  await send(bench, '1', 'a');
  await turns();
  await bench.inbox.pause('a');
  answer();
  await turns(20);
  expect(ids(bench)).toEqual([]);
  expect(bench.told('released')).toEqual(['released 1']);
});

it('makes no claims while everything is paused', async () => {
  const bench = open({});
  await bench.inbox.pause();
  for (let at = 0; at < 50; at += 1) await send(bench, String(at), 'a');
  const claim = bench.store.claim.bind(bench.store);
  let claims = 0;
  bench.store.claim = (...args) => {
    claims += 1;
    return claim(...args);
  };
  await bench.advance(0);
  for (let at = 0; at < 60; at += 1) await bench.advance(1000);
  // The calls of the maintenance every five seconds.
  expect(claims).toBeLessThan(15);
});

it.each([null, 17, {}])('rejects an invalid key: %j', async (key) => {
  const bench = open({});
  const wrong = key as unknown as string;
  await expect(bench.inbox.pause(wrong)).rejects.toMatchObject({ code: 'ERR_WBP_PAUSE' });
  await expect(bench.inbox.resume(wrong)).rejects.toMatchObject({ code: 'ERR_WBP_PAUSE' });
  expect(bench.inbox.snapshot().isPaused).toBe(false);
});

it('accepts a thousand keys and no more', async () => {
  const bench = open({});
  for (let at = 0; at < 1000; at += 1) await bench.store.pause(String(at));
  await expect(bench.inbox.pause('one more')).rejects.toMatchObject({ code: 'ERR_WBP_PAUSE' });
  await bench.inbox.pause('17');
});

it.each([undefined, 'a'])(
  'starts no delivery of a claim that is answered after a pause of %s',
  async (key) => {
    const store: InboxStore = memoryStore();
    const claim = store.claim.bind(store);
    const bench = open({ store });
    let isAnswered = false;
    store.claim = async (count, options) => {
      const claimed = await claim(count, options);
      if (claimed.length > 0 && !isAnswered) {
        isAnswered = true;
        await (key === undefined ? bench.inbox.pause() : bench.inbox.pause(key));
      }
      return claimed;
    };
    await send(bench, 'one', 'a');
    await bench.advance(100);
    expect([isAnswered, ids(bench)]).toEqual([true, []]);
    expect(await store.stats()).toMatchObject({ depth: 1, inFlight: 0 });
  },
);
