import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { createIntake } from '@webhook-backpressure/core';
import { type MetricsOptions, readMetrics } from '@webhook-backpressure/observe';
import { webhookBackpressure } from '@webhook-backpressure/express';
import { webhookInbox } from '@webhook-backpressure/express/inbox';
import { describe, expect, it } from 'vitest';
import { createBench, startedNow } from '../harness.ts';
import { valuesOf } from './samples.ts';

describe('readMetrics', () => {
  it('reports each value of a histogram when it occurs', () => {
    const { intake, clock } = createBench();
    const reader = readMetrics(intake, { name: 'orders', keys: 1 });
    const records: unknown[] = [];
    const end = reader.onRecord(({ name }, value, attributes) => records.push([name, value, attributes]));
    const permit = startedNow(intake.admit({ key: 'a' }));
    clock.advance(250);
    permit.release();
    const attributes = { name: 'orders', key: 'a', sender: 'unknown' };
    expect(records).toEqual([
      ['webhook.intake.wait.duration', 0, attributes],
      ['webhook.intake.handling.duration', 0.25, attributes],
    ]);
    end();
    startedNow(intake.admit()).release();
    expect(records).toHaveLength(2);
  });

  it('goes on when a listener throws', () => {
    const { intake, clock } = createBench();
    const reader = readMetrics(intake);
    let calls = 0;
    reader.onRecord(() => {
      throw new Error('a bug of the exporter');
    });
    reader.onRecord(() => (calls += 1));
    const permit = startedNow(intake.admit());
    clock.advance(1);
    permit.release();
    expect(calls).toBe(2);
    expect(valuesOf(reader, 'webhook.intake.completed')).toEqual({ '{}': 1 });
  });

  it('is not affected by another listener that writes to its events', () => {
    const { intake, clock } = createBench();
    intake.subscribe((event) => Object.assign(event, { key: 'written', tookMs: 1e6, waitedMs: 1e6 }));
    const reader = readMetrics(intake, { keys: 1 });
    const records: unknown[] = [];
    reader.onRecord((_, value, { key }) => records.push([key, value]));
    const permit = startedNow(intake.admit({ key: 'a' }));
    clock.advance(250);
    permit.release();
    expect(records).toEqual([
      ['a', 0],
      ['a', 0.25],
    ]);
  });

  it('reads nothing after its close, and listens no longer', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake);
    let calls = 0;
    reader.onRecord(() => (calls += 1));
    reader.close();
    startedNow(intake.admit()).release();
    expect(reader.read().size).toBe(0);
    expect(calls).toBe(0);
    reader.close();
  });

  it('puts the name into every sample', () => {
    const reader = readMetrics(createIntake(), { name: 'orders' });
    for (const [, samples] of reader.read()) {
      for (const { attributes } of samples) expect(attributes['name']).toBe('orders');
    }
  });

  it('is not affected by changes of what it returned', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake, { name: 'orders' });
    const before = JSON.stringify([...reader.read()]);
    for (const sample of [...reader.read().values()].flat()) {
      if ('counts' in sample) (sample.counts as number[]).fill(7);
      Reflect.set(sample.attributes, 'name', 'x');
    }
    expect(JSON.stringify([...reader.read()])).toBe(before);
  });

  it.each([
    ['keys', -1, 'ERR_WBP_METRICS_KEYS'],
    ['keys', 1.5, 'ERR_WBP_METRICS_KEYS'],
    ['keys', 1001, 'ERR_WBP_METRICS_KEYS'],
    ['keys', '50', 'ERR_WBP_METRICS_KEYS'],
    ['name', '', 'ERR_WBP_METRICS_NAME'],
    ['name', 7, 'ERR_WBP_METRICS_NAME'],
    ['name', 'x'.repeat(101), 'ERR_WBP_METRICS_NAME'],
    ['key', 5, 'ERR_WBP_UNKNOWN_OPTION'],
  ])('refuses the option %s with the value %j', (option, value, code) => {
    const options = { [option]: value } as MetricsOptions;
    expect(() => readMetrics(createIntake(), options)).toThrow(expect.objectContaining({ code }) as Error);
  });

  it('takes undefined for absent', () => {
    expect(() => readMetrics(createIntake(), { keys: undefined, name: undefined })).not.toThrow();
  });

  it.each([
    ['undefined', undefined, /was undefined\./],
    ['a snapshot', createIntake().snapshot(), /but was \{/],
    ['a middleware', webhookBackpressure(), /Pass its \.intake instead/],
    [
      'an inbox middleware',
      webhookInbox({ store: memoryStore(), verify: false, process: () => undefined }),
      /Pass its \.inbox instead/,
    ],
  ])('refuses %s as the source', (_, source, message) => {
    const wrong = {
      code: 'ERR_WBP_METRICS_SOURCE',
      message: expect.stringMatching(message) as string,
    };
    expect(() => readMetrics(source as never)).toThrow(expect.objectContaining(wrong) as Error);
  });

  it('accepts an inbox', () => {
    const inbox = createInbox({ store: memoryStore(), verify: false, process: () => undefined });
    expect(valuesOf(readMetrics(inbox), 'webhook.inbox.depth')).toEqual({ '{}': 0 });
  });
});
