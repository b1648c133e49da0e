import { createInbox, memoryStore } from '@webhook-backpressure/inbox';
import { createIntake, type Intake } from '@webhook-backpressure/core';
import { intakeMetrics } from '@webhook-backpressure/observe';
import { collect, type CollectOptions } from '@webhook-backpressure/prometheus';
import * as latest from 'prom-client';
import * as oldest from 'prom-client150';
import { afterEach, describe, expect, it } from 'vitest';
import { createBench, occupy, startedNow } from '../core/harness.ts';
import { InboxBench } from '../core/inbox/inbox-bench.ts';
import { MetricsPage, Scrape } from './scrape.ts';

const pages: MetricsPage[] = [];

function pageOf(register: latest.Registry): MetricsPage {
  const page = new MetricsPage(register);
  pages.push(page);
  return page;
}

afterEach(() => {
  for (const page of pages.splice(0)) page.close();
  latest.register.clear();
});

function expectError(code: string, message: RegExp, action: () => unknown): void {
  const wrong = { code, message: expect.stringMatching(message) as string };
  expect(action).toThrow(expect.objectContaining(wrong) as Error);
}

describe.each([
  ['the latest', latest],
  ['the oldest', oldest as unknown as typeof latest],
])('collect, on %s prom-client', (_, { Counter, Registry }) => {
  it('gives a scrape the values of a snapshot of the same moment', async () => {
    const { intake, clock } = createBench({ concurrency: 2, capacity: 10 });
    const register = new Registry();
    collect(intake, { register });
    const [first] = occupy(intake);
    clock.advance(40);
    first?.release();
    for (let at = 0; at < 14; at += 1) intake.admit();
    clock.advance(1000);

    const scrape = await pageOf(register).scrape();
    const { depth, active, drainRate, effectiveCapacity, totals } = intake.snapshot();
    expect(scrape.value('webhook_intake_queue_depth')).toBe(depth);
    expect(scrape.value('webhook_intake_active')).toBe(active);
    expect(scrape.value('webhook_intake_drain_rate_per_second')).toBe(drainRate);
    expect(scrape.value('webhook_intake_effective_capacity')).toBe(effectiveCapacity);
    expect(scrape.value('webhook_intake_oldest_wait_seconds')).toBe(1);
    expect(scrape.value('webhook_intake_state', { state: 'shedding' })).toBe(1);
    expect(scrape.value('webhook_intake_state', { state: 'accepting' })).toBe(0);
    expect(scrape.value('webhook_intake_arrivals_total')).toBe(16);
    expect(scrape.value('webhook_intake_completed_total')).toBe(1);
    for (const status of [429, 503] as const) {
      for (const [reason, count] of Object.entries(totals.refusedByStatus[status])) {
        const labels = { reason, status: String(status) };
        expect(scrape.value('webhook_intake_overflow_total', labels)).toBe(count);
      }
    }
    expect(totals.refused.full + totals.refused.shedding).toBeGreaterThan(0);
    const handling = 'webhook_intake_handling_duration_seconds';
    expect(scrape.value(`${handling}_bucket`, { le: '0.025' })).toBe(0);
    expect(scrape.value(`${handling}_bucket`, { le: '0.05' })).toBe(1);
    expect(scrape.value(`${handling}_bucket`, { le: '+Inf' })).toBe(1);
    expect(scrape.value(`${handling}_sum`)).toBe(0.04);
    expect(scrape.value(`${handling}_count`)).toBe(1);
    expect(scrape.value('webhook_intake_wait_duration_seconds_count')).toBe(totals.started);
  });

  it('has each metric of the table, with its type', async () => {
    const { intake } = createBench();
    const register = new Registry();
    collect(intake, { register });
    startedNow(intake.admit()).release();
    const { names, types } = await pageOf(register).scrape();
    expect(names).toEqual(intakeMetrics.map(({ prometheusName }) => prometheusName));
    for (const { prometheusName, kind } of intakeMetrics) {
      expect(types[prometheusName]).toBe(kind.toUpperCase());
    }
  });

  it('distinguishes several sources of one register by their names', async () => {
    const register = new Registry();
    const [orders, refunds] = [createBench(), createBench()];
    collect(orders.intake, { register, name: 'orders' });
    const end = collect(refunds.intake, { register, name: 'refunds', keys: 1 });
    const bench = new InboxBench();
    collect(bench.inbox, { register, name: 'orders' });
    occupy(orders.intake);
    occupy(refunds.intake, 'a').pop()?.release();
    await bench.deliver('evt_1');
    const page = pageOf(register);
    const scrape = await page.scrape();
    expect(scrape.value('webhook_intake_active', { name: 'orders' })).toBe(10);
    expect(scrape.value('webhook_intake_active', { name: 'refunds' })).toBe(9);
    expect(scrape.value('webhook_inbox_queue_depth', { name: 'orders' })).toBe(1);
    const labels = { name: 'refunds', key: 'a', sender: 'unknown' };
    expect(scrape.value('webhook_intake_started_total', labels)).toBe(10);
    expect(scrape.value('webhook_intake_wait_duration_seconds_count', labels)).toBe(10);
    expect(scrape.value('webhook_intake_started_total', { name: 'orders' })).toBe(10);

    end();
    end();
    const after = await page.scrape();
    expect(after.labels('webhook_intake_active')).toEqual([{ name: 'orders' }]);
  });

  it('is in the text that OpenMetrics asks for', async () => {
    const register = new Registry<latest.OpenMetricsContentType | latest.PrometheusContentType>();
    register.setContentType(latest.openMetricsContentType);
    const { intake } = createBench();
    const end = collect(intake, { register, keys: 2 });
    startedNow(intake.admit({ key: 'a' })).release();
    const text = await register.metrics();
    expect(text).toContain('# TYPE webhook_intake_started counter\n');
    expect(text).toContain('webhook_intake_started_total{key="a",sender="unknown"} 1\n');
    expect(text).not.toContain('_total_total');
    expect(await register.metrics()).toBe(text);
    register.setContentType(latest.prometheusContentType);
    expect(await register.metrics()).toContain('# TYPE webhook_intake_started_total counter\n');
    end();
    expect(register.getMetricsAsArray()).toEqual([]);
  });

  it('keeps keys with any characters, and as many as asked for', async () => {
    const register = new Registry();
    const { intake } = createBench();
    collect(intake, { register, keys: 3 });
    const keys = ['<script>alert("x")</script>', 'back\\slash\nand newline', '🦀'.repeat(100)];
    for (const key of [...keys, 'one', 'two']) startedNow(intake.admit({ key })).release();
    const scrape = await pageOf(register).scrape();
    for (const key of keys) {
      expect(scrape.value('webhook_intake_completed_total', { key, sender: 'unknown' })).toBe(1);
    }
    expect(scrape.labels('webhook_intake_completed_total')).toHaveLength(4);
    expect(scrape.value('webhook_intake_completed_total', { key: 'other', sender: 'other' })).toBe(2);
  });

  it('reads the source once for each scrape', async () => {
    const { intake } = createBench();
    let taken = 0;
    const counting: Intake = {
      dryRun: false,
      admit: (delivery) => intake.admit(delivery),
      accepts: (delivery) => intake.accepts(delivery),
      update: (options) => {
        intake.update(options);
      },
      subscribe: (listener) => intake.subscribe(listener),
      close: (options) => intake.close(options),
      snapshot: () => {
        taken += 1;
        return intake.snapshot();
      },
    };
    const register = new Registry();
    collect(counting, { register });
    taken = 0;
    await register.metrics();
    expect(taken).toBe(1);
    await Promise.all([register.metrics(), register.metrics()]);
    expect(taken).toBe(3);
    await register.getSingleMetricAsString('webhook_intake_queue_depth');
    expect(taken).toBe(4);
  });

  it('shows what happened between two scrapes of one turn', async () => {
    const { intake } = createBench();
    const register = new Registry();
    collect(intake, { register });
    const before = register.metrics();
    intake.admit();
    const after = register.metrics();
    expect(new Scrape(await before).value('webhook_intake_active')).toBe(0);
    expect(new Scrape(await after).value('webhook_intake_active')).toBe(1);
  });

  it('refuses a register that has another metric with one of the names', () => {
    const register = new Registry();
    new Counter({ name: 'webhook_intake_started_total', help: 'mine', registers: [register] });
    expectError('ERR_WBP_METRICS_REGISTER', /webhook_intake_started_total/, () =>
      collect(createIntake(), { register }),
    );
    expect(register.getMetricsAsArray()).toHaveLength(1);
  });

  it('refuses a second source with the same name, or a second without one', () => {
    const register = new Registry();
    const end = collect(createIntake(), { register });
    expectError('ERR_WBP_METRICS_NAME', /without a name/, () => collect(createIntake(), { register }));
    collect(createIntake(), { register, name: 'a' });
    expectError('ERR_WBP_METRICS_NAME', /with the name "a"/, () =>
      collect(createIntake(), { register, name: 'a' }),
    );
    end();
    collect(createIntake(), { register })();
  });

  it('leaves no metric after the last source has ended', () => {
    const register = new Registry();
    const ends = ['a', 'b'].map((name) => collect(createIntake(), { register, name }));
    for (const end of ends) end();
    expect(register.getMetricsAsArray()).toEqual([]);
    collect(createIntake(), { register });
  });

  it('survives a cleared register', async () => {
    const register = new Registry();
    const end = collect(createIntake(), { register });
    register.clear();
    collect(createIntake(), { register });
    end();
    expect(new Scrape(await register.metrics()).value('webhook_intake_queue_depth')).toBe(0);
  });

  it('is not reset with the register', async () => {
    const { intake } = createBench();
    const register = new Registry();
    collect(intake, { register });
    startedNow(intake.admit()).release();
    register.resetMetrics();
    expect(new Scrape(await register.metrics()).value('webhook_intake_completed_total')).toBe(1);
  });

  it('goes on when the source has closed', async () => {
    const { intake } = createBench();
    const register = new Registry();
    collect(intake, { register });
    startedNow(intake.admit()).release();
    await intake.close();
    const scrape = new Scrape(await register.metrics());
    expect(scrape.value('webhook_intake_state', { state: 'closed' })).toBe(1);
    expect(scrape.value('webhook_intake_completed_total')).toBe(1);
  });

  it('adds the default labels of the register', async () => {
    const register = new Registry();
    register.setDefaultLabels({ app: 'shop' });
    collect(createIntake(), { register });
    expect(new Scrape(await register.metrics()).value('webhook_intake_queue_depth', { app: 'shop' })).toBe(0);
  });
});

