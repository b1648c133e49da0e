import { BackpressureError, checkNames, invalid, show } from '@webhook-backpressure/base';
import type { Inbox } from '@webhook-backpressure/inbox';
import type { Intake } from '@webhook-backpressure/core';
import { sourceKindOf } from '../logs/source-kind.ts';
import { observedSnapshots } from '../observe.ts';
import type { ObservableOutbox } from '../outbox/sender.ts';
import { inboxTable } from './inbox-metrics.ts';
import { intakeTable } from './intake-metrics.ts';
import type { Attributes } from './metric.ts';
import { SourceMetrics, type MetricsReader } from './metrics-reader.ts';
import { senderTable } from './outbox-metrics.ts';

const MAX_KEYS = 1000;
const MAX_NAME = 100;

/** A source of metrics. */
export type MetricsSource = Intake | Inbox | ObservableOutbox;

/** Options of {@link readMetrics}, and of the exporters that use it. */
export interface MetricsOptions {
  /**
   * For how many combinations of key and sender, or for how many endpoints of a sender, to keep separate counters and
   * histograms: the first ones that appear. All others count as `other`. An integer from 0 to 1,000; default 0, no such
   * attributes.
   */
  keys?: number | undefined;
  /**
   * The attribute `name` of all samples, which distinguishes several sources of the same kind: 1 to 100 characters. Default none.
   */
  name?: string | undefined;
}

/**
 * Reads the metrics of an intake, an inbox or a sender, for an exporter. Gauges and counters are read from a snapshot, so that they
 * include what happened before. Histograms, and the counters of single keys, begin with this call.
 *
 * @param source - an intake, an inbox or a sender.
 * @throws BackpressureError `ERR_WBP_METRICS_SOURCE` if the source is none of them, `ERR_WBP_METRICS_KEYS`,
 * `ERR_WBP_METRICS_NAME`, `ERR_WBP_OPTIONS` or `ERR_WBP_UNKNOWN_OPTION` for invalid options.
 */
export function readMetrics(source: MetricsSource, options: MetricsOptions = {}): MetricsReader {
  if (!isIntake(source) && !isInbox(source) && !isSender(source)) throw sourceError(source);
  checkNames(options, 'options', ['keys', 'name']);
  const { keys = 0, name } = options;
  if (!Number.isSafeInteger(keys) || keys < 0 || keys > MAX_KEYS) {
    throw invalid('ERR_WBP_METRICS_KEYS', 'keys', 'an integer from 0 to 1,000', keys);
  }
  if (name !== undefined && (typeof name !== 'string' || name === '' || name.length > MAX_NAME)) {
    throw invalid('ERR_WBP_METRICS_NAME', 'name', 'a string of 1 to 100 characters', name);
  }
  const base: Attributes = Object.freeze(name === undefined ? {} : { name });
  if (isIntake(source)) {
    const observed = { snapshot: observedSnapshots(source), subscribe: source.subscribe.bind(source) };
    return new SourceMetrics(observed, intakeTable(source), keys, base);
  }
  if (isInbox(source)) {
    const observed = { snapshot: observedSnapshots(source), subscribe: source.subscribe.bind(source) };
    return new SourceMetrics(observed, inboxTable, keys, base);
  }
  const observed = { snapshot: observedSnapshots(source), subscribe: source.subscribe.bind(source) };
  return new SourceMetrics(observed, senderTable, keys, base);
}

function isIntake(source: unknown): source is Intake {
  return sourceKindOf(source) === 'intake';
}

function isInbox(source: unknown): source is Inbox {
  return sourceKindOf(source) === 'inbox';
}

function isSender(source: unknown): source is ObservableOutbox {
  return sourceKindOf(source) === 'sender';
}

function sourceError(given: unknown): BackpressureError {
  const { intake, inbox } = (given ?? {}) as { intake?: unknown; inbox?: unknown };
  const inside = isIntake(intake) ? '.intake' : isInbox(inbox) ? '.inbox' : undefined;
  return new BackpressureError(
    'ERR_WBP_METRICS_SOURCE',
    `The source of metrics must be an intake, an inbox or a sender, but was ${show(given)}.` +
      (inside === undefined ? '' : ` Pass its ${inside} instead.`),
  );
}
