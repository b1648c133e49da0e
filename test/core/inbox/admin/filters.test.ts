import {
  createInbox,
  type DeliveryFilter,
  type InboxOptions,
  type ListedDeadLetter,
  memoryStore,
  type MoveProgress,
  type StoredDelivery,
} from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { delivery, opened, put, START } from '../store/cases/store-fixtures.ts';

const MANY = { maxDeadLetters: 200_000 };

/** Dead letters in a memory that inboxes share. */
async function buried(ones: readonly StoredDelivery[]): Promise<MemoryState> {
  const memory = new MemoryState();
  const store = await opened({ store: () => new MemoryStore(memory), dispose: () => undefined });
  const limits = { capacity: 1e6, maxBytes: 1e12, maxDeadLetterBytes: 1e12, ...MANY };
  await put(store, ones, { isOverflow: true, limits });
  return memory;
}

/** `count` dead letters: every fourth is of stripe, the others are of github. */
function mixed(count: number): StoredDelivery[] {
  return Array.from({ length: count }, (_, at) =>
    at % 4 === 0
      ? delivery(`s${String(at)}`, { sender: 'stripe' })
      : delivery(`g${String(at)}`, { sender: 'github', headers: { 'x-github-event': 'push' } }),
  );
}

/** Counts the calls of a store, by name. */
class CountedStore extends MemoryStore {
  readonly counts = new Map<string, number>();

  constructor(memory: MemoryState) {
    super(memory);
    for (const [name, call] of Object.entries(this) as [string, unknown][]) {
      if (typeof call !== 'function') continue;
      Object.defineProperty(this, name, {
        value: (...args: unknown[]): unknown => {
          this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
          return (call as (...given: unknown[]) => unknown)(...args);
        },
      });
    }
  }
}

async function over(
  ones: readonly StoredDelivery[],
  options: Partial<InboxOptions> = {},
): Promise<{ readonly bench: InboxBench; readonly store: CountedStore; readonly memory: MemoryState }> {
  const memory = await buried(ones);
  const store = new CountedStore(memory);
  const bench = new InboxBench({ store, concurrency: 1, ...options });
  await turns();
  return { bench, store, memory };
}

