import { inboxMetrics, intakeMetrics, outboxMetrics } from '@webhook-backpressure/observe';
import { describe, expect, it } from 'vitest';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

const metrics = page('docs/metrics.md');

describe('docs/metrics.md', () => {
  it.each([
    ['Metrics of an intake', intakeMetrics],
    ['Metrics of an inbox', inboxMetrics],
    ['Metrics of a sender', outboxMetrics],
  ])('lists what the table in core says: %s', (heading, table) => {
    const listed = rowsOf(sectionOf(metrics, heading), 'Prometheus').map((row) => ({
      prometheusName: codeIn(row['Prometheus']).join(),
      name: codeIn(row['OpenTelemetry']).join(),
      kind: row['Kind'],
      unit: codeIn(row['Unit']).join(),
      attributes: codeIn(row['Attributes']),
      isByKey: (row['By key'] ?? row['By endpoint']) === 'yes',
      description: row['Meaning'],
    }));
    expect(listed).toEqual(
      table.map(({ prometheusName, name, kind, unit, attributes, isByKey, description }) => ({
        prometheusName,
        name,
        kind,
        unit,
        attributes,
        isByKey,
        description,
      })),
    );
  });
});
