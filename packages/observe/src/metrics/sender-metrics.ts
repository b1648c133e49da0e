import type { SenderEvent } from '../outbox/sender-events.ts';
import type { EndpointSnapshot, SenderSnapshot } from '../outbox/sender-snapshot.ts';
import type { SenderTotals } from '../outbox/sender-totals.ts';
import { readingsOfAlarms, SENDER_ALARMS } from './alarm-readings.ts';
import { DURATION_BUCKETS, ENDPOINT_WAIT_BUCKETS, LATENCY_BUCKETS, REQUEST_BUCKETS } from './buckets.ts';
import type { Metric } from './metric.ts';
import { readingsByName, readingsOfState, RowMaker, type Row } from './rows.ts';
import { SENDER_STATES } from './states.ts';

/** The totals of a sender that are also counted for each endpoint. */
export type SenderKeyTotals = Pick<
  SenderTotals,
  'accepted' | 'duplicate' | 'attempts' | 'delivered' | 'limited' | 'dead'
>;

/** The source of the metrics of a sender. */
export interface ReadableSender {
  readonly snapshot: SenderSnapshot;
  readonly keyTotals: SenderKeyTotals;
  readonly event: SenderEvent;
}

const make = new RowMaker<ReadableSender>('webhook.sender');
const EVENTS = '{event}';
const REQUESTS = '{request}';
const ENDPOINTS = '{endpoint}';
const CALLS = '{call}';