describe('a filter', () => {
  it('moves what matches, and leaves the others', async () => {
    const { bench } = await over(mixed(8));
    const { deadLetters } = bench.inbox;
    expect((await deadLetters.list({ sender: 'stripe' })).map(({ id }) => id)).toEqual(['s0', 's4']);
    expect(await deadLetters.redrive({ sender: 'stripe' })).toBe(2);
    expect(await deadLetters.purge({ event: 'push', receivedTo: new Date(START) })).toBe(0);
    expect(await deadLetters.purge({ event: 'push', receivedFrom: new Date(START) })).toBe(6);
    expect(await deadLetters.list()).toEqual([]);
    expect(bench.told('redriven', 'purged')).toEqual(['redriven', 'purged']);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 2, deadLetters: 0, deadLetterBytes: 0 });
  });

  it('reads bodies only if the other fields leave a delivery undecided', async () => {
    const { bench, store } = await over(mixed(8));
    const { deadLetters } = bench.inbox;
    const read = async (filter: DeliveryFilter): Promise<[found: number, bodies: number]> => {
      store.counts.clear();
      const found = await deadLetters.list(filter);
      return [found.length, store.counts.get('getDeadLetter') ?? 0];
    };
    expect(await read({ sender: 'stripe', receivedFrom: new Date(START) })).toEqual([2, 0]);
    expect(await read({ event: 'push' })).toEqual([6, 2]);
    expect(await read({ event: 'push', sender: 'github' })).toEqual([6, 0]);
    expect(await read({ text: '"s4"' })).toEqual([1, 8]);
    expect(await read({ text: '"s4"', sender: 'stripe' })).toEqual([1, 2]);
  });

  it('compares the contents of encrypted deliveries, and matches none whose key is missing', async () => {
    const memory = new MemoryState();
    const keys = { now: 'BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=' };
    const inbox = (encrypt: InboxOptions['encrypt']): InboxBench =>
      new InboxBench({ store: new MemoryStore(memory), encrypt, retry: { attempts: 1 } });
    const bench = inbox({ keys });
    await bench.deliver('a', '{"type":"invoice.paid"}');
    await expect.poll(() => bench.calls.length).toBe(1);
    await bench.last.fail(new Error('Timeout'));
    const { deadLetters } = bench.inbox;
    expect(await deadLetters.list({ event: 'invoice.paid', text: 'paid', error: 'timeout' })).toHaveLength(1);
    const other = inbox({ keys: { now: 'CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=' } });
    await turns();
    expect(await other.inbox.deadLetters.list({ event: 'invoice.paid' })).toEqual([]);
    expect(await other.inbox.deadLetters.list({ error: 'timeout' })).toHaveLength(1);
  });

  it('lists pending and completed deliveries, and replays', async () => {
    const bench = new InboxBench({ keepCompletedMs: 60_000, concurrency: 2, random: () => 0.5 });
    for (const [id, type] of [
      ['a', 'x'],
      ['b', 'y'],
      ['c', 'x'],
    ] as const)
      await bench.deliver(id, JSON.stringify({ type }));
    const { pending, completed } = bench.inbox;
    expect((await pending.list({ event: 'x', state: 'ready' })).deliveries.map(({ id }) => id)).toEqual([
      'c',
    ]);
    for (const call of bench.calls) await call.finish();
    expect((await completed.list({ text: '"x"' })).deliveries.map(({ id }) => id)).toEqual(['a', 'c']);
    const later = { endedFrom: new Date(START + 1) };
    expect(await completed.replay({ event: 'x', ...later })).toBe(0);
    const tried = await completed.replay({ event: 'x' }, { dryRun: true });
    expect([tried.count, tried.first.map(({ id }) => id)]).toEqual([2, ['a', 'c']]);
    expect(await completed.replay({ event: 'x' })).toBe(2);
    await turns();
    expect(bench.calls.map((call) => call.delivery.id)).toEqual(['a', 'b', 'c', 'a', 'c']);
  });

  it('lists in pages that a limit ends anywhere', async () => {
    const { bench } = await over(mixed(2000));
    const { deadLetters } = bench.inbox;
    const found: ListedDeadLetter[] = [];
    for (let after: number | undefined = 0; after !== undefined;) {
      const page: { deliveries: readonly ListedDeadLetter[]; next: number | undefined } =
        await deadLetters.list({ sender: 'stripe', limit: 7, after });
      expect(page.deliveries.length).toBeLessThanOrEqual(7);
      found.push(...page.deliveries);
      after = page.next;
    }
    expect(found.map(({ id }) => id)).toEqual(
      mixed(2000)
        .map(({ id }) => id)
        .filter((id) => id.startsWith('s')),
    );
    const ids = async (offset: number): Promise<string[]> =>
      (await deadLetters.list({ sender: 'stripe', limit: 2, offset })).map(({ id }) => id);
    expect([await ids(0), await ids(2)]).toEqual([
      ['s0', 's4'],
      ['s8', 's12'],
    ]);
  });

  it.each<[object, string]>([
    [{}, "an object with at least one field, or 'all'"],
    [{ sender: undefined }, 'sender must be a string of at least one character'],
    [{ text: '' }, 'text must be a string of at least one character'],
    [{ key: undefined }, 'key must be a string'],
    [{ receivedFrom: '2026-11-27' }, 'receivedFrom must be a valid Date'],
    [{ endedTo: new Date('x') }, 'endedTo must be a valid Date'],
    [{ sendr: 'stripe' }, 'Did you mean "sender"'],
  ])('that is invalid moves nothing: %j', async (filter, sentence) => {
    const { bench } = await over(mixed(2));
    const { deadLetters } = bench.inbox;
    await expect(deadLetters.redrive(filter)).rejects.toThrow(sentence);
    await expect(deadLetters.purge(filter, { dryRun: true })).rejects.toThrow(sentence);
    expect(await deadLetters.list()).toHaveLength(2);
  });

  it.each<[object, string]>([
    [{ perSecond: 0 }, 'perSecond must be a number of deliveries per second from 0.01 to 100,000'],
    [{ dryRun: 1 }, 'dryRun must be a boolean'],
    [{ key: 'a' }, 'key must be in the filter, and not beside it'],
    [{ rate: 1 }, 'Unknown option "rate"'],
    [{ onProgress: 1 }, 'onProgress must be a function'],
  ])('takes valid options only: %j', async (options, sentence) => {
    const { bench } = await over(mixed(2));
    const { deadLetters } = bench.inbox;
    await expect(deadLetters.redrive({ sender: 'stripe' }, options)).rejects.toThrow(sentence);
    await expect(deadLetters.purge({ sender: 'stripe' }, options)).rejects.toThrow(sentence);
  });

  it.each(['pending', 'completed'] as const)('of %s deliveries has no error', async (list) => {
    const { bench } = await over([]);
    await expect(bench.inbox[list].list({ error: 'x' } as object)).rejects.toThrow('Unknown option "error"');
  });
});

