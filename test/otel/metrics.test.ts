import { diag, DiagLogLevel, type Meter } from '@opentelemetry/api';
import { DataPointType } from '@opentelemetry/sdk-metrics';
import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { inboxMetrics, intakeMetrics, type Metric, readMetrics } from '@webhook-backpressure/observe';
import { instrument } from '@webhook-backpressure/otel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createBench, expectBalance, occupy, type Bench } from '../core/harness.ts';
import { recordMetrics, samplesOf } from './collected.ts';

afterEach(() => {
  diag.disable();
});

/** Deliveries of several keys with every fate. */
function load({ intake, clock }: Bench): void {
  for (let i = 0; i < 60; i += 1) {
    const key = `tenant-${String(i % 5)}`;
    const result = intake.admit({ key });
    clock.advance(i * 7);
    if (!result.admitted) continue;
    if (result.permit instanceof Promise) {
      if (i % 4 === 0) result.leave();
      else {
        void result.permit.then((permit) => {
          if (permit.admitted) permit.release();
        });
      }
    } else {
      result.permit.release(i % 3 === 0 ? 'failure' : 'success');
    }
  }
  const [permit] = occupy(intake);
  intake.admit({ key: 'tenant-1' });
  clock.advance(1500);
  permit?.release();
}

const KINDS = { gauge: DataPointType.GAUGE, counter: DataPointType.SUM, histogram: DataPointType.HISTOGRAM };

describe.each([0, 2])('the metrics of an intake with %i keys', (keys) => {
  it('are the same as those that readMetrics reads at the same moment', async () => {
    const bench = createBench({ concurrency: 2, capacity: 10 });
    const { meter, collect } = recordMetrics();
    const options = { keys, name: 'orders' };
    const reader = readMetrics(bench.intake, options);
    instrument(bench.intake, { meter, ...options });
    load(bench);
    const collected = await collect();
    const read = reader.read();
    const recorded = new Set<string>();
    for (const [metric, samples] of read) {
      const seen = samples.filter((one) => !('count' in one) || one.count > 0);
      expect(samplesOf(collected.get(metric.name)), metric.name).toEqual(
        expect.arrayContaining(seen.map((one): unknown => one)),
      );
      expect(samplesOf(collected.get(metric.name)), metric.name).toHaveLength(seen.length);
      if (seen.length > 0) recorded.add(metric.kind);
    }
    expect([...recorded].sort()).toEqual(['counter', 'gauge', 'histogram']);
  });
});

it.each<[string, readonly Metric[], (meter: Meter) => unknown]>([
  [
    'an intake',
    intakeMetrics,
    (meter) => {
      const bench = createBench();
      instrument(bench.intake, { meter });
      load(bench);
    },
  ],
  [
    'an inbox',
    inboxMetrics,
    (meter) => {
      instrument(createInbox({ store: memoryStore(), process: () => 0, verify: false }), { meter });
    },
  ],
])('describes the metrics of %s as the table does', async (_, table, run) => {
  const { meter, collect } = recordMetrics();
  run(meter);
  const collected = await collect();
  expect(collected.size).toBeGreaterThan(5);
  for (const [name, { descriptor, dataPointType, dataPoints }] of collected) {
    const metric = table.find((one) => one.name === name);
    const { unit, description, kind = 'gauge', buckets } = metric ?? {};
    expect({ name, unit: descriptor.unit, description: descriptor.description, dataPointType }).toEqual({
      name,
      unit,
      description,
      dataPointType: KINDS[kind],
    });
    for (const { value } of dataPoints) {
      if (typeof value === 'object' && 'buckets' in value) expect(value.buckets.boundaries).toEqual(buckets);
    }
  }
});

describe('instrument', () => {
  it('removes its metrics when it is ended', async () => {
    const bench = createBench();
    const { meter, collect } = recordMetrics();
    const stop = instrument(bench.intake, { meter });
    load(bench);
    const before = await collect();
    stop();
    load(bench);
    const after = await collect();
    // The SDK repeats the last value of what is not observed any more.
    for (const name of ['webhook.intake.admitted', 'webhook.intake.wait.duration']) {
      expect(before.get(name)?.dataPoints, name).toHaveLength(1);
      expect(samplesOf(after.get(name)), name).toEqual(samplesOf(before.get(name)));
    }
  });

  it.each([
    'createHistogram',
    'createObservableGauge',
    'createObservableCounter',
    'addBatchObservableCallback',
    'removeBatchObservableCallback',
    'record',
  ])(
    'affects neither deliveries nor another exporter when %s throws, and reports it once',
    async (method) => {
      const report = vi.fn();
      const silent = { error: report, warn: vi.fn(), info: vi.fn(), debug: vi.fn(), verbose: vi.fn() };
      diag.setLogger(silent, DiagLogLevel.ERROR);
      const bench = createBench();
      const [broken, sound] = [recordMetrics(), recordMetrics()];
      const meter = new Proxy(broken.meter, {
        get: (target, name: keyof Meter) => {
          const fail = (): never => {
            throw new Error('the exporter is broken');
          };
          if (name === method) return fail;
          if (method === 'record' && name === 'createHistogram') return () => ({ record: fail });
          return target[name].bind(target);
        },
      });
      const stop = instrument(bench.intake, { meter });
      instrument(bench.intake, { meter: sound.meter });
      load(bench);
      const { totals } = bench.intake.snapshot();
      expectBalance(bench.intake.snapshot());
      const collected = await sound.collect();
      const completed = samplesOf(collected.get('webhook.intake.completed'));
      expect(completed).toEqual([{ attributes: {}, value: totals.completed }]);
      expect(stop).not.toThrow();
      const reports = report.mock.calls.map(([message]: unknown[]) => message);
      expect(reports.length).toBeGreaterThan(0);
      expect(new Set(reports).size).toBe(reports.length);
    },
  );

  it.each<[string, object, string]>([
    ['a meter that is none', { meter: {} }, 'ERR_WBP_OTEL'],
    ['a tracer that is none', { tracer: null }, 'ERR_WBP_OTEL'],
    ['keys below 0', { keys: -1 }, 'ERR_WBP_METRICS_KEYS'],
    ['a mistyped option', { metre: {} }, 'ERR_WBP_UNKNOWN_OPTION'],
  ])('rejects %s', (_, options, code) => {
    expect(() => instrument(createBench().intake, options)).toThrow(expect.objectContaining({ code }));
  });

  it('rejects a source that is neither an intake nor an inbox', () => {
    expect(() => instrument({} as never)).toThrow(
      expect.objectContaining({ code: 'ERR_WBP_METRICS_SOURCE' }),
    );
  });
});
