import { OUTBOX_ALARM_DEFAULTS } from '../alarms/alarm-options.ts';
import type { ObservedOutboxSnapshot } from '../observe.ts';
import type { OutboxEvent } from '../outbox/outbox-events.ts';
import type { EndpointSnapshot, OutboxSnapshot } from '../outbox/sender.ts';
import type { Metric } from './metric.ts';
import {
  DURATION_BUCKETS,
  readingsByName,
  readingsOfAlarms,
  RowMaker,
  type Row,
  type Table,
} from './rows.ts';

/** The source of the metrics of a sender. */
interface ReadableSender {
  readonly snapshot: ObservedOutboxSnapshot;
  readonly keyTotals: Record<
    'accepted' | 'duplicate' | 'attempts' | 'delivered' | 'limited' | 'dead',
    number
  >;
  readonly event: OutboxEvent;
}

const STATES: Readonly<Record<OutboxSnapshot['state'], number>> = {
  opening: 0,
  accepting: 0,
  full: 0,
  closing: 0,
  closed: 0,
};

/** Upper bounds for the time from `send` to a delivery, in seconds: 10 ms to a day. */
const LATENCY_BUCKETS: readonly number[] = [
  0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400,
];

/** Upper bounds for the waits that endpoints ask for, in seconds: from a second to a day. */
const WAIT_BUCKETS: readonly number[] = [1, 2, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400];

/** Upper bounds for the events in one request, of which there are at most 500. */
const REQUEST_BUCKETS: readonly number[] = [1, 2, 5, 10, 25, 50, 100, 250, 500];

const make = new RowMaker<ReadableSender>('webhook.outbox');

const ofEndpoints =
  (read: (endpoint: EndpointSnapshot) => number) =>
  ({ endpoints }: OutboxSnapshot): ReadonlyMap<string, number> =>
    new Map(endpoints.map((one) => [one.endpoint, read(one)]));

const tookSeconds = ({ tookMs }: { readonly tookMs: number }): number => tookMs / 1000;

