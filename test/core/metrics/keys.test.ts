import fc from 'fast-check';
import { type MetricsReader, readMetrics } from '@webhook-backpressure/observe';
import type { Intake } from '@webhook-backpressure/core';
import type { SenderProfile } from '@webhook-backpressure/senders';
import { describe, expect, it } from 'vitest';
import { createBench, letIn, occupy, seeded, startedNow } from '../harness.ts';
import { histogramsOf, samplesOf, sumOf, valuesOf } from './samples.ts';

function deliver(intake: Intake, key: string): void {
  startedNow(intake.admit({ key })).release();
}

function keysIn(reader: MetricsReader, name: string): (string | undefined)[] {
  return [...new Set(samplesOf(reader, name).map(({ attributes }) => attributes['key']))];
}

describe('the metrics of each key', () => {
  it('are absent by default', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake);
    deliver(intake, 'a');
    for (const samples of reader.read().values()) {
      for (const { attributes } of samples) expect(attributes).not.toHaveProperty('key');
    }
  });

  it('are those of the first keys, and the rest is called other', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake, { keys: 2 });
    for (const key of ['a', 'b', 'c', 'a', 'd']) deliver(intake, key);
    expect(valuesOf(reader, 'webhook.intake.completed')).toEqual({
      '{"key":"a","sender":"unknown"}': 2,
      '{"key":"b","sender":"unknown"}': 1,
      '{"key":"other","sender":"other"}': 2,
    });
    const counts = histogramsOf(reader, 'webhook.intake.handling.duration').map((one) => [
      one.attributes['key'],
      one.count,
    ]);
    expect(counts).toEqual([
      ['a', 2],
      ['b', 1],
      ['other', 2],
    ]);
  });

  it('do not confuse a key named other with the rest', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake, { keys: 2 });
    for (const key of ['other', 'a']) deliver(intake, key);
    expect(valuesOf(reader, 'webhook.intake.completed')).toEqual({
      '{"key":"a","sender":"unknown"}': 1,
      '{"key":"other","sender":"other"}': 1,
    });
  });

  it('distinguish the senders of one key, each in its own place', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake, { keys: 2 });
    for (const sender of ['github', 'stripe', 'svix']) {
      const profile: SenderProfile = {
        name: sender,
        match: { header: 'x-sender' },
        source: '',
        verifiedAt: '',
      };
      startedNow(intake.admit({ key: 'a', profile })).release();
    }
    expect(valuesOf(reader, 'webhook.intake.admitted')).toEqual({
      '{"key":"a","sender":"github"}': 1,
      '{"key":"a","sender":"stripe"}': 1,
      '{"key":"other","sender":"other"}': 1,
    });
  });

  it('count what happened before as other', () => {
    const { intake } = createBench();
    deliver(intake, 'a');
    const reader = readMetrics(intake, { keys: 2 });
    deliver(intake, 'a');
    expect(valuesOf(reader, 'webhook.intake.completed')).toEqual({
      '{"key":"a","sender":"unknown"}': 1,
      '{"key":"other","sender":"other"}': 1,
    });
  });

  it('count a delivery that was queued before as other, and its start under its key', () => {
    const { intake } = createBench({ concurrency: 1 });
    const [permit] = occupy(intake, 'a');
    letIn(intake.admit({ key: 'a' }));
    const reader = readMetrics(intake, { keys: 2 });
    permit?.release();
    expect(valuesOf(reader, 'webhook.intake.admitted')).toEqual({
      '{"key":"a","sender":"unknown"}': 0,
      '{"key":"other","sender":"other"}': 2,
    });
    expect(valuesOf(reader, 'webhook.intake.started')).toEqual({
      '{"key":"a","sender":"unknown"}': 1,
      '{"key":"other","sender":"other"}': 1,
    });
  });

  it('count a queued delivery as admitted once', () => {
    const { intake } = createBench({ concurrency: 1 });
    const reader = readMetrics(intake, { keys: 2 });
    const [permit] = occupy(intake, 'a');
    letIn(intake.admit({ key: 'a' }));
    const admitted = { '{"key":"a","sender":"unknown"}': 2, '{"key":"other","sender":"other"}': 0 };
    expect(valuesOf(reader, 'webhook.intake.admitted')).toEqual(admitted);
    permit?.release();
    expect(valuesOf(reader, 'webhook.intake.admitted')).toEqual(admitted);
    expect(valuesOf(reader, 'webhook.intake.arrivals')).toEqual(admitted);
    expect(valuesOf(reader, 'webhook.intake.started')).toEqual(admitted);
  });

  it('stay within the limit, however many keys there are', () => {
    const { intake } = createBench();
    const reader = readMetrics(intake, { keys: 50 });
    for (let at = 0; at < 20_000; at += 1) deliver(intake, `key ${String(at)}`);
    expect(keysIn(reader, 'webhook.intake.completed')).toHaveLength(51);
    expect(histogramsOf(reader, 'webhook.intake.wait.duration')).toHaveLength(51);
  });

  it.each([false, true])('add up to the totals, in a dry run: %s', (dryRun) => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const random = seeded(seed);
        const { intake, clock } = createBench({
          dryRun,
          concurrency: 2,
          capacity: 6,
          maxWaitMs: 300,
          maxHandlingMs: 2_000,
          overflow: random() < 0.5 ? 'drop-oldest' : 'refuse',
          random,
        });
        const permits: { release(): void }[] = [];
        const step = (): void => {
          const result = intake.admit({ key: `key ${String(Math.floor(random() * 6))}` });
          if (result.admitted) {
            if (random() < 0.1) result.leave();
            if (!(result.permit instanceof Promise)) permits.push(result.permit);
          }
          if (random() < 0.4) permits.splice(Math.floor(random() * permits.length), 1)[0]?.release();
          if (random() < 0.3) clock.advance(Math.floor(random() * 400));
        };
        for (let at = 0; at < 20; at += 1) step();
        const reader = readMetrics(intake, { keys: 3 });
        const before = readMetrics(intake);
        for (let at = 0; at < 60; at += 1) step();
        for (const { name, kind } of reader.metrics.filter(({ isByKey }) => isByKey)) {
          if (kind === 'counter') {
            expect(sumOf(reader, name), name).toBe(sumOf(before, name));
            expect(Math.min(...Object.values(valuesOf(reader, name))), name).toBeGreaterThanOrEqual(0);
          } else {
            const counts = histogramsOf(reader, name).map(({ count }) => count);
            expect(counts.reduce((sum, count) => sum + count)).toBe(histogramsOf(before, name)[0]?.count);
          }
        }
      }),
      { numRuns: 40 },
    );
  });
});
