import { intakeMetrics, readMetrics } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { joinFleet, memoryRegistry } from '@webhook-backpressure/fleet';
import { createBench, letIn, occupy, startedLater, startedNow } from '../harness.ts';
import { histogramsOf, samplesOf, valuesOf } from './samples.ts';

describe('the metrics of an intake', () => {
  it('are those of its snapshot', async () => {
    const { intake, clock } = createBench({ concurrency: 2, capacity: 10 });
    const reader = readMetrics(intake);
    const [first, second] = occupy(intake);
    const waiting = letIn(intake.admit());
    clock.advance(400);
    first?.release();
    (await startedLater(waiting)).release('failure');
    for (let at = 0; at < 12; at += 1) intake.admit();
    clock.advance(1500);

    const { state, drainRate, totals, ...gauges } = intake.snapshot();
    expect(state).toBe('shedding');
    expect(valuesOf(reader, 'webhook.intake.state')).toEqual({
      '{"state":"accepting"}': 0,
      '{"state":"shedding"}': 1,
      '{"state":"stalled"}': 0,
      '{"state":"closing"}': 0,
      '{"state":"closed"}': 0,
    });
    expect(drainRate).toBeGreaterThan(0);
    const named = {
      'webhook.intake.depth': gauges.depth,
      'webhook.intake.active': gauges.active,
      'webhook.intake.concurrency': 2,
      'webhook.intake.capacity': 10,
      'webhook.intake.effective_capacity': gauges.effectiveCapacity,
      'webhook.intake.high_water': gauges.highWater,
      'webhook.intake.low_water': gauges.lowWater,
      'webhook.intake.drain_rate': drainRate,
      'webhook.intake.oldest_wait': 1.5,
      'webhook.intake.booked': gauges.booked,
      'webhook.intake.endangered': 0,
      'webhook.intake.arrivals': 15,
      'webhook.intake.admitted': totals.admitted,
      'webhook.intake.started': totals.started,
      'webhook.intake.completed': 1,
      'webhook.intake.failed': 1,
      'webhook.intake.overdue': 0,
      'webhook.intake.loss_risk': 0,
    };
    for (const [name, value] of Object.entries(named)) {
      expect(valuesOf(reader, name), name).toEqual({ '{}': value });
    }
    expect(totals.refused.full + totals.refused.shedding).toBeGreaterThan(0);
    expect(valuesOf(reader, 'webhook.intake.refused')).toMatchObject({
      '{"reason":"full","status":"503"}': totals.refusedByStatus[503].full,
      '{"reason":"shedding","status":"503"}': totals.refusedByStatus[503].shedding,
      '{"reason":"shedding","status":"429"}': 0,
    });
    expect(valuesOf(reader, 'webhook.intake.withdrawn')).toEqual({
      '{"cause":"abandoned"}': 0,
      '{"cause":"expired"}': 0,
      '{"cause":"displaced"}': 0,
      '{"cause":"closing"}': 0,
    });
    expect(valuesOf(reader, 'webhook.intake.promises')).toEqual({
      '{"outcome":"kept"}': 0,
      '{"outcome":"missed"}': 0,
    });
    second?.release();
  });

  it('say which alarms are raised', () => {
    const { intake } = createBench({ concurrency: 1, capacity: 1 });
    const reader = readMetrics(intake);
    expect(valuesOf(reader, 'webhook.intake.alarm')).toEqual({
      '{"code":"WBP_ALARM_REFUSED"}': 0,
      '{"code":"WBP_ALARM_GROWING"}': 0,
      '{"code":"WBP_ALARM_STALLED"}': 0,
      '{"code":"WBP_ALARM_LOSS_RISK"}': 0,
      '{"code":"WBP_ALARM_ENDANGERED"}': 0,
    });
    for (let at = 0; at < 30; at += 1) intake.admit();
    expect(valuesOf(reader, 'webhook.intake.alarm')).toMatchObject({
      '{"code":"WBP_ALARM_REFUSED"}': 1,
      '{"code":"WBP_ALARM_STALLED"}': 0,
    });
  });

  it('all have a sample from the start, except the unknown drain rate, in a fleet', () => {
    const { intake, clock } = createBench();
    const reader = readMetrics(intake);
    joinFleet(intake, { registry: memoryRegistry(clock), resource: 'db', concurrency: 40 });
    clock.advance(1000);
    expect(valuesOf(reader, 'webhook.intake.fleet.share')).toEqual({ '{}': 40 });
    expect(valuesOf(reader, 'webhook.intake.fleet.members')).toEqual({ '{}': 1 });
    expect(valuesOf(reader, 'webhook.intake.fleet.lost')).toEqual({ '{}': 0 });
    const without = [...reader.read()].filter(([, samples]) => samples.length === 0);
    expect(without.map(([metric]) => metric.name)).toEqual(['webhook.intake.drain_rate']);
    expect([...reader.read().keys()]).toEqual(intakeMetrics);
  });

  it('have the attributes that the table names', () => {
    const reader = readMetrics(createBench().intake, { name: 'orders', keys: 5 });
    for (const [metric, samples] of reader.read()) {
      const byKey = metric.isByKey ? ['key', 'sender'] : [];
      for (const { attributes } of samples) {
        expect(Object.keys(attributes).sort(), metric.name).toEqual(
          ['name', ...byKey, ...metric.attributes].sort(),
        );
      }
    }
  });

  it('say why deliveries left the queue', () => {
    const { intake } = createBench({ concurrency: 1 });
    const reader = readMetrics(intake);
    occupy(intake);
    letIn(intake.admit()).leave();
    expect(valuesOf(reader, 'webhook.intake.withdrawn')).toMatchObject({ '{"cause":"abandoned"}': 1 });
  });

  it('count waits, handling times and Retry-After in buckets', async () => {
    const { intake, clock } = createBench({ concurrency: 1, capacity: 1, maxWaitMs: 60_000 });
    const reader = readMetrics(intake);
    const first = startedNow(intake.admit());
    const waiting = letIn(intake.admit());
    const refusal = intake.admit();
    expect(refusal.admitted).toBe(false);
    clock.advance(2500);
    first.release();
    const second = await startedLater(waiting);
    clock.advance(70_000);
    second.release('failure');

    const [waits] = histogramsOf(reader, 'webhook.intake.wait.duration');
    // 0 s in the first bucket, 2.5 s in that of 2.5 s: the bounds are inclusive.
    expect(waits?.counts).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
    expect(waits).toMatchObject({ attributes: {}, sum: 2.5, count: 2 });
    const [handled] = histogramsOf(reader, 'webhook.intake.handling.duration');
    expect(handled?.counts.at(-2)).toBe(1);
    expect(handled?.count).toBe(2);
    const [retryAfter] = histogramsOf(reader, 'webhook.intake.retry_after');
    expect(retryAfter?.sum).toBe(refusal.admitted ? 0 : refusal.retryAfterSeconds);
  });

  it('count values above all buckets in the last one', () => {
    const { intake, clock } = createBench({ maxHandlingMs: 120_000 });
    const reader = readMetrics(intake);
    const permit = startedNow(intake.admit());
    clock.advance(61_000);
    permit.release();
    const [handled] = histogramsOf(reader, 'webhook.intake.handling.duration');
    expect(handled?.counts.at(-1)).toBe(1);
    expect(handled?.counts).toHaveLength(16);
  });

  it('go on after the intake has closed', async () => {
    const { intake } = createBench();
    const reader = readMetrics(intake);
    startedNow(intake.admit()).release();
    await intake.close();
    intake.admit();
    expect(valuesOf(reader, 'webhook.intake.state')).toMatchObject({ '{"state":"closed"}': 1 });
    expect(valuesOf(reader, 'webhook.intake.completed')).toEqual({ '{}': 1 });
    expect(valuesOf(reader, 'webhook.intake.refused')).toMatchObject({
      '{"reason":"closing","status":"503"}': 1,
    });
  });

  it('are read from one snapshot', () => {
    const { intake } = createBench();
    let taken = 0;
    const snapshot = intake.snapshot.bind(intake);
    intake.snapshot = () => {
      taken += 1;
      return snapshot();
    };
    const reader = readMetrics(intake);
    taken = 0;
    reader.read();
    expect(taken).toBe(1);
    expect(samplesOf(reader, 'webhook.intake.depth')).toHaveLength(1);
  });
});
