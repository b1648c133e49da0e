import type { Meter } from '@opentelemetry/api';
import {
  MeterProvider,
  MetricReader,
  type DataPoint,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';

/** A reader that collects when it is asked. */
export class ManualReader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }
  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** The real SDK, which collects when a test asks for it. */
export interface Metrics {
  readonly meter: Meter;
  /** What an exporter would get now, by the names of the metrics. */
  readonly collect: () => Promise<Map<string, MetricData>>;
}

export function recordMetrics(): Metrics {
  const reader = new ManualReader();
  const provider = new MeterProvider({ readers: [reader] });
  return {
    meter: provider.getMeter('tests'),
    async collect() {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw new AggregateError(errors);
      const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
      return new Map(all.map((one) => [one.descriptor.name, one]));
    },
  };
}

/** The data points of a metric, as `readMetrics` gives samples. */
export function samplesOf(data: MetricData | undefined): unknown[] {
  const points = (data?.dataPoints ?? []) as (DataPoint<number> | DataPoint<Histogram>)[];
  return points.map(({ attributes, value }) =>
    typeof value === 'number'
      ? { attributes, value }
      : { attributes, counts: value.buckets.counts, sum: value.sum, count: value.count },
  );
}
