import type { Metric } from './metric.ts';

const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

/**
 * The name that OpenTelemetry's exporters would give to a metric in Prometheus: underscores instead of dots, the unit, and
 * `_total` for counters. A unit in braces is left out, and `/s` becomes `_per_second`.
 */
export function prometheusNameOf(name: string, unit: string, kind: Metric['kind']): string {
  const suffix = unit.endsWith('/s') ? '_per_second' : (SUFFIXES[unit] ?? '');
  return `${name.replaceAll('.', '_')}${suffix}${kind === 'counter' ? '_total' : ''}`;
}
