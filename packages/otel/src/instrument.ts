import { metrics, trace, type Meter, type Tracer } from '@opentelemetry/api';
import { BackpressureError, checkNames } from '@webhook-backpressure/base';
import { type MetricsSource, readMetrics } from '@webhook-backpressure/observe';
import { Failures } from './failures.ts';
import { exportMetrics } from './metrics.ts';
import { VERSION } from './version.ts';
import { traceWaits } from './wait-spans.ts';

/** Options of {@link instrument}. `undefined` means absent. */
export interface InstrumentOptions {
  /** The meter that makes the metrics. Default: a meter of the global provider, which must be registered before. */
  meter?: Meter | undefined;
  /** The tracer that makes the spans of an intake. Default: a tracer of the global provider. */
  tracer?: Tracer | undefined;
  /**
   * For how many combinations of key and sender, or for how many endpoints of a sender, to keep separate counters and
   * histograms: the first ones that appear. All others count as `other`. An integer from 0 to 1,000; default 0, no such
   * attributes. Above 0, spans have their key too.
   */
  keys?: number | undefined;
  /**
   * The attribute `name` of all metrics and `webhook.intake.name` of spans, which distinguishes several sources of the same kind:
   * 1 to 100 characters. Default none.
   */
  name?: string | undefined;
}

const SCOPE = '@webhook-backpressure/otel';

/**
 * Exports the metrics of an intake, an inbox or a sender by OpenTelemetry. For an intake it also makes a span `webhook.wait` of the
 * time that a delivery is queued. Call it once for each source, after the SDK has been started.
 *
 * A meter or tracer that throws affects no delivery; the first failure is passed to OpenTelemetry's `diag`.
 *
 * @param source - an intake, such as the `.intake` of a middleware, an inbox, or a sender.
 * @returns a function that removes the metrics and ends the spans.
 * @throws BackpressureError `ERR_WBP_METRICS_SOURCE` if the source is none of them, `ERR_WBP_OTEL` if the meter or the tracer
 * is none, `ERR_WBP_METRICS_KEYS`, `ERR_WBP_METRICS_NAME`, `ERR_WBP_OPTIONS` or `ERR_WBP_UNKNOWN_OPTION` for other invalid
 * options.
 *
 * @example
 * ```ts
 * instrument(backpressure.intake, { name: 'orders' })
 * ```
 */
export function instrument(source: MetricsSource, options: InstrumentOptions = {}): () => void {
  checkNames(options, 'options', ['meter', 'tracer', 'keys', 'name']);
  const { meter = metrics.getMeter(SCOPE, VERSION), tracer = trace.getTracer(SCOPE, VERSION) } = options;
  checkMethods('meter', meter, ['createHistogram', 'createObservableGauge', 'addBatchObservableCallback']);
  checkMethods('tracer', tracer, ['startSpan']);
  const { keys = 0, name } = options;
  const reader = readMetrics(source, { keys, name });
  const failures = new Failures();
  const removeMetrics = exportMetrics(reader, meter, failures);
  const endSpans =
    'admit' in source ? traceWaits(source, tracer, failures, { name, hasKeys: keys > 0 }) : undefined;
  return () => {
    removeMetrics();
    reader.close();
    endSpans?.();
  };
}

function checkMethods(option: string, value: unknown, methods: readonly string[]): void {
  const found = value as Readonly<Record<string, unknown>> | null;
  if (methods.every((name) => typeof found?.[name] === 'function')) return;
  throw new BackpressureError(
    'ERR_WBP_OTEL',
    `${option} must be a ${option} of @opentelemetry/api, with the method ${methods[0] ?? ''}.`,
  );
}
