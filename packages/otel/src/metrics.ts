import type {
  BatchObservableCallback,
  Histogram,
  Meter,
  MetricOptions,
  Observable,
} from '@opentelemetry/api';
import type { Metric, MetricsReader } from '@webhook-backpressure/observe';
import type { Failures } from './failures.ts';

/**
 * Makes an instrument of each metric. Gauges and counters are observed in one callback, so that all values of an export
 * are from the same snapshot. Histograms record each value when it occurs.
 *
 * @returns a function that removes them; the reader is closed by the caller.
 */
export function exportMetrics(reader: MetricsReader, meter: Meter, failures: Failures): () => void {
  const observed = new Map<Metric, Observable>();
  const histograms = new Map<Metric, Histogram>();
  for (const metric of reader.metrics) {
    failures.run(`creating ${metric.name}`, () => {
      if (metric.kind === 'histogram') histograms.set(metric, histogramOf(metric, meter));
      else observed.set(metric, observableOf(metric, meter));
    });
  }

  const observe: BatchObservableCallback = (result) => {
    for (const [metric, samples] of reader.read()) {
      const instrument = observed.get(metric);
      if (instrument === undefined) continue;
      for (const sample of samples) {
        if ('value' in sample) result.observe(instrument, sample.value, sample.attributes);
      }
    }
  };
  const observables = [...observed.values()];
  failures.run('addBatchObservableCallback', () => {
    meter.addBatchObservableCallback(observe, observables);
  });
  const stop = reader.onRecord((metric, value, attributes) => {
    try {
      histograms.get(metric)?.record(value, attributes);
    } catch (error) {
      failures.report('record', error);
    }
  });
  return () => {
    stop();
    failures.run('removeBatchObservableCallback', () => {
      meter.removeBatchObservableCallback(observe, observables);
    });
  };
}

function observableOf(metric: Metric, meter: Meter): Observable {
  return metric.kind === 'counter'
    ? meter.createObservableCounter(metric.name, optionsOf(metric))
    : meter.createObservableGauge(metric.name, optionsOf(metric));
}

function histogramOf(metric: Metric, meter: Meter): Histogram {
  const { buckets = [] } = metric;
  return meter.createHistogram(metric.name, {
    ...optionsOf(metric),
    advice: { explicitBucketBoundaries: [...buckets] },
  });
}

function optionsOf({ unit, description }: Metric): MetricOptions {
  return { unit, description };
}
