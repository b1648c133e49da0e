import { type InboxAnswer, memoryStore } from '@webhook-backpressure/inbox';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox-bench.ts';

function reasonOf({ body }: InboxAnswer): string {
  return (JSON.parse(body) as { reason: string }).reason;
}

async function fill(bench: InboxBench, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    expect((await bench.deliver(`fill ${String(at)}`)).status).toBe(200);
  }
}

async function finish(bench: InboxBench, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await bench.calls[bench.inbox.snapshot().totals.completed]?.finish();
}

const GITHUB = { 'x-github-event': 'push' };

describe('the water marks', () => {
  it('shed from the high mark down to the low mark, by deliveries', async () => {
    const bench = new InboxBench({ capacity: 10, concurrency: 1 });
    await fill(bench, 8);
    const refused = await bench.deliver('more');
    expect([refused.status, reasonOf(refused), bench.inbox.snapshot().state]).toEqual([
      503,
      'shedding',
      'shedding',
    ]);
    await finish(bench, 2);
    expect(reasonOf(await bench.deliver('more'))).toBe('shedding');
    await finish(bench, 1);
    expect((await bench.deliver('more')).status).toBe(200);
    expect(bench.told('shedding', 'accepting')).toEqual(['shedding', 'accepting']);
    expect(bench.inbox.snapshot()).toMatchObject({ capacity: 10, highWater: 8, lowWater: 5, depth: 6 });
  });

  it('shed by bytes too', async () => {
    const bench = new InboxBench({ maxBytes: 10_000, concurrency: 1 });
    const body = 'x'.repeat(4000);
    expect((await bench.deliver('a', body)).status).toBe(200);
    expect((await bench.deliver('b', body)).status).toBe(200);
    expect(reasonOf(await bench.deliver('c', 'small'))).toBe('shedding');
    await bench.last.finish();
    expect(bench.inbox.snapshot().bytes).toBeLessThan(5000);
    expect((await bench.deliver('c', 'small')).status).toBe(200);
  });

  it('reserve the room up to the capacity for senders that never retry', async () => {
    const bench = new InboxBench({ capacity: 10, concurrency: 1 });
    await fill(bench, 8);
    for (const id of ['g1', 'g2']) expect((await bench.deliver(id, '{}', GITHUB)).status).toBe(202);
    expect(reasonOf(await bench.deliver('g3', '{}', GITHUB))).toBe('full');
    expect(bench.inbox.snapshot().totals).toMatchObject({ lossRisk: 1, refused: { full: 1 } });
  });

  it('reserve three quarters of it for keys that have no part in the burst', async () => {
    const bench = new InboxBench({
      capacity: 100,
      concurrency: 1,
      keyGenerator: ({ headers }) => headers['x-key'],
    });
    for (let at = 0; at < 80; at += 1) await bench.deliver(String(at), '{}', { 'x-key': 'noisy' });
    expect((await bench.deliver('n', '{}', { 'x-key': 'noisy' })).status).toBe(429);
    for (let at = 0; at < 15; at += 1) {
      expect((await bench.deliver(String(at), '{}', { 'x-key': `quiet ${String(at)}` })).status).toBe(200);
    }
    expect((await bench.deliver('q', '{}', { 'x-key': 'late' })).status).toBe(503);
  });

  it('count deliveries that are being stored', async () => {
    const store = memoryStore();
    const bench = new InboxBench({ store, capacity: 10, concurrency: 1 });
    const answers = await Promise.all(Array.from({ length: 50 }, (_, at) => bench.send(String(at))));
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(8);
    expect(bench.inbox.snapshot().totals.refused.shedding).toBe(42);
  });

  it('follow the drain rate when maxWaitMs is set', async () => {
    const bench = new InboxBench({ capacity: 1000, concurrency: 1, maxWaitMs: 10_000 });
    expect(bench.inbox.snapshot().effectiveCapacity).toBe(1000);
    await bench.deliver('a');
    await bench.advance(1000);
    await bench.last.finish();
    expect(bench.inbox.snapshot().effectiveCapacity).toBeGreaterThanOrEqual(9);
    expect(bench.inbox.snapshot().effectiveCapacity).toBeLessThanOrEqual(12);
  });

  it('only report refusals in a dry run', async () => {
    const bench = new InboxBench({ capacity: 10, concurrency: 1, dryRun: true });
    await fill(bench, 10);
    expect(bench.inbox.snapshot().totals.refused.shedding).toBeGreaterThan(0);
    expect(bench.inbox.snapshot().depth).toBe(10);
    expect((await bench.deliver('k')).status).toBe(503);
  });
});

