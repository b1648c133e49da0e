import { register as defaultRegister, type Registry, type RegistryContentType } from 'prom-client';
import { BackpressureError, checkNames, thrownText } from '@webhook-backpressure/base';
import { type MetricsOptions, type MetricsSource, readMetrics } from '@webhook-backpressure/observe';
import { familiesIn } from './families.ts';

/** Options of {@link collect}. */
export interface CollectOptions extends MetricsOptions {
  /** The register of prom-client that gets the metrics. Default: its global register. */
  register?: Registry<RegistryContentType> | undefined;
}

/**
 * Adds the metrics of an intake, an inbox or a sender to a register of prom-client. All values of a scrape are read from the same
 * snapshot of the source. Several sources of the same kind in one register need different names.
 *
 * A closed source keeps its last values: end the collection when you discard the source.
 *
 * @param source - an intake, such as `webhookBackpressure().intake`, an inbox, or a sender.
 * @returns a function that removes the metrics of this source.
 * @throws BackpressureError `ERR_WBP_METRICS_REGISTER` if `register` is not a register, or has another metric with one of
 * the names; `ERR_WBP_METRICS_NAME` if it has metrics of a source with the same `name`, or both have none;
 * `ERR_WBP_METRICS_SOURCE`, `ERR_WBP_METRICS_KEYS`, `ERR_WBP_OPTIONS` or `ERR_WBP_UNKNOWN_OPTION` for invalid arguments.
 */
export function collect(source: MetricsSource, options: CollectOptions = {}): () => void {
  checkNames(options, 'options', ['register', 'keys', 'name']);
  const { register = defaultRegister, keys, name } = options;
  checkRegister(register);
  const reader = readMetrics(source, { keys, name });
  try {
    return familiesIn(register, reader.metrics).add(name, reader);
  } catch (error) {
    reader.close();
    throw error;
  }
}

function checkRegister(register: unknown): void {
  const methods = ['registerMetric', 'getSingleMetric', 'removeSingleMetric'] as const;
  const given = (register ?? {}) as Partial<Record<(typeof methods)[number], unknown>>;
  if (methods.every((method) => typeof given[method] === 'function')) return;
  throw new BackpressureError(
    'ERR_WBP_METRICS_REGISTER',
    `register must be a register of prom-client, but was ${thrownText(register)}.`,
  );
}
