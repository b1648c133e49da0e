import type { ChartOptions, Line } from './line-chart.ts';
import { BYTES, DELIVERIES, MILLISECONDS, PERCENTILES, PER_SECOND, SECONDS_UNIT } from './units.ts';

const MARKS: readonly Line[] = [
  { column: 'effectiveCapacity', label: 'Effective capacity', color: 'grey', look: 'thin' },
  { column: 'highWater', label: 'High-water mark', color: 'amber', look: 'dashed' },
  { column: 'lowWater', label: 'Low-water mark', color: 'teal', look: 'dashed' },
];

const DRAIN: ChartOptions = {
  title: 'Drain rate and arrivals',
  unit: PER_SECOND,
  span: 4,
  lines: [
    { column: 'arrivals', label: 'Arrivals', color: 'blue', look: 'thin' },
    { column: 'drainRate', label: 'Drain rate', color: 'teal' },
  ],
};

const HANDLING: ChartOptions = {
  title: 'Handling time',
  unit: PERCENTILES,
  span: 4,
  lines: [
    { column: 'handlingP50', label: 'p50', color: 'blue', look: 'area' },
    { column: 'handlingP99', label: 'p99', color: 'violet' },
  ],
};

const RETRY_AFTER: ChartOptions = {
  title: 'Retry-After sent',
  unit: SECONDS_UNIT,
  span: 4,
  lines: [
    { column: 'retryAfterP50', label: 'p50', color: 'blue', look: 'area' },
    { column: 'retryAfterP99', label: 'p99', color: 'violet' },
  ],
};

export const INTAKE_CHARTS: readonly ChartOptions[] = [
  {
    title: 'Queue depth',
    unit: DELIVERIES,
    span: 6,
    lines: [{ column: 'depth', label: 'Queued', color: 'blue', look: 'area' }, ...MARKS],
  },
  {
    title: 'Deliveries per second',
    unit: PER_SECOND,
    span: 6,
    lines: [
      { column: 'arrivals', label: 'Arrivals', color: 'blue' },
      { column: 'started', label: 'Started', color: 'violet', look: 'dashed' },
      { column: 'completed', label: 'Completed', color: 'teal' },
      { column: 'refused', label: 'Refused', color: 'red' },
    ],
  },
  DRAIN,
  {
    title: 'Wait in the queue',
    unit: PERCENTILES,
    span: 4,
    lines: [
      { column: 'waitP50', label: 'p50', color: 'blue', look: 'area' },
      { column: 'waitP99', label: 'p99', color: 'violet' },
    ],
  },
  HANDLING,
  RETRY_AFTER,
];

export const INBOX_CHARTS: readonly ChartOptions[] = [
  {
    title: 'Backlog',
    unit: DELIVERIES,
    span: 6,
    lines: [{ column: 'depth', label: 'Unfinished', color: 'blue', look: 'area' }, ...MARKS],
  },
  {
    title: 'Deliveries per second',
    unit: PER_SECOND,
    span: 6,
    lines: [
      { column: 'arrivals', label: 'Arrivals', color: 'blue' },
      { column: 'stored', label: 'Stored', color: 'violet', look: 'dashed' },
      { column: 'completed', label: 'Completed', color: 'teal' },
      { column: 'refused', label: 'Refused', color: 'red' },
    ],
  },
  DRAIN,
  {
    title: 'Wait before an attempt',
    unit: PERCENTILES,
    span: 4,
    lines: [
      { column: 'waitP50', label: 'p50', color: 'blue', look: 'area' },
      { column: 'waitP99', label: 'p99', color: 'violet' },
    ],
  },
  HANDLING,
  {
    title: 'Age of the oldest delivery',
    unit: MILLISECONDS,
    span: 4,
    lines: [{ column: 'oldestAgeMs', label: 'Age', color: 'blue', look: 'area' }],
  },
  {
    title: 'Stored bytes',
    unit: BYTES,
    span: 4,
    lines: [{ column: 'bytes', label: 'Unfinished', color: 'blue', look: 'area' }],
  },
  {
    title: 'Dead letters',
    unit: DELIVERIES,
    span: 4,
    lines: [{ column: 'shelved', label: 'Dead letters', color: 'red', look: 'area' }],
  },
  RETRY_AFTER,
];