describe('Retry-After', () => {
  it('is calculated from the depth and the drain rate', async () => {
    const bench = new InboxBench({ capacity: 100, concurrency: 1, random: () => 0 });
    await fill(bench, 60);
    for (let at = 0; at < 20; at += 1) {
      await bench.advance(1000);
      await finish(bench, 1);
    }
    for (let at = 0; at < 40; at += 1) await bench.deliver(`late ${String(at)}`);
    const refused = await bench.deliver('more');
    expect(reasonOf(refused)).toBe('shedding');
    // 80 deliveries at a measured rate of one per second.
    expect(Number(refused.headers['Retry-After'])).toBeGreaterThan(75);
    expect(Number(refused.headers['Retry-After'])).toBeLessThan(85);
  });

  it('staggers retries, and admits a retry at its second', async () => {
    const bench = new InboxBench({
      capacity: 20,
      concurrency: 1,
      retryAfter: { strategy: 'booked' },
      random: () => 0,
    });
    await fill(bench, 10);
    for (let at = 0; at < 6; at += 1) {
      await bench.advance(1000);
      await finish(bench, 1);
    }
    for (let at = 0; at < 12; at += 1) await bench.deliver(`late ${String(at)}`);
    const told: number[] = [];
    for (const id of ['x', 'y', 'z']) told.push(Number((await bench.deliver(id)).headers['Retry-After']));
    expect(new Set(told).size).toBe(3);
    expect(bench.inbox.snapshot().booked).toBe(3);
    // A second request gets the same second.
    expect(Number((await bench.deliver('y')).headers['Retry-After'])).toBe(told[1]);
    await bench.advance((told[0] ?? 0) * 1000);
    expect(reasonOf(await bench.deliver('stranger'))).toBe('shedding');
    expect((await bench.deliver('x')).status).toBe(200);
  });
});

describe('shed and pressure', () => {
  it('refuse the keys that are shed, before their body is read', async () => {
    const bench = new InboxBench({ shed: { github: true } });
    const read = (): Promise<'whole'> => Promise.reject(new Error('it was read'));
    const answer = await bench.inbox.receive({ headers: GITHUB, hint: '', read });
    expect(reasonOf(answer as InboxAnswer)).toBe('shed');
    bench.inbox.update({ shed: {} });
    expect((await bench.deliver('g', '{}', GITHUB)).status).toBe(202);
  });

  it('refuse under pressure, except senders that never retry', async () => {
    const bench = new InboxBench({ pressure: () => true });
    expect(reasonOf(await bench.deliver('a'))).toBe('pressure');
    expect((await bench.deliver('g', '{}', GITHUB)).status).toBe(202);
  });
});

describe("overflow: 'dead-letter'", () => {
  it('acknowledges deliveries above the high-water mark and stores them as dead letters', async () => {
    const bench = new InboxBench({ capacity: 10, concurrency: 1, overflow: 'dead-letter' });
    await fill(bench, 8);
    const kept = await bench.deliver('kept', '{"kept":1}');
    expect([kept.status, JSON.parse(kept.body)]).toEqual([200, { id: 'kept', status: 'accepted' }]);
    expect(bench.inbox.snapshot()).toMatchObject({ depth: 8, totals: { stored: 8, overflow: 1 } });
    expect(await bench.inbox.deadLetters.get('kept')).toMatchObject({
      reason: 'overflow',
      attempts: 0,
      error: '',
    });
    expect(JSON.parse((await bench.deliver('kept')).body)).toMatchObject({ status: 'duplicate' });
  });

  it('refuses deliveries when the dead-letter queue is full too', async () => {
    const bench = new InboxBench({ capacity: 4, maxDeadLetters: 4, concurrency: 1, overflow: 'dead-letter' });
    await fill(bench, 8);
    expect(reasonOf(await bench.deliver('more'))).toBe('full');
    expect(bench.inbox.snapshot().depth).toBe(4);
  });
});
