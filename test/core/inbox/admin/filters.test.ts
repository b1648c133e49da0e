import type { DeliveryFilter, InboxOptions, ListedDeadLetter } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';
import { mixed, over } from './mixed-dead-letters.ts';

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
