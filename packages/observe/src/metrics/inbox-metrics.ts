import type { InboxEvent, InboxSnapshot, InboxTotals } from '@webhook-backpressure/inbox';
import { INBOX_ALARMS } from './alarm-readings.ts';
import { BATCH_BUCKETS, DURATION_BUCKETS, RETRY_AFTER_BUCKETS } from './buckets.ts';
import { countersOfRefusals, gaugesOfLoad } from './common-rows.ts';
import type { Metric } from './metric.ts';
import { readingsOfRefusals, RowMaker, type Row } from './rows.ts';

/** The totals of an inbox that are also counted for each key. */
export type InboxKeyTotals = Pick<
  InboxTotals,
  'stored' | 'duplicate' | 'completed' | 'failed' | 'dead' | 'refusedByStatus'
>;

/** What the metrics of an inbox are read from. */
export interface ReadableInbox {
  readonly snapshot: InboxSnapshot;
  readonly keyTotals: InboxKeyTotals;
  readonly event: InboxEvent;
}

const make = new RowMaker<ReadableInbox>('webhook.inbox');
const DELIVERIES = '{delivery}';

export const inboxRows: readonly Row<ReadableInbox>[] = [
  make.gauge('depth', DELIVERIES, 'Unfinished deliveries', (snapshot) => snapshot.depth, {
    prometheusName: 'webhook_inbox_queue_depth',
  }),
  make.gauge('size', 'By', 'Bytes of unfinished deliveries', (snapshot) => snapshot.bytes),
  make.gauge(
    'active',
    DELIVERIES,
    'Deliveries whose handlers are running in this process',
    (snapshot) => snapshot.active,
  ),
  make.gauge(
    'concurrency',
    DELIVERIES,
    'How many handlers may run concurrently: the option, or the learned value',
    (snapshot) => snapshot.concurrency,
  ),
  make.gauge(
    'capacity',
    DELIVERIES,
    'How many deliveries may be stored and unfinished: the option',
    (snapshot) => snapshot.capacity,
  ),
  make.gauge(
    'effective_capacity',
    DELIVERIES,
    'The capacity; with maxWaitMs the smaller of it and longest wait × drain rate',
    (snapshot) => snapshot.effectiveCapacity,
  ),
  make.gauge(
    'max_size',
    'By',
    'How many bytes may be stored and unfinished: the option maxBytes',
    (snapshot) => snapshot.maxBytes,
  ),
  ...gaugesOfLoad(
    make,
    '{inbox}',
    make.gauge(
      'oldest_age',
      's',
      'The age of the oldest unfinished delivery, as of the last few seconds; 0 for none',
      (snapshot) => snapshot.oldestAgeMs / 1000,
    ),
    INBOX_ALARMS,
  ),
  make.gauge(
    'dead_letter.depth',
    DELIVERIES,
    'Dead letters, as of the last few seconds',
    (snapshot) => snapshot.shelved,
  ),
  make.gauge('dead_letter.size', 'By', 'Bytes of all dead letters', (snapshot) => snapshot.shelvedBytes),
  make.gauge(
    'store.resting',
    '{inbox}',
    '1 after a call of the store has failed, until one works; otherwise 0',
    (snapshot) => (snapshot.isStoreFailing ? 1 : 0),
  ),
  make.counter(
    'arrivals',
    DELIVERIES,
    'Requests received, whatever their answer',
    (totals) => totals.arrivals,
  ),
  make.keyCounter('stored', 'Deliveries stored and acknowledged', (totals) => totals.stored),
  make.keyCounter('duplicates', 'Deliveries answered as duplicates', (totals) => totals.duplicate),
  make.keyCounter('completed', 'Deliveries that were completed', (totals) => totals.completed),
  make.keyCounter(
    'failed_attempts',
    'Attempts that failed, including last and overdue ones',
    (totals) => totals.failed,
  ),
  make.keyCounter('dead', 'Deliveries whose last attempt failed', (totals) => totals.dead),
  make.keyCounter(
    'refused',
    'Deliveries refused, by reason and status',
    (totals) => readingsOfRefusals(totals.refusedByStatus),
    { prometheusName: 'webhook_inbox_overflow_total', attributes: ['reason', 'status'] },
  ),
  make.counter(
    'dead_letter.overflow',
    DELIVERIES,
    "Deliveries stored as dead letters because of overflow: 'dead-letter'",
    (totals) => totals.overflow,
  ),
  ...countersOfRefusals(make, 'acknowledged'),
  make.counter('unverified', DELIVERIES, 'Requests refused with 401', (totals) => totals.unverified),
  make.counter('too_large', DELIVERIES, 'Requests refused with 413', (totals) => totals.tooLarge),
  make.counter('started', '{attempt}', 'Attempts that were started', (totals) => totals.started),
  make.counter('overdue', '{attempt}', 'Handlers that exceeded maxHandlingMs', (totals) => totals.overdue),
  make.counter(
    'store.failures',
    '{call}',
    'Calls of the store that failed',
    (totals) => totals.storeFailures,
  ),
  make.histogram(
    'wait.duration',
    's',
    'How long deliveries waited between their receipt and their first attempt',
    DURATION_BUCKETS,
    true,
    ['started'],
    (event) => (event.attempt === 1 ? event.waitedMs / 1000 : undefined),
  ),
  make.histogram(
    'handling.duration',
    's',
    'How long attempts took, successful or not',
    DURATION_BUCKETS,
    true,
    ['completed', 'failed', 'shelf-full', 'dead'],
    (event) => event.tookMs / 1000,
  ),
  make.histogram(
    'retry_after',
    's',
    'The Retry-After of refused deliveries',
    RETRY_AFTER_BUCKETS,
    true,
    ['refused'],
    (event) => event.retryAfterSeconds,
  ),
  make.histogram(
    'commit.duration',
    's',
    'How long commits of arriving deliveries took',
    DURATION_BUCKETS,
    false,
    ['committed'],
    (event) => event.tookMs / 1000,
  ),
  make.histogram(
    'commit.size',
    DELIVERIES,
    'How many arriving deliveries were in one commit',
    BATCH_BUCKETS,
    false,
    ['committed'],
    (event) => event.deliveries,
  ),
];

/** The metrics of an inbox. Exporters are made from this table, so that all of them report the same. */
export const inboxMetrics: readonly Metric[] = inboxRows;