export const senderRows: readonly Row<ReadableSender>[] = [
  make.gauge('depth', EVENTS, 'Unfinished events', ({ depth }) => depth, {
    prometheusName: 'webhook_sender_queue_depth',
  }),
  make.gauge('size', 'By', 'Bytes of unfinished events', ({ bytes }) => bytes),
  make.gauge('capacity', EVENTS, 'How many events may be unfinished: the option', ({ capacity }) => capacity),
  make.gauge(
    'max_size',
    'By',
    'How many bytes unfinished events may take: the option maxBytes',
    ({ maxBytes }) => maxBytes,
  ),
  make.gauge('waiting_sends', CALLS, 'Calls of send that wait for room', ({ waitingSends }) => waitingSends),
  make.gauge('in_flight', REQUESTS, 'Requests in flight', ({ inFlight }) => inFlight),
  make.gauge(
    'state',
    '{sender}',
    '1 for the current state, and 0 for the others',
    ({ state }) => readingsOfState(SENDER_STATES, state),
    { attributes: ['state'] },
  ),
  make.gauge(
    'endpoints',
    ENDPOINTS,
    'Endpoints with events or requests, by state',
    ({ states }) => readingsByName('state', states),
    { attributes: ['state'] },
  ),
  make.gauge(
    'oldest_age',
    's',
    'The age of the oldest unfinished event, as of the last few seconds; 0 for none',
    ({ oldestAgeMs }) => oldestAgeMs / 1000,
  ),
  make.gauge(
    'dead_letter.depth',
    EVENTS,
    'Dead letters, as of the last few seconds',
    ({ shelved }) => shelved,
  ),
  make.gauge('paused', '{sender}', '1 while everything is paused, otherwise 0', ({ isPaused }) =>
    isPaused ? 1 : 0,
  ),
  make.gauge(
    'store.resting',
    '{sender}',
    '1 after a call of the store has failed, until one works; otherwise 0',
    ({ isStoreFailing }) => (isStoreFailing ? 1 : 0),
  ),
  make.gauge(
    'processes',
    '{process}',
    'Processes that share the buckets, this one included; 1 without shared buckets',
    ({ processes }) => processes,
  ),
  make.gauge(
    'alarm',
    '{alarm}',
    'Raised alarms by code: how many endpoints have it, or 1 for an alarm of the whole sender',
    ({ alarms }) => readingsOfAlarms(SENDER_ALARMS, alarms),
    { attributes: ['code'] },
  ),
  make.keyGauge('endpoint.queued', EVENTS, 'Queued events of an endpoint', (snapshot) =>
    ofEndpoints(snapshot, ({ queued }) => queued),
  ),
  make.keyGauge('endpoint.in_flight', REQUESTS, 'Requests in flight to an endpoint', (snapshot) =>
    ofEndpoints(snapshot, ({ inFlight }) => inFlight),
  ),
  make.keyGauge('endpoint.rate', '{request}/s', 'The present rate of an endpoint', (snapshot) =>
    ofEndpoints(snapshot, ({ ratePerSecond }) => ratePerSecond),
  ),
  make.keyGauge('endpoint.oldest_age', 's', 'The age of the oldest event of an endpoint', (snapshot) =>
    ofEndpoints(snapshot, ({ oldestAgeMs }) => oldestAgeMs / 1000),
  ),
  make.keyCounter('accepted', 'Events stored', ({ accepted }) => accepted, { unit: EVENTS }),
  make.keyCounter('duplicates', 'Calls of send whose id was known', ({ duplicate }) => duplicate, {
    unit: CALLS,
  }),
  make.counter(
    'refused',
    CALLS,
    'Calls of send that were refused because the outbox was full',
    ({ refused }) => refused,
  ),
  make.keyCounter('attempts', 'Requests started', ({ attempts }) => attempts, { unit: REQUESTS }),
  make.keyCounter('delivered', 'Events delivered', ({ delivered }) => delivered, { unit: EVENTS }),
  make.keyCounter('limited', 'Requests after which the endpoint asked to wait', ({ limited }) => limited, {
    unit: REQUESTS,
  }),
  make.counter('failed_attempts', REQUESTS, 'Requests that failed otherwise', ({ failed }) => failed),
  make.counter(
    'timed_out',
    REQUESTS,
    'Requests without an answer within the timeout; also counted as failed',
    ({ timedOut }) => timedOut,
  ),
  make.keyCounter('dead', 'Events that became dead letters', ({ dead }) => dead, { unit: EVENTS }),
  make.counter('batches', REQUESTS, 'Requests with more than one event', ({ batches }) => batches),
  make.counter('lost', EVENTS, 'Events whose claim another process took over', ({ lost }) => lost),
  make.counter(
    'clamped_waits',
    REQUESTS,
    'Answers with a Retry-After that was invalid, in the past or too long, and was replaced',
    ({ clampedRetryAfter }) => clampedRetryAfter,
  ),
  make.counter('disabled', ENDPOINTS, 'How often endpoints were disabled', ({ disabled }) => disabled),
  make.counter(
    'endpoint_failures',
    CALLS,
    'Calls of the function endpoint that failed',
    ({ endpointFailures }) => endpointFailures,
  ),
  make.counter(
    'store.failures',
    CALLS,
    'Calls of the store that failed',
    ({ storeFailures }) => storeFailures,
  ),
  make.histogram(
    'latency',
    's',
    'The time from send to the delivery, of the oldest event of each request',
    LATENCY_BUCKETS,
    true,
    ['delivered'],
    (event) => event.latencyMs / 1000,
  ),
  make.histogram(
    'request.duration',
    's',
    'How long requests took, successful or not',
    DURATION_BUCKETS,
    true,
    ['delivered', 'limited', 'failed'],
    (event) => event.tookMs / 1000,
  ),
  make.histogram(
    'endpoint_wait',
    's',
    'How long events are held back after the endpoint asked to wait',
    ENDPOINT_WAIT_BUCKETS,
    true,
    ['limited'],
    (event) => event.retryInMs / 1000,
  ),
  make.histogram(
    'request.events',
    EVENTS,
    'How many events were in one request',
    REQUEST_BUCKETS,
    false,
    ['started'],
    (event) => event.events,
  ),
];

function ofEndpoints(
  { endpoints }: SenderSnapshot,
  read: (endpoint: EndpointSnapshot) => number,
): ReadonlyMap<string, number> {
  return new Map(endpoints.map((one) => [one.endpoint, read(one)]));
}

/** The metrics of a sender. Exporters are made from this table, so that all of them report the same. */
export const senderMetrics: readonly Metric[] = senderRows;
