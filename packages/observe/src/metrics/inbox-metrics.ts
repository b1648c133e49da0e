import { noRefusals } from '@webhook-backpressure/core/extend';
import { INBOX_ALARM_DEFAULTS } from '../alarms/alarm-options.ts';
import type { InboxEvent } from '@webhook-backpressure/inbox';
import type { ObservedInboxSnapshot } from '../observe.ts';
import { STATES, type KeyRefusals } from './intake-metrics.ts';
import type { Metric } from './metric.ts';
import {
  DURATION_BUCKETS,
  readingsByName,
  readingsOfAlarms,
  readingsOfRefusals,
  RETRY_AFTER_BUCKETS,
  RowMaker,
  type Row,
  type Table,
} from './rows.ts';

/** What the metrics of an inbox are read from. */
interface ReadableInbox {
  readonly snapshot: ObservedInboxSnapshot;
  readonly keyTotals: KeyRefusals & Record<'stored' | 'duplicate' | 'completed' | 'failed' | 'dead', number>;
  readonly event: InboxEvent;
}

/** Upper bounds for the deliveries in one commit, of which there are at most 256. */
const BATCH_BUCKETS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

const make = new RowMaker<ReadableInbox>('webhook.inbox');

const tookSeconds = ({ tookMs }: { readonly tookMs: number }): number => tookMs / 1000;

const rows: readonly Row<ReadableInbox>[] = [
  ...make.gauges('{delivery}', {
    depth: ['Unfinished deliveries', 'depth', { prometheusName: 'webhook_inbox_queue_depth' }],
    active: ['Deliveries whose handlers are running in this process', 'active'],
    concurrency: ['How many handlers may run concurrently: the option, or the learned value', 'concurrency'],
    capacity: ['How many deliveries may be stored and unfinished: the option', 'capacity'],
    effective_capacity: [
      'The capacity; with maxWaitMs the smaller of it and longest wait × drain rate',
      'effectiveCapacity',
    ],
    high_water: ['The depth at which shedding begins', 'highWater'],
    low_water: ['The depth at which shedding ends', 'lowWater'],
    booked: ['Refused deliveries with a booked time to retry that has not come yet', 'booked'],
    'dead_letter.depth': ['Dead letters, as of the last few seconds', 'deadLetters'],
  }),
  ...make.gauges('By', {
    size: ['Bytes of unfinished deliveries', 'bytes'],
    max_size: ['How many bytes may be stored and unfinished: the option maxBytes', 'maxBytes'],
    'dead_letter.size': ['Bytes of all dead letters', 'deadLetterBytes'],
  }),
  ...make.gauges('{inbox}', {
    state: [
      '1 for the current state, and 0 for the others',
      ({ state }) => readingsByName('state', { ...STATES, [state]: 1 }),
      { attributes: ['state'] },
    ],
    'store.resting': [
      '1 after a call of the store has failed, until one works; otherwise 0',
      ({ isStoreFailing }) => Number(isStoreFailing),
    ],
  }),
  ...make.gauges('{delivery}/s', {
    drain_rate: [
      'Completions per second that the workers can sustain; no sample before the first completion',
      'drainRate',
    ],
  }),
  ...make.gauges('s', {
    oldest_age: [
      'The age of the oldest unfinished delivery, as of the last few seconds; 0 for none',
      ({ oldestAgeMs }) => oldestAgeMs / 1000,
    ],
  }),
  ...make.gauges('{sender}', {
    endangered: [
      'Senders that are close to disabling the endpoint because of failures',
      ({ endangered }) => endangered.length,
    ],
  }),
  ...make.gauges('{alarm}', {
    alarm: [
      '1 for a raised alarm, and 0 for the others',
      readingsOfAlarms(INBOX_ALARM_DEFAULTS),
      { attributes: ['code'] },
    ],
  }),
  ...make.keyCounters('{delivery}', {
    stored: ['Deliveries stored and acknowledged', 'stored'],
    duplicates: ['Deliveries answered as duplicates', 'duplicate'],
    completed: ['Deliveries that were completed', 'completed'],
    failed_attempts: ['Attempts that failed, including last and overdue ones', 'failed'],
    dead: ['Deliveries whose last attempt failed', 'dead'],
    refused: [
      'Deliveries refused, by reason and status',
      readingsOfRefusals,
      { prometheusName: 'webhook_inbox_overflow_total', attributes: ['reason', 'status'] },
    ],
  }),
  ...make.counters('{delivery}', {
    arrivals: ['Requests received, whatever their answer', 'arrivals'],
    'dead_letter.overflow': [
      "Deliveries stored as dead letters because of overflow: 'dead-letter'",
      'overflow',
    ],
    loss_risk: ['Refused deliveries whose senders never retry', 'lossRisk'],
    promises: [
      'Retries that arrived in their booked time: kept if acknowledged, missed if refused again',
      ({ promises: { kept, missed } }) => readingsByName('outcome', { kept, missed }),
      { attributes: ['outcome'] },
    ],
    unverified: ['Requests refused with 401', 'unverified'],
    too_large: ['Requests refused with 413', 'tooLarge'],
  }),
  ...make.counters('{attempt}', {
    started: ['Attempts that were started', 'started'],
    overdue: ['Handlers that exceeded maxHandlingMs', 'overdue'],
  }),
  ...make.counters('{call}', { 'store.failures': ['Calls of the store that failed', 'storeFailures'] }),
  ...make.histograms('s', DURATION_BUCKETS, true, {
    'wait.duration': [
      'How long deliveries waited between their receipt and their first attempt',
      { started: ({ attempt, waitedMs }) => (attempt === 1 ? waitedMs / 1000 : undefined) },
    ],
    'handling.duration': [
      'How long attempts took, successful or not',
      { completed: tookSeconds, failed: tookSeconds, 'dead-letters-full': tookSeconds, dead: tookSeconds },
    ],
  }),
  ...make.histograms('s', RETRY_AFTER_BUCKETS, true, {
    retry_after: [
      'The Retry-After of refused deliveries',
      { refused: ({ retryAfterSeconds }) => retryAfterSeconds },
    ],
  }),
  ...make.histograms('s', DURATION_BUCKETS, false, {
    'commit.duration': ['How long commits of arriving deliveries took', { committed: tookSeconds }],
  }),
  ...make.histograms('{delivery}', BATCH_BUCKETS, false, {
    'commit.size': [
      'How many arriving deliveries were in one commit',
      { committed: ({ deliveries }) => deliveries },
    ],
  }),
];

/** The metrics of an inbox. Exporters are made from this table, so that all of them report the same. */
export const inboxMetrics: readonly Metric[] = rows;

export const inboxTable: Table<ReadableInbox> = {
  rows,
  labels: ['key', 'sender'],
  create: () => ({
    stored: 0,
    duplicate: 0,
    completed: 0,
    failed: 0,
    dead: 0,
    refusedByStatus: { 429: noRefusals(), 503: noRefusals() },
  }),
  counts: {
    stored: (totals) => (totals.stored += 1),
    duplicate: (totals) => (totals.duplicate += 1),
    completed: (totals) => (totals.completed += 1),
    refused: ({ refusedByStatus }, { status, reason }) => (refusedByStatus[status][reason] += 1),
    failed: (totals) => (totals.failed += 1),
    'dead-letters-full': (totals) => (totals.failed += 1),
    dead: (totals) => {
      totals.dead += 1;
      totals.failed += 1;
    },
  },
};