describe('a dry run', () => {
  it('counts what would be moved, names the first ones, and moves nothing', async () => {
    const { bench } = await over(mixed(100));
    const { deadLetters } = bench.inbox;
    for (const move of ['redrive', 'purge'] as const) {
      const stripe = await deadLetters[move]({ sender: 'stripe' }, { dryRun: true });
      expect(stripe.count).toBe(25);
      expect(stripe.first.map(({ id }) => id).slice(0, 3)).toEqual(['s0', 's4', 's8']);
      expect(stripe.first).toHaveLength(10);
      expect(await deadLetters[move]('all', { dryRun: true })).toMatchObject({ count: 100 });
      const one = await deadLetters[move]('g1', { dryRun: true });
      expect([one.count, one.first]).toEqual([1, (await deadLetters.list({ limit: 2 })).slice(1)]);
      expect(await deadLetters[move]('none', { dryRun: true })).toEqual({ count: 0, first: [] });
    }
    expect(await deadLetters.list({ limit: 1000 })).toHaveLength(100);
  });
});

describe('perSecond', () => {
  it.each(['redrive', 'purge'] as const)('bounds a %s in each second', async (move) => {
    const { bench, memory } = await over(mixed(100));
    const progress: MoveProgress[] = [];
    const onProgress = (now: MoveProgress): unknown => progress.push(now);
    const state = { isDone: false };
    const moving = bench.inbox.deadLetters[move]('all', { perSecond: 20, onProgress }).finally(() => {
      state.isDone = true;
    });
    await turns();
    const left = [memory.stats().deadLetters];
    while (!state.isDone) {
      await bench.advance(100);
      left.push(memory.stats().deadLetters);
    }
    expect(await moving).toBe(100);
    const moved = left.slice(10).map((now, at) => (left[at] ?? 0) - now);
    expect(Math.max(...moved)).toBeLessThanOrEqual(20);
    // 4 at the start, then 4 each 200 ms.
    expect(left.length).toBeGreaterThanOrEqual(48);
    expect(left.length).toBeLessThanOrEqual(52);
    expect(progress.at(-1)).toMatchObject({ moved: 100, looked: 100, total: 100 });
  });

  it('ends within a quarter of a second when the signal is aborted', async () => {
    const { bench } = await over(mixed(100));
    const stop = new AbortController();
    const moving = bench.inbox.deadLetters.purge(
      { sender: 'stripe' },
      { perSecond: 0.01, signal: stop.signal },
    );
    await turns();
    stop.abort();
    await bench.advance(250);
    expect(await moving).toBe(1);
  });
});

