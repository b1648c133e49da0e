import { inboxMetrics, readMetrics } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { InboxBench } from '../inbox/inbox-bench.ts';
import { histogramsOf, sumOf, valuesOf } from './samples.ts';

describe('the metrics of an inbox', () => {
  it('are those of its snapshot', async () => {
    const bench = new InboxBench({ concurrency: 1, capacity: 4, retry: { attempts: 1 } });
    const reader = readMetrics(bench.inbox);
    for (const id of ['evt_1', 'evt_1', 'evt_2', 'evt_3']) await bench.deliver(id, '{"n":1}');
    await bench.advance(200);
    await bench.last.finish();
    await bench.last.fail();
    for (const id of ['evt_4', 'evt_5', 'evt_6', 'evt_7']) await bench.deliver(id);
    await bench.advance(5000);

    const { totals, ...gauges } = bench.inbox.snapshot();
    expect(totals).toMatchObject({ duplicate: 1, completed: 1, failed: 1, dead: 1 });
    expect(totals.refused.full + totals.refused.shedding).toBeGreaterThan(0);
    const named = {
      'webhook.inbox.depth': gauges.depth,
      'webhook.inbox.size': gauges.bytes,
      'webhook.inbox.active': 1,
      'webhook.inbox.concurrency': 1,
      'webhook.inbox.capacity': 4,
      'webhook.inbox.max_size': gauges.maxBytes,
      'webhook.inbox.oldest_age': gauges.oldestAgeMs / 1000,
      'webhook.inbox.booked': gauges.booked,
      'webhook.inbox.dead_letter.depth': 1,
      'webhook.inbox.dead_letter.size': gauges.deadLetterBytes,
      'webhook.inbox.store.resting': 0,
      'webhook.inbox.arrivals': 8,
      'webhook.inbox.stored': totals.stored,
      'webhook.inbox.duplicates': 1,
      'webhook.inbox.completed': 1,
      'webhook.inbox.failed_attempts': 1,
      'webhook.inbox.dead': 1,
      'webhook.inbox.started': totals.started,
    };
    for (const [name, value] of Object.entries(named)) {
      expect(valuesOf(reader, name), name).toEqual({ '{}': value });
    }
    expect(sumOf(reader, 'webhook.inbox.refused')).toBe(totals.refused.full + totals.refused.shedding);
    expect(valuesOf(reader, 'webhook.inbox.state')).toMatchObject({ [`{"state":"${gauges.state}"}`]: 1 });
  });

  it('say which alarms are raised', async () => {
    const bench = new InboxBench({ retry: { attempts: 1 } });
    const reader = readMetrics(bench.inbox);
    const raised = (): string[] =>
      Object.entries(valuesOf(reader, 'webhook.inbox.alarm')).flatMap(([code, value]) =>
        value === 1 ? code : [],
      );
    expect(raised()).toEqual([]);
    await bench.deliver('evt_1');
    await bench.last.fail();
    expect(raised()).toEqual(['{"code":"WBP_ALARM_DEAD_LETTERS"}']);
    expect(Object.keys(valuesOf(reader, 'webhook.inbox.alarm'))).toHaveLength(8);
  });

  it('all have a sample from the start, except the unknown drain rate', () => {
    const reader = readMetrics(new InboxBench().inbox);
    const without = [...reader.read()].filter(([, samples]) => samples.length === 0);
    expect(without.map(([metric]) => metric.name)).toEqual(['webhook.inbox.drain_rate']);
    expect([...reader.read().keys()]).toEqual(inboxMetrics);
  });

  it('count commits, waits of first attempts, and all handling times', async () => {
    const bench = new InboxBench({ concurrency: 1, retry: { firstDelayMs: 1000 } });
    const reader = readMetrics(bench.inbox, { keys: 10 });
    await Promise.all(['evt_1', 'evt_2', 'evt_3'].map((id) => bench.deliver(id)));
    const [commit] = histogramsOf(reader, 'webhook.inbox.commit.size');
    expect(commit).toMatchObject({ attributes: {}, sum: 3 });
    expect(histogramsOf(reader, 'webhook.inbox.commit.duration')[0]?.count).toBe(commit?.count);

    await bench.advance(300);
    await bench.last.fail();
    await bench.advance(400);
    await bench.last.finish();
    await bench.last.finish();
    const waits = histogramsOf(reader, 'webhook.inbox.wait.duration').reduce((sum, one) => sum + one.sum, 0);
    expect(waits).toBeCloseTo(0.3 + 0.7, 9);
    await bench.advance(120_000);
    await bench.last.finish();
    expect(histogramsOf(reader, 'webhook.inbox.wait.duration').map(({ count }) => count)).toEqual([3, 0]);
    const [handled] = histogramsOf(reader, 'webhook.inbox.handling.duration');
    expect(handled).toMatchObject({ attributes: { key: 'default', sender: 'unknown' }, count: 4 });
  });

  it('of a key count its last attempt as failed too', async () => {
    const bench = new InboxBench({ retry: { attempts: 2, firstDelayMs: 1000 } });
    const reader = readMetrics(bench.inbox, { keys: 1 });
    await bench.deliver('evt_1');
    await bench.last.fail();
    await bench.advance(10_000);
    await bench.last.fail();
    const ofTheKey = (value: number) => ({
      '{"key":"default","sender":"unknown"}': value,
      '{"key":"other","sender":"other"}': 0,
    });
    expect(valuesOf(reader, 'webhook.inbox.failed_attempts')).toEqual(ofTheKey(2));
    expect(valuesOf(reader, 'webhook.inbox.dead')).toEqual(ofTheKey(1));
    expect(valuesOf(reader, 'webhook.inbox.stored')).toEqual(ofTheKey(1));
  });

  it('of each key add up to the totals', async () => {
    const bench = new InboxBench({
      concurrency: 2,
      capacity: 8,
      retry: { attempts: 2, firstDelayMs: 1000 },
      keyGenerator: ({ headers }) => headers['x-shop'],
    });
    const reader = readMetrics(bench.inbox, { keys: 2 });
    const before = readMetrics(bench.inbox);
    for (let at = 0; at < 60; at += 1) {
      const headers = { 'x-shop': `shop ${String(at % 4)}` };
      await bench.deliver(`evt_${String(at % 20)}`, '{}', headers);
      if (at % 3 === 0) await bench.last.fail();
      else if (at % 3 === 1) await bench.last.finish();
      await bench.advance(700);
    }
    for (const { name, kind } of reader.metrics.filter(({ isByKey }) => isByKey)) {
      if (kind === 'counter') {
        const values = valuesOf(reader, name);
        expect(sumOf(reader, name), name).toBe(sumOf(before, name));
        expect(
          Object.keys(values).some((key) => key.includes('"shop ')),
          name,
        ).toBe(true);
      } else {
        const counts = histogramsOf(reader, name).map(({ count }) => count);
        expect(counts.reduce((sum, count) => sum + count)).toBe(histogramsOf(before, name)[0]?.count);
      }
    }
  });
});
