import { type InboxAnswer, type InboxOptions, memoryStore } from '@webhook-backpressure/inbox';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { InboxBench, turns } from '../inbox-bench.ts';

// Marks at 80 and 50; a reserve of 20, half of it 10.
const CAPACITY = 100;
const HIGH = 80;
const RESERVE = 20;
const HALF = 10;
/** What a key gets that holds much, while another key asks. */
const QUARTER = 5;

/** Two senders that never retry. */
const senders = ['one', 'two'].map((name): SenderProfile => {
  return {
    name,
    match: { header: `x-${name}` },
    retries: 'none',
    success: '2xx',
    source: 'https://example.org',
    verifiedAt: '2026-11-20',
  };
});

const isAcknowledged = (answer: InboxAnswer | null): boolean => answer !== null && answer.status < 300;

/** How many of these are acknowledged when they arrive together. */
async function flood(bench: InboxBench, count: number, headers: Record<string, string>): Promise<number> {
  const sending = Array.from({ length: count }, () => bench.send(undefined, '{}', headers));
  const answers = await Promise.all(sending);
  await turns();
  return answers.filter(isAcknowledged).length;
}

async function finish(bench: InboxBench, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await bench.calls[bench.inbox.snapshot().totals.completed]?.finish();
}

const ONE = { 'x-one': '1' };
const TWO = { 'x-two': '1' };

/** An inbox that has just reached the high-water mark. */
async function shedding(options: Partial<InboxOptions> = {}, by = {}): Promise<InboxBench> {
  const bench = new InboxBench({ capacity: CAPACITY, concurrency: 1, senders, ...options });
  expect(await flood(bench, HIGH, by)).toBe(HIGH);
  return bench;
}

describe('the reserve of an inbox', () => {
  it('is available to one sender alone while no other asks', async () => {
    expect(await flood(await shedding(), 50, ONE)).toBe(RESERVE);
  });

  it('keeps half for a second sender that asks', async () => {
    const bench = await shedding();
    expect(await flood(bench, 1, TWO)).toBe(1);
    expect(await flood(bench, 50, ONE)).toBe(HALF);
    expect(await flood(bench, 50, TWO)).toBe(RESERVE - HALF - 1);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: CAPACITY, totals: { refused: { full: 81 } } });
  });

  it('is available to one sender again when the other has not asked for a minute', async () => {
    const bench = await shedding();
    await flood(bench, 1, TWO);
    await bench.advance(60_000);
    expect(await flood(bench, 50, ONE)).toBe(HALF);
    await bench.advance(1);
    expect(await flood(bench, 50, ONE)).toBe(RESERVE - HALF - 1);
  });

  it('ignores deliveries that are not verified', async () => {
    const bench = await shedding({ verify: ({ headers }) => headers['x-two'] !== 'forged' });
    expect(await flood(bench, 1, { 'x-two': 'forged' })).toBe(0);
    expect(await flood(bench, 50, ONE)).toBe(RESERVE);
  });

  it('has places for keys with few deliveries, except in its last quarter', async () => {
    const bench = await shedding({ keyGenerator: ({ headers }) => headers['x-key'] });
    expect(await flood(bench, 14, ONE)).toBe(14);
    expect(await flood(bench, 3, { 'x-key': 'small' })).toBe(1);
  });

  it('is released as the deliveries of a key finish, the last ones last', async () => {
    const bench = await shedding({}, ONE);
    await flood(bench, 1, TWO);
    expect(await flood(bench, 50, ONE)).toBe(QUARTER - 1);
    expect(await flood(bench, 50, TWO)).toBe(HALF - 1);
    // Of both keys; the first key's deliveries below the mark did not use the reserve.
    await finish(bench, 3);
    expect(await flood(bench, 50, ONE)).toBe(0);
    expect(await flood(bench, 50, TWO)).toBe(1);
  });

  it('is unused when the gate has opened', async () => {
    const bench = await shedding({}, ONE);
    await flood(bench, 1, TWO);
    expect(await flood(bench, 50, ONE)).toBe(QUARTER - 1);
    await finish(bench, 35);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 50, state: 'accepting' });
    expect(await flood(bench, 50, {})).toBe(HIGH - 50);
    await flood(bench, 1, TWO);
    expect(await flood(bench, 50, ONE)).toBe(QUARTER - 1);
  });

  it('is released when a delivery could not be stored', async () => {
    const store = memoryStore();
    const put = store.put.bind(store);
    const bench = await shedding({ store }, ONE);
    await flood(bench, 1, TWO);
    store.put = () => {
      throw new Error('disk full');
    };
    expect(await flood(bench, 50, ONE)).toBe(0);
    store.put = put;
    await bench.advance(10_000);
    expect(await flood(bench, 50, ONE)).toBe(QUARTER - 1);
  });

  it('is shared by bytes too', async () => {
    const bench = new InboxBench({ maxBytes: 100_000, concurrency: 1, senders });
    const deliver = (headers: Record<string, string>): Promise<InboxAnswer> =>
      bench.deliver(undefined, 'x'.repeat(600), headers);
    const many = async (headers: Record<string, string>): Promise<number> => {
      let bytes = 0;
      for (let at = 0; at < 200; at += 1) {
        const before = bench.inbox.snapshot().bytes;
        if (isAcknowledged(await deliver(headers))) bytes += bench.inbox.snapshot().bytes - before;
      }
      return bytes;
    };
    expect(await many({})).toBeGreaterThan(79_000);
    expect((await deliver(TWO)).status).toBe(202);
    const one = await many(ONE);
    expect(one).toBeGreaterThan(8000);
    expect(one).toBeLessThan(11_000);
    expect(await many(TWO)).toBeGreaterThan(6000);
  });

  it('is available up to three quarters to keys with few bytes too', async () => {
    const bench = new InboxBench({
      maxBytes: 100_000,
      concurrency: 1,
      keyGenerator: ({ headers }) => headers['x-key'],
    });
    const deliver = (key: string): Promise<InboxAnswer> =>
      bench.deliver(undefined, 'x'.repeat(600), { 'x-key': key });
    while (isAcknowledged(await deliver('noisy')));
    let small = 0;
    for (let at = 0; at < 40; at += 1) if (isAcknowledged(await deliver(`quiet ${String(at)}`))) small += 1;
    expect(small).toBeGreaterThan(5);
    expect(bench.inbox.snapshot().bytes).toBeGreaterThan(85_000);
    expect(bench.inbox.snapshot().bytes).toBeLessThan(96_500);
  });
});
