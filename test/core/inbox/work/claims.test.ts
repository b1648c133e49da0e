import { memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it, vi } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { LEASE, START } from '../store/cases/store-fixtures.ts';

const ids = (bench: InboxBench): string[] => bench.calls.map(({ delivery }) => delivery.id);

describe('a claim', () => {
  it('is made again 100 ms after it has failed, and reports that the store works', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, concurrency: 1 });
    vi.spyOn(store, 'claim').mockImplementationOnce(() => {
      throw new Error('disk');
    });
    await bench.deliver('a');
    expect(ids(bench)).toEqual([]);
    await bench.advance(100);
    expect(ids(bench)).toEqual(['a']);
    expect(bench.inbox.snapshot().isStoreFailing).toBe(false);
  });

  it.each([0, 1000])(
    'is made again once a second while it finds nothing that became due %d ms ago',
    async (agoMs) => {
      const store = memoryStore();
      const bench = new InboxBench({ store });
      const claim = vi.spyOn(store, 'claim').mockImplementation(() => []);
      store.nextDueMs = () => START + bench.clock.now() - agoMs;
      await bench.deliver('a');
      const before = claim.mock.calls.length;
      for (let at = 0; at < 40; at += 1) await bench.advance(100);
      expect(claim.mock.calls.length - before).toBe(4);
    },
  );
});

it('of deliveries that were in flight when a process died begins with one again after another death', async () => {
  const state = new MemoryState();
  const dyingWith = async (ids: readonly string[], wallMs: number): Promise<void> => {
    const dying = new InboxBench({ store: new MemoryStore(state), concurrency: 3 }, wallMs);
    for (const id of ids) void dying.send(id);
    await dying.advance(0);
    await dying.advance(0);
    expect(dying.calls).toHaveLength(3);
  };
  await dyingWith(['a', 'b', 'c'], START);
  const bench = new InboxBench({ store: new MemoryStore(state), concurrency: 20 }, START + LEASE);
  const groups: number[] = [];
  for (const lateMs of [1000, 1000, LEASE]) {
    if (groups.length === 2) {
      bench.clock.advance(1000);
      await dyingWith(['d', 'e', 'f'], START + LEASE + bench.clock.now());
    }
    const begun = groups.reduce((sum, count) => sum + count, 0);
    for (let ms = 0; ms < lateMs; ms += 1000) await bench.advance(1000);
    const group = bench.calls.slice(begun);
    groups.push(group.length);
    for (const { finish } of group) await finish();
  }
  expect(groups).toEqual([1, 2, 1]);
});

describe('an outage', () => {
  it('is probed by one key after the other, and then by the first again', async () => {
    const bench = new InboxBench({ concurrency: 10, keyGenerator: ({ text }) => text() });
    for (let at = 0; at < 10; at += 1) await bench.deliver(String(at), String(at % 5));
    for (const { fail } of bench.calls.slice()) await fail();
    const probes: [number, string][] = [];
    while (bench.clock.now() < 100_000) {
      const before = bench.calls.length;
      await bench.advance(125);
      if (bench.calls.length === before) continue;
      probes.push([bench.clock.now(), bench.last.delivery.key]);
      await bench.last.fail();
    }
    // The other keys have failed before it was detected, and were due later.
    const inTurn = probes.slice(1);
    expect(
      inTurn
        .slice(0, 5)
        .map(([, key]) => key)
        .sort(),
    ).toEqual(['0', '1', '2', '3', '4']);
    expect(inTurn.map(([ms], at) => ms - (probes[at]?.[0] ?? 0))).toEqual([
      1750,
      3500,
      7000,
      14_000,
      ...[17_500, 17_500, 17_500, 17_500],
    ]);
  });

  it('of one key has the only worker for its next probe when nothing else is due', async () => {
    const bench = new InboxBench({ concurrency: 1 });
    for (let at = 0; at < 11; at += 1) {
      await bench.deliver(String(at));
      if (at < 10) await bench.last.fail();
    }
    await bench.advance(1000);
    expect(bench.calls).toHaveLength(11);
    await bench.advance(10_000);
    await bench.last.fail();
    await bench.advance(0);
    expect(bench.calls).toHaveLength(12);
  });

  it('of one key leaves the only worker to other keys after a long probe', async () => {
    const bench = new InboxBench({ concurrency: 1, keyGenerator: ({ text }) => text() });
    for (let at = 0; at < 11; at += 1) {
      await bench.deliver(String(at), 'a');
      if (at < 10) await bench.last.fail();
    }
    await bench.advance(1000);
    expect(bench.calls).toHaveLength(11);
    for (let at = 0; at < 3; at += 1) await bench.deliver(`b${String(at)}`, 'b');
    await bench.advance(10_000);
    await bench.last.fail();
    for (let at = 0; at < 3; at += 1) {
      await bench.advance(5000);
      await bench.last.finish();
    }
    await bench.advance(1000);
    expect(ids(bench).slice(11, 14)).toEqual(['b0', 'b1', 'b2']);
    expect(bench.calls).toHaveLength(15);
  });
});

it('lets the inbox close after it has given back what a claim in progress returns', async () => {
  const store = memoryStore();
  const bench = new InboxBench({ store });
  await turns();
  const claim = store.claim.bind(store);
  let answer: () => void = () => undefined;
  store.claim = async (...given) => {
    const claimed = await claim(...given);
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return claimed;
  };
  const close = vi.spyOn(store, 'close');
  await bench.deliver('a');
  const closing = bench.inbox.close({ timeoutMs: 0 });
  await bench.advance(0);
  expect(close).not.toHaveBeenCalled();
  answer();
  await closing;
  expect(bench.told('released')).toEqual(['released a']);
  expect(close).toHaveBeenCalledTimes(1);
});
