import { type MetricsReader, readMetrics, outboxMetrics } from '@webhook-backpressure/observe';
import { collect } from '@webhook-backpressure/prometheus';
import { AggregatorRegistry, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { histogramsOf, sumOf, valuesOf } from '../../core/metrics/samples.ts';
import { SenderBed } from '../dispatch/bed.ts';

/** Two events each for three endpoints, the last of which refuses, and one event for a fourth. */
async function busy(keys: number): Promise<{ bed: SenderBed; reader: MetricsReader }> {
  const bed = new SenderBed(({ url }) =>
    url.includes('limited') ? new Response(null, { status: 429 }) : new Response(null, { status: 204 }),
  );
  const reader = readMetrics(bed.sender, { keys });
  for (const endpoint of ['a', 'b', 'limited', 'd']) {
    await bed.send(`${endpoint}1`, endpoint);
    await bed.send(`${endpoint}2`, endpoint);
    await bed.settle();
  }
  return { bed, reader };
}

describe('the metrics of a sender', () => {
  it('agree with its snapshot', async () => {
    const { bed, reader } = await busy(0);
    const { totals, depth } = bed.sender.snapshot();
    expect(reader.metrics).toBe(outboxMetrics);
    expect(valuesOf(reader, 'webhook.outbox.depth')).toEqual({ '{}': depth });
    expect(depth).toBe(2);
    expect(valuesOf(reader, 'webhook.outbox.accepted')).toEqual({ '{}': 8 });
    expect(valuesOf(reader, 'webhook.outbox.delivered')).toEqual({ '{}': 6 });
    expect(valuesOf(reader, 'webhook.outbox.limited')).toEqual({ '{}': totals.limited });
    expect(totals.limited).toBeGreaterThan(0);
    expect(valuesOf(reader, 'webhook.outbox.state')['{"state":"accepting"}']).toBe(1);
    expect(valuesOf(reader, 'webhook.outbox.endpoints')).toMatchObject({ '{"state":"waiting"}': 1 });
    expect(valuesOf(reader, 'webhook.outbox.endpoint.queued')).toEqual({});
    expect(histogramsOf(reader, 'webhook.outbox.latency').map(({ count }) => count)).toEqual([6]);
    await bed.sender.close();
  });

  it('have the first endpoints as an attribute, and the rest as other', async () => {
    const { bed, reader } = await busy(3);
    expect(valuesOf(reader, 'webhook.outbox.delivered')).toEqual({
      '{"endpoint":"a"}': 2,
      '{"endpoint":"b"}': 2,
      '{"endpoint":"limited"}': 0,
      '{"endpoint":"other"}': 2,
    });
    expect(sumOf(reader, 'webhook.outbox.attempts')).toBe(bed.sender.snapshot().totals.attempts);
    expect(valuesOf(reader, 'webhook.outbox.endpoint.queued')).toEqual({
      '{"endpoint":"a"}': 0,
      '{"endpoint":"b"}': 0,
      '{"endpoint":"limited"}': 2,
    });
    const latencies = histogramsOf(reader, 'webhook.outbox.latency').map(({ attributes, count }) => [
      attributes['endpoint'],
      count,
    ]);
    expect(latencies).toEqual([
      ['a', 2],
      ['b', 2],
      ['other', 2],
    ]);
    await bed.sender.close();
  });

  it('say how many endpoints have an alarm', async () => {
    const { bed, reader } = await busy(0);
    for (let count = 0; count < 101; count += 1) {
      await bed.send(`x${String(count)}`, 'limited');
      await bed.send(`y${String(count)}`, 'limited too');
    }
    expect(valuesOf(reader, 'webhook.outbox.alarm')).toMatchObject({
      '{"code":"WBP_ALARM_QUEUED"}': 2,
      '{"code":"WBP_ALARM_LIMITED"}': 0,
    });
    await bed.sender.close();
  });

  it('are exported to Prometheus', async () => {
    const { bed } = await busy(0);
    const register = new Registry();
    const stop = collect(bed.sender, { register, name: 'hooks', keys: 2 });
    await bed.send('more', 'a');
    await bed.settle();
    const text = await register.metrics();
    expect(text).toContain('webhook_outbox_accepted_total{name="hooks",endpoint="a"} 1');
    expect(text).toContain('webhook_outbox_accepted_total{name="hooks",endpoint="other"} 8');
    expect(text).toContain('webhook_outbox_queue_depth{name="hooks"} 2');
    stop();
    await bed.sender.close();
  });

  it('count an outbox that processes of a cluster share once', async () => {
    const { bed } = await busy(0);
    const processes = [new Registry(), new Registry()];
    for (const register of processes) collect(bed.sender, { register });
    const all = AggregatorRegistry.aggregate(
      await Promise.all(processes.map((register) => register.getMetricsAsJSON())),
    );
    const text = await all.metrics();
    expect(text).toContain('webhook_outbox_queue_depth 2');
    expect(text).toContain('webhook_outbox_delivered_total 12');
    await bed.sender.close();
  });
});
