import { inboxMetrics, intakeMetrics, type Metric, outboxMetrics } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { prometheusNameOf } from '../../../packages/observe/src/metrics/rows.ts';

const all: readonly Metric[] = [...intakeMetrics, ...inboxMetrics, ...outboxMetrics];
const byName = new Map(all.map((metric) => [metric.name, metric]));

/** The names that outside tools know, which do not follow from those in OpenTelemetry. */
const GIVEN = new Map([
  ['webhook.intake.depth', 'webhook_intake_queue_depth'],
  ['webhook.intake.refused', 'webhook_intake_overflow_total'],
  ['webhook.inbox.depth', 'webhook_inbox_queue_depth'],
  ['webhook.inbox.refused', 'webhook_inbox_overflow_total'],
  ['webhook.outbox.depth', 'webhook_outbox_queue_depth'],
]);

describe('the tables of metrics', () => {
  it('have a unique name for each metric, in OpenTelemetry and in Prometheus', () => {
    expect(byName.size).toBe(all.length);
    expect(new Set(all.map((metric) => metric.prometheusName)).size).toBe(all.length);
  });

  it.each(all)('describe $name in the forms that exporters accept', (metric) => {
    expect(metric.name).toMatch(/^webhook\.(intake|inbox|outbox)(\.[a-z]+(_[a-z]+)*)+$/);
    expect(metric.prometheusName).toMatch(/^webhook_(intake|inbox|outbox)(_[a-z]+)+$/);
    expect(metric.prometheusName).toBe(
      GIVEN.get(metric.name) ?? prometheusNameOf(metric.name, metric.unit, metric.kind),
    );
    expect(metric.unit).toMatch(/^(s|By|\{[a-z]+\}(\/s)?)$/);
    expect(metric.description).toMatch(/^[A-Z1].*[^.]$/);
    expect(metric.buckets !== undefined).toBe(metric.kind === 'histogram');
    const buckets = metric.buckets ?? [];
    expect(buckets).toEqual([...new Set(buckets)].sort((a, b) => a - b));
  });

  it('name units and counters in Prometheus as OpenTelemetry does', () => {
    const named = (name: string): string | undefined => byName.get(name)?.prometheusName;
    expect(named('webhook.intake.wait.duration')).toBe('webhook_intake_wait_duration_seconds');
    expect(named('webhook.inbox.size')).toBe('webhook_inbox_size_bytes');
    expect(named('webhook.intake.drain_rate')).toBe('webhook_intake_drain_rate_per_second');
    expect(named('webhook.intake.completed')).toBe('webhook_intake_completed_total');
    expect(named('webhook.intake.capacity')).toBe('webhook_intake_capacity');
  });

  it.each(['webhook.intake.wait.duration', 'webhook.inbox.handling.duration'])(
    'count %s from 1 ms to 60 s',
    (name) => {
      const { buckets = [] } = byName.get(name) ?? {};
      expect([buckets[0], buckets.at(-1)]).toEqual([0.001, 60]);
    },
  );

  it.each(['webhook.intake.retry_after', 'webhook.inbox.retry_after'])(
    'count %s from 1 s to 3600 s',
    (name) => {
      const { buckets = [] } = byName.get(name) ?? {};
      expect([buckets[0], buckets.at(-1)]).toEqual([1, 3600]);
    },
  );
});