const rows: readonly Row<ReadableSender>[] = [
  ...make.gauges('{event}', {
    depth: ['Unfinished events', 'depth', { prometheusName: 'webhook_outbox_queue_depth' }],
    capacity: ['How many events may be unfinished: the option', 'capacity'],
    'dead_letter.depth': ['Dead letters, as of the last few seconds', 'deadLetters'],
  }),
  ...make.gauges('By', {
    size: ['Bytes of unfinished events', 'bytes'],
    max_size: ['How many bytes unfinished events may take: the option maxBytes', 'maxBytes'],
  }),
  ...make.gauges('{call}', { waiting_sends: ['Calls of send that wait for room', 'waitingSends'] }),
  ...make.gauges('{request}', { in_flight: ['Requests in flight', 'inFlight'] }),
  ...make.gauges('{sender}', {
    state: [
      '1 for the current state, and 0 for the others',
      ({ state }) => readingsByName('state', { ...STATES, [state]: 1 }),
      { attributes: ['state'] },
    ],
    paused: ['1 while everything is paused, otherwise 0', ({ isPaused }) => Number(isPaused)],
    'store.resting': [
      '1 after a call of the store has failed, until one works; otherwise 0',
      ({ isStoreFailing }) => Number(isStoreFailing),
    ],
  }),
  ...make.gauges('{endpoint}', {
    endpoints: [
      'Endpoints with events or requests, by state',
      ({ states }) => readingsByName('state', states),
      { attributes: ['state'] },
    ],
  }),
  ...make.gauges('s', {
    oldest_age: [
      'The age of the oldest unfinished event, as of the last few seconds; 0 for none',
      ({ oldestAgeMs }) => oldestAgeMs / 1000,
    ],
  }),
  ...make.gauges('{process}', {
    processes: ['Processes that share the buckets, this one included; 1 without shared buckets', 'processes'],
  }),
  ...make.gauges('{alarm}', {
    alarm: [
      'Raised alarms by code: how many endpoints have it, or 1 for an alarm of the whole sender',
      readingsOfAlarms(OUTBOX_ALARM_DEFAULTS),
      { attributes: ['code'] },
    ],
  }),
  ...make.keyGauges({
    'endpoint.queued': ['{event}', 'Queued events of an endpoint', ofEndpoints(({ queued }) => queued)],
    'endpoint.in_flight': [
      '{request}',
      'Requests in flight to an endpoint',
      ofEndpoints(({ inFlight }) => inFlight),
    ],
    'endpoint.rate': [
      '{request}/s',
      'The present rate of an endpoint',
      ofEndpoints(({ ratePerSecond }) => ratePerSecond),
    ],
    'endpoint.oldest_age': [
      's',
      'The age of the oldest event of an endpoint',
      ofEndpoints(({ oldestAgeMs }) => oldestAgeMs / 1000),
    ],
  }),
  ...make.keyCounters('{event}', {
    accepted: ['Events stored', 'accepted'],
    delivered: ['Events delivered', 'delivered'],
    dead: ['Events that became dead letters', 'dead'],
  }),
  ...make.keyCounters('{call}', { duplicates: ['Calls of send whose id was known', 'duplicate'] }),
  ...make.keyCounters('{request}', {
    attempts: ['Requests started', 'attempts'],
    limited: ['Requests after which the endpoint asked to wait', 'limited'],
  }),
  ...make.counters('{request}', {
    failed_attempts: ['Requests that failed otherwise', 'failed'],
    timed_out: ['Requests without an answer within the timeout; also counted as failed', 'timedOut'],
    batches: ['Requests with more than one event', 'batches'],
    clamped_waits: [
      'Answers with a Retry-After that was invalid, in the past or too long, and was replaced',
      'clampedRetryAfter',
    ],
  }),
  ...make.counters('{event}', { lost: ['Events whose claim another process took over', 'lost'] }),
  ...make.counters('{endpoint}', { disabled: ['How often endpoints were disabled', 'disabled'] }),
  ...make.counters('{call}', {
    refused: ['Calls of send that were refused because the outbox was full', 'refused'],
    endpoint_failures: ['Calls of the function endpoint that failed', 'endpointFailures'],
    'store.failures': ['Calls of the store that failed', 'storeFailures'],
  }),
  ...make.histograms('s', LATENCY_BUCKETS, true, {
    latency: [
      'The time from send to the delivery, of the oldest event of each request',
      { delivered: ({ latencyMs }) => latencyMs / 1000 },
    ],
  }),
  ...make.histograms('s', DURATION_BUCKETS, true, {
    'request.duration': [
      'How long requests took, successful or not',
      { delivered: tookSeconds, limited: tookSeconds, failed: tookSeconds },
    ],
  }),
  ...make.histograms('s', WAIT_BUCKETS, true, {
    endpoint_wait: [
      'How long events are held back after the endpoint asked to wait',
      { limited: ({ retryInMs }) => retryInMs / 1000 },
    ],
  }),
  ...make.histograms('{event}', REQUEST_BUCKETS, false, {
    'request.events': ['How many events were in one request', { started: ({ events }) => events }],
  }),
];

/** The metrics of a sender. Exporters are made from this table, so that all of them report the same. */
export const outboxMetrics: readonly Metric[] = rows;

export const senderTable: Table<ReadableSender> = {
  rows,
  labels: ['endpoint'],
  create: () => ({ accepted: 0, duplicate: 0, attempts: 0, delivered: 0, limited: 0, dead: 0 }),
  counts: {
    accepted: (totals) => (totals.accepted += 1),
    duplicate: (totals) => (totals.duplicate += 1),
    conflict: (totals) => (totals.duplicate += 1),
    started: (totals) => (totals.attempts += 1),
    limited: (totals) => (totals.limited += 1),
    delivered: (totals, { events }) => (totals.delivered += events),
    dead: (totals, { events }) => (totals.dead += events),
  },
};
