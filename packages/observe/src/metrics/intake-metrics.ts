import type { IntakeEvent, Totals } from '@webhook-backpressure/core';
import type { ObservedIntakeSnapshot } from '../observed-snapshots.ts';
import { INTAKE_ALARMS } from './alarm-readings.ts';
import { DURATION_BUCKETS, RETRY_AFTER_BUCKETS } from './buckets.ts';
import { countersOfRefusals, gaugesOfLoad } from './common-rows.ts';
import type { Metric } from './metric.ts';
import { readingsByName, readingsOfRefusals, RowMaker, type Row } from './rows.ts';

/** The totals of an intake that are also counted for each key. */
export type IntakeKeyTotals = Pick<
  Totals,
  'arrivals' | 'admitted' | 'started' | 'completed' | 'failed' | 'overdue' | 'refusedByStatus' | 'withdrawn'
>;

/** What the metrics of an intake are read from. */
export interface ReadableIntake {
  readonly snapshot: ObservedIntakeSnapshot;
  readonly keyTotals: IntakeKeyTotals;
  readonly event: IntakeEvent;
}

const make = new RowMaker<ReadableIntake>('webhook.intake');
const DELIVERIES = '{delivery}';

export const intakeRows: readonly Row<ReadableIntake>[] = [
  make.gauge('depth', DELIVERIES, 'Queued deliveries', (snapshot) => snapshot.depth, {
    prometheusName: 'webhook_intake_queue_depth',
  }),
  make.gauge('active', DELIVERIES, 'Deliveries that are being handled', (snapshot) => snapshot.active),
  make.gauge(
    'concurrency',
    DELIVERIES,
    'How many deliveries may be handled concurrently: the option, or the learned value',
    (snapshot) => snapshot.concurrency,
  ),
  make.gauge(
    'capacity',
    DELIVERIES,
    'How many deliveries may be queued: the option',
    (snapshot) => snapshot.capacity,
  ),
  make.gauge(
    'effective_capacity',
    DELIVERIES,
    'The smaller of the capacity and longest wait × drain rate',
    (snapshot) => snapshot.effectiveCapacity,
  ),
  ...gaugesOfLoad(
    make,
    '{intake}',
    make.gauge(
      'oldest_wait',
      's',
      'How long the oldest queued delivery has waited; 0 if the queue is empty',
      (snapshot) => snapshot.oldestWaitMs / 1000,
    ),
    INTAKE_ALARMS,
  ),
  make.gauge(
    'fleet.share',
    DELIVERIES,
    'How many deliveries this member of a fleet may handle concurrently; no sample without a fleet',
    ({ fleet }) => fleet?.share ?? null,
  ),
  make.gauge(
    'fleet.members',
    '{member}',
    'Members of the fleet that this member sees, itself included; no sample without a fleet',
    ({ fleet }) => fleet?.members.length ?? null,
  ),
  make.gauge(
    'fleet.lost',
    '{fleet}',
    '1 while the registry of the fleet does not answer, otherwise 0; no sample without a fleet',
    ({ fleet }) => (fleet === null ? null : Number(fleet.state === 'lost')),
  ),
  make.keyCounter('arrivals', 'Deliveries that arrived', (totals) => totals.arrivals),
  make.keyCounter('admitted', 'Deliveries admitted, started or queued', (totals) => totals.admitted),
  make.keyCounter('started', 'Deliveries started by a worker', (totals) => totals.started),
  make.keyCounter('completed', 'Deliveries handled successfully', (totals) => totals.completed),
  make.keyCounter('failed', 'Deliveries whose handling failed', (totals) => totals.failed),
  make.keyCounter(
    'overdue',
    'Permits revoked after maxHandlingMs; also counted as failed',
    (totals) => totals.overdue,
  ),
  make.keyCounter(
    'refused',
    'Deliveries refused on arrival, by reason and status',
    (totals) => readingsOfRefusals(totals.refusedByStatus),
    { prometheusName: 'webhook_intake_overflow_total', attributes: ['reason', 'status'] },
  ),
  make.keyCounter(
    'withdrawn',
    'Admitted deliveries that left the queue before their start, by cause',
    (totals) => readingsByName('cause', totals.withdrawn),
    { attributes: ['cause'] },
  ),
  ...countersOfRefusals(make, 'admitted'),
  make.histogram(
    'wait.duration',
    's',
    'How long deliveries waited before their start',
    DURATION_BUCKETS,
    true,
    ['started'],
    (event) => event.waitedMs / 1000,
  ),
  make.histogram(
    'handling.duration',
    's',
    'How long the handling of deliveries took, successful or not',
    DURATION_BUCKETS,
    true,
    ['completed'],
    (event) => event.tookMs / 1000,
  ),
  make.histogram(
    'retry_after',
    's',
    'The Retry-After of deliveries refused on arrival',
    RETRY_AFTER_BUCKETS,
    true,
    ['refused'],
    (event) => event.retryAfterSeconds,
  ),
];

/** The metrics of an intake. Exporters are made from this table, so that all of them report the same. */
export const intakeMetrics: readonly Metric[] = intakeRows;