describe('collect', () => {
  it('uses the global register of prom-client by default', async () => {
    collect(createIntake());
    expect(new Scrape(await latest.register.metrics()).value('webhook_intake_queue_depth')).toBe(0);
  });

  it('adds up the processes of a cluster, and counts a shared store once', async () => {
    const workers = [new latest.Registry(), new latest.Registry()];
    for (const register of workers) {
      const { intake } = createBench();
      collect(intake, { register });
      occupy(intake);
      const bench = new InboxBench();
      await bench.deliver('evt_1');
      collect(bench.inbox, { register });
    }
    const all = latest.AggregatorRegistry.aggregate(
      await Promise.all(workers.map((register) => register.getMetricsAsJSON())),
    );
    const scrape = new Scrape(await all.metrics());
    expect(scrape.value('webhook_intake_active')).toBe(20);
    expect(scrape.value('webhook_intake_wait_duration_seconds_count')).toBe(20);
    expect(scrape.value('webhook_inbox_queue_depth')).toBe(1);
    expect(scrape.value('webhook_inbox_active')).toBe(2);
  });

  it.each([
    ['a register', { register: {} }, 'ERR_WBP_METRICS_REGISTER'],
    ['null as the register', { register: null }, 'ERR_WBP_METRICS_REGISTER'],
    ['too many keys', { keys: 1e6 }, 'ERR_WBP_METRICS_KEYS'],
    ['an empty name', { name: '' }, 'ERR_WBP_METRICS_NAME'],
    ['an unknown option', { registry: new latest.Registry() }, 'ERR_WBP_UNKNOWN_OPTION'],
  ])('refuses %s', (_, options, code) => {
    expectError(code, /./, () => collect(createIntake(), options as unknown as CollectOptions));
  });

  it('refuses a source that is none, and registers nothing', () => {
    expectError('ERR_WBP_METRICS_SOURCE', /intake, an inbox or a sender/, () => collect({} as never));
    expect(latest.register.getMetricsAsArray()).toEqual([]);
  });

  it('accepts an inbox', async () => {
    collect(createInbox({ store: memoryStore(), verify: false, process: () => undefined }));
    expect(new Scrape(await latest.register.metrics()).value('webhook_inbox_store_resting')).toBe(0);
  });
});