describe('moving by a filter', () => {
  it('moves no delivery twice that dies again meanwhile, nor one that another call has moved', async () => {
    const { bench, memory } = await over(mixed(40), { retry: { attempts: 1 } });
    const other = new InboxBench({ store: new MemoryStore(memory), concurrency: 1, retry: { attempts: 1 } });
    await turns();
    const calls = [bench, other].map(({ inbox }) =>
      inbox.deadLetters.redrive({ sender: 'stripe' }, { perSecond: 5 }),
    );
    const state = { isDone: false };
    const both = Promise.all(calls).finally(() => (state.isDone = true));
    while (!state.isDone) {
      for (const one of [bench, other]) {
        for (const call of one.calls) await call.fail();
        await one.advance(100);
      }
    }
    expect((await both).reduce((sum, count) => sum + count, 0)).toBe(10);
    // Each was tried once more, and is a dead letter again.
    for (const one of [bench, other]) for (const call of one.calls) await call.fail();
    const tried = [...bench.calls, ...other.calls].map((call) => call.delivery.id);
    expect(new Set(tried).size).toBe(tried.length);
    expect(tried.length).toBe(10);
    expect(memory.stats()).toMatchObject({ depth: 0, deadLetters: 40 });
  });

  it('waits at the low-water mark, and continues', async () => {
    const { bench } = await over(mixed(100), { capacity: 20, highWaterMark: 0.75, lowWaterMark: 0.5 });
    const progress: MoveProgress[] = [];
    const state = { isDone: false };
    const moving = bench.inbox.deadLetters
      .redrive({ sender: 'stripe' }, { onProgress: (now) => progress.push(now) })
      .finally(() => (state.isDone = true));
    await bench.advance(500);
    expect(bench.inbox.snapshot().depth).toBe(10);
    expect(progress.at(-1)).toMatchObject({ moved: 10, isWaiting: true, total: 100 });
    while (!state.isDone) {
      for (const call of bench.calls) await call.finish();
      await bench.advance(300);
    }
    expect(await moving).toBe(25);
    expect(bench.inbox.snapshot()).toMatchObject({ deadLetters: 75, totals: { refused: { full: 0 } } });
  });

  it('counts what it has moved when the store fails in the middle', async () => {
    const memory = await buried(mixed(40));
    const failing = new MemoryStore(memory);
    let left = 5;
    const redrive = failing.redrive;
    Object.defineProperty(failing, 'redrive', {
      value: (...args: Parameters<typeof redrive>) => {
        left -= 1;
        if (left < 0) throw new Error('the disk is full');
        return redrive(...args);
      },
    });
    const bench = new InboxBench({ store: failing, concurrency: 1 });
    await turns();
    await expect(bench.inbox.deadLetters.redrive({ sender: 'stripe' })).rejects.toThrow('the disk is full');
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 5, deadLetters: 35 });
    left = 99;
    expect(await bench.inbox.deadLetters.redrive({ sender: 'stripe' })).toBe(5);
  });

  it('ends when the inbox closes', async () => {
    const { bench, memory } = await over(mixed(100));
    const moving = bench.inbox.deadLetters.redrive({ sender: 'stripe' }, { perSecond: 1 });
    await turns();
    const closing = bench.inbox.close({ timeoutMs: 0 });
    await bench.advance(3000);
    await closing;
    expect(await moving).toBe(1);
    expect(memory.stats()).toMatchObject({ depth: 1, deadLetters: 99 });
  });

  it('reads each of 100,000 dead letters once, in pages, and keeps none of them', async () => {
    const { bench, store } = await over(mixed(100_000), MANY);
    store.counts.clear();
    const tried = await bench.inbox.deadLetters.purge({ sender: 'stripe' }, { dryRun: true });
    expect(tried.count).toBe(25_000);
    expect(Object.fromEntries(store.counts)).toMatchObject({ scanDeadLetters: 100 });
    expect(store.counts.has('listDeadLetters')).toBe(false);
    expect(await bench.inbox.deadLetters.purge({ sender: 'stripe' })).toBe(25_000);
    expect(store.counts.get('purge')).toBe(25_000);
    expect(store.counts.get('scanDeadLetters')).toBe(200);
  }, 60_000);
});

it('works without an inbox that is open for long', async () => {
  const inbox = createInbox({ store: memoryStore(), verify: false, process: () => undefined });
  await inbox.opened;
  expect(await inbox.deadLetters.redrive({ sender: 'stripe' })).toBe(0);
  await inbox.close();
});
