import { memoryStore, type InboxDelivery, type InboxOptions } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';
import { MemoryState, MemoryStore } from '../shared-memory.ts';
import { START } from '../store/cases/store-fixtures.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function ids(bench: InboxBench): string[] {
  return bench.calls.map(({ delivery }) => delivery.id);
}

describe('notBefore', () => {
  const at = (ms: number): Partial<InboxOptions> => ({
    notBefore: ({ id }: InboxDelivery) => (id === 'later' ? START + ms : undefined),
  });

  it('acknowledges a delivery immediately and starts it at its time, while others run', async () => {
    const bench = new InboxBench({ concurrency: 1, ...at(HOUR) });
    expect((await bench.deliver('later')).status).toBe(200);
    await bench.deliver('now');
    expect(ids(bench)).toEqual(['now']);
    await bench.last.finish();
    const { deliveries } = await bench.inbox.pending.list();
    expect(deliveries).toMatchObject([{ id: 'later', state: 'delayed', attempts: 0 }]);
    expect(deliveries[0]?.dueAt).toEqual(new Date(START + HOUR));
    await bench.advance(HOUR - 1);
    expect(ids(bench)).toEqual(['now']);
    await bench.advance(1);
    expect(ids(bench)).toEqual(['now', 'later']);
    expect(bench.last.attempt).toBe(1);
  });

  it('applies to deliveries that the application adds', async () => {
    const bench = new InboxBench(at(HOUR));
    for (const id of ['later', 'now']) await bench.inbox.add({ id, body: '{}' });
    await turns();
    expect(ids(bench)).toEqual(['now']);
    await bench.last.finish();
    await bench.advance(HOUR);
    expect(ids(bench)).toEqual(['now', 'later']);
  });

  it('keeps its time over a restart, and when it is longer than any retry', async () => {
    const memory = new MemoryState();
    const first = new InboxBench({ store: new MemoryStore(memory), ...at(3 * DAY) });
    await first.deliver('later');
    await first.inbox.close();
    const second = new InboxBench({ store: new MemoryStore(memory) });
    await turns();
    for (let passed = 0; passed < 3 * DAY - MINUTE; passed += MINUTE) {
      second.clock.advance(MINUTE);
      if (passed % HOUR === 0) await turns(2);
    }
    await turns();
    expect(ids(second)).toEqual([]);
    expect(second.told('released').length).toBeLessThan(10);
    const [pending] = (await second.inbox.pending.list()).deliveries;
    expect(pending?.dueAt).toEqual(new Date(START + 3 * DAY));
    await second.advance(2 * MINUTE);
    expect(ids(second)).toEqual(['later']);
  });

  it('lets deliveries of an ordered key wait behind it', async () => {
    const bench = new InboxBench({ ordered: true, ...at(HOUR) });
    await bench.deliver('later');
    await bench.deliver('behind');
    expect(ids(bench)).toEqual([]);
    await bench.advance(HOUR);
    await bench.last.finish();
    expect(ids(bench)).toEqual(['later', 'behind']);
  });

  it('takes a Date, and starts immediately what is due in the past', async () => {
    const bench = new InboxBench({
      notBefore: ({ id }) => (id === 'date' ? new Date(START + 1000) : START - HOUR),
    });
    await bench.deliver('date');
    await bench.deliver('past');
    expect(ids(bench)).toEqual(['past']);
    await bench.advance(1000);
    expect(ids(bench)).toEqual(['past', 'date']);
  });

  it.each([
    ['a text', 'tomorrow'],
    ['no number', NaN],
    ['an invalid Date', new Date(NaN)],
    ['a promise', Promise.resolve(START)],
    ['a time more than a year ahead', START + 366 * DAY],
  ])('rejects %s, and stores nothing', async (_, given) => {
    const bench = new InboxBench({ notBefore: () => given as number });
    await expect(bench.send('a')).rejects.toThrow(expect.objectContaining({ code: 'ERR_WBP_CALLBACK' }));
    expect(bench.inbox.snapshot().depth).toBe(0);
  });
});

describe('ttlMs', () => {
  it('makes a dead letter of a delivery that was not started in time', async () => {
    const dead: string[] = [];
    const bench = new InboxBench({
      concurrency: 1,
      ttlMs: MINUTE,
      onDead: ({ id }, error) => dead.push(`${id}: ${error}`),
    });
    await bench.deliver('running');
    await bench.deliver('late');
    await bench.advance(MINUTE - 10_000);
    await bench.deliver('fresh');
    await bench.advance(9_999);
    await bench.advance(2);
    // The first one was started in time, and its retry is not limited.
    await bench.last.fail();
    expect(ids(bench)).toEqual(['running', 'fresh']);
    expect(dead).toEqual(['late: Expired: it was not started within ttlMs (60000 ms).']);
    expect(bench.inbox.snapshot()).toMatchObject({ deadLetters: 1, totals: { dead: 1 } });
    expect((await bench.inbox.deadLetters.list())[0]).toMatchObject({ id: 'late', reason: 'dead' });
    await bench.last.finish();
    await bench.advance(MINUTE);
    expect(ids(bench)).toEqual(['running', 'fresh', 'running']);
  });

  it('may differ by delivery, and counts from the earliest start', async () => {
    const bench = new InboxBench({
      concurrency: 1,
      notBefore: ({ id }) => (id === 'held' ? START + HOUR : undefined),
      ttlMs: ({ text }) => (text() === '"never"' ? Infinity : 1000),
    });
    await bench.deliver('held');
    await bench.deliver('busy');
    await bench.deliver('always', '"never"');
    await bench.deliver('late');
    await bench.advance(MINUTE - 1);
    await bench.last.finish();
    expect(ids(bench)).toEqual(['busy', 'always']);
    await bench.last.finish();
    expect(bench.told('dead')).toEqual(['dead late']);
    await bench.advance(HOUR - MINUTE + 1);
    expect(ids(bench)).toEqual(['busy', 'always', 'held']);
  });

  it('fails the attempt when it returns garbage or throws', async () => {
    let given: unknown = NaN;
    const bench = new InboxBench({ ttlMs: () => given as number, retry: { firstDelayMs: 1000 } });
    for (const [at, one] of [NaN, -1, 'long', Promise.resolve(1)].entries()) {
      given = one;
      await bench.deliver(String(at));
    }
    expect(bench.calls).toEqual([]);
    expect(bench.told('failed')).toHaveLength(4);
    given = Infinity;
    await bench.advance(1000);
    expect(bench.calls).toHaveLength(4);
  });

  it('is checked at construction', () => {
    for (const ttlMs of [0, -1, NaN, Infinity, 366 * DAY, '1 h', null])
      expect(() => new InboxBench({ store: memoryStore(), ttlMs: ttlMs as number })).toThrow(
        expect.objectContaining({ code: 'ERR_WBP_TTL' }),
      );
  });
});
