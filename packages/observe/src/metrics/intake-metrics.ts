import { noRefusals } from '@webhook-backpressure/core/extend';
import { ALARM_DEFAULTS } from '../alarms/alarm-options.ts';
import type {
  Intake,
  IntakeEvent,
  IntakeState,
  RefusalReason,
  WithdrawalCause,
} from '@webhook-backpressure/core';
import type { ObservedIntakeSnapshot } from '../observe.ts';
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

/** The refusals of one key. */
export interface KeyRefusals {
  refusedByStatus: Record<429 | 503, Record<RefusalReason, number>>;
}

/** What the metrics of an intake are read from. */
interface ReadableIntake {
  readonly snapshot: ObservedIntakeSnapshot;
  readonly keyTotals: KeyRefusals &
    Record<'arrivals' | 'admitted' | 'started' | 'completed' | 'failed' | 'overdue', number> & {
      withdrawn: Record<WithdrawalCause, number>;
    };
  readonly event: IntakeEvent;
}

/** All states, of an inbox too. */
export const STATES: Readonly<Record<IntakeState, number>> = {
  accepting: 0,
  shedding: 0,
  stalled: 0,
  closing: 0,
  closed: 0,
};

const make = new RowMaker<ReadableIntake>('webhook.intake');

const rows: readonly Row<ReadableIntake>[] = [
  ...make.gauges('{delivery}', {
    depth: ['Queued deliveries', 'depth', { prometheusName: 'webhook_intake_queue_depth' }],
    active: ['Deliveries that are being handled', 'active'],
    concurrency: [
      'How many deliveries may be handled concurrently: the option, or the learned value',
      'concurrency',
    ],
    capacity: ['How many deliveries may be queued: the option', 'capacity'],
    effective_capacity: ['The smaller of the capacity and longest wait × drain rate', 'effectiveCapacity'],
    high_water: ['The depth at which shedding begins', 'highWater'],
    low_water: ['The depth at which shedding ends', 'lowWater'],
    booked: ['Refused deliveries with a booked time to retry that has not come yet', 'booked'],
    'fleet.share': [
      'How many deliveries this member of a fleet may handle concurrently; no sample without a fleet',
      ({ fleet }) => fleet?.share ?? null,
    ],
  }),
  ...make.gauges('{intake}', {
    state: [
      '1 for the current state, and 0 for the others',
      ({ state }) => readingsByName('state', { ...STATES, [state]: 1 }),
      { attributes: ['state'] },
    ],
  }),
  ...make.gauges('{delivery}/s', {
    drain_rate: [
      'Completions per second that the workers can sustain; no sample before the first completion',
      'drainRate',
    ],
  }),
  ...make.gauges('s', {
    oldest_wait: [
      'How long the oldest queued delivery has waited; 0 if the queue is empty',
      ({ oldestWaitMs }) => oldestWaitMs / 1000,
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
      readingsOfAlarms(ALARM_DEFAULTS),
      { attributes: ['code'] },
    ],
  }),
  ...make.gauges('{member}', {
    'fleet.members': [
      'Members of the fleet that this member sees, itself included; no sample without a fleet',
      ({ fleet }) => fleet?.members.length ?? null,
    ],
  }),
  ...make.gauges('{fleet}', {
    'fleet.lost': [
      '1 while the registry of the fleet does not answer, otherwise 0; no sample without a fleet',
      ({ fleet }) => (fleet === null ? null : Number(fleet.state === 'lost')),
    ],
  }),
  ...make.keyCounters('{delivery}', {
    arrivals: ['Deliveries that arrived', 'arrivals'],
    admitted: ['Deliveries admitted, started or queued', 'admitted'],
    started: ['Deliveries started by a worker', 'started'],
    completed: ['Deliveries handled successfully', 'completed'],
    failed: ['Deliveries whose handling failed', 'failed'],
    overdue: ['Permits revoked after maxHandlingMs; also counted as failed', 'overdue'],
    refused: [
      'Deliveries refused on arrival, by reason and status',
      readingsOfRefusals,
      { prometheusName: 'webhook_intake_overflow_total', attributes: ['reason', 'status'] },
    ],
    withdrawn: [
      'Admitted deliveries that left the queue before their start, by cause',
      ({ withdrawn }) => readingsByName('cause', withdrawn),
      { attributes: ['cause'] },
    ],
  }),
  ...make.counters('{delivery}', {
    loss_risk: ['Refused deliveries whose senders never retry', 'lossRisk'],
    promises: [
      'Retries that arrived in their booked time: kept if admitted, missed if refused again',
      ({ promises: { kept, missed } }) => readingsByName('outcome', { kept, missed }),
      { attributes: ['outcome'] },
    ],
  }),
  ...make.histograms('s', DURATION_BUCKETS, true, {
    'wait.duration': [
      'How long deliveries waited before their start',
      { started: ({ waitedMs }) => waitedMs / 1000 },
    ],
    'handling.duration': [
      'How long the handling of deliveries took, successful or not',
      { completed: ({ tookMs }) => tookMs / 1000 },
    ],
  }),
  ...make.histograms('s', RETRY_AFTER_BUCKETS, true, {
    retry_after: [
      'The Retry-After of deliveries refused on arrival',
      { refused: ({ retryAfterSeconds }) => retryAfterSeconds },
    ],
  }),
];

/** The metrics of an intake. Exporters are made from this table, so that all of them report the same. */
export const intakeMetrics: readonly Metric[] = rows;

export function intakeTable(intake: Intake): Table<ReadableIntake> {
  /** The number of the latest admission that was counted. */
  let latest = intake.snapshot().totals.admitted;
  const admit = (totals: ReadableIntake['keyTotals'], sequence: number): void => {
    // One that was queued has been counted when it starts.
    if (sequence <= latest) return;
    latest = sequence;
    totals.arrivals += 1;
    totals.admitted += 1;
  };
  return {
    rows,
    labels: ['key', 'sender'],
    create: () => ({
      arrivals: 0,
      admitted: 0,
      started: 0,
      completed: 0,
      failed: 0,
      overdue: 0,
      refusedByStatus: { 429: noRefusals(), 503: noRefusals() },
      withdrawn: { abandoned: 0, expired: 0, displaced: 0, closing: 0 },
    }),
    counts: {
      refused: (totals, { status, reason }) => {
        totals.arrivals += 1;
        totals.refusedByStatus[status][reason] += 1;
      },
      queued: (totals, { sequence }) => {
        admit(totals, sequence);
      },
      started: (totals, { sequence }) => {
        admit(totals, sequence);
        totals.started += 1;
      },
      completed: (totals, { outcome }) => {
        totals[outcome === 'success' ? 'completed' : 'failed'] += 1;
      },
      overdue: (totals) => {
        totals.overdue += 1;
      },
      withdrawn: (totals, { cause }) => {
        // A dry run handles it nevertheless.
        if (!intake.dryRun) totals.withdrawn[cause] += 1;
      },
    },
  };
}
