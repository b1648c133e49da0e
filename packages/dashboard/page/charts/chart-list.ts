import type { ChartOptions, Line } from './line-chart.ts';
import { BYTES, DELIVERIES, MILLISECONDS, PERCENTILES, PER_SECOND, SECONDS_UNIT } from './units.ts';

const MARKS: readonly Line[] = [
  { column: 'effectiveCapacity', label: 'Effective capacity', color: 'grey', look: 'thin' },
  { column: 'highWater', label: 'High-water mark', color: 'amber', look: 'dashed' },
  { column: 'lowWater', label: 'Low-water mark', color: 'teal', look: 'dashed' },
];

function depthChart(title: string, label: string): ChartOptions {
  const depth: Line = { column: 'depth', label, color: 'blue', look: 'area' };
  return { title, unit: DELIVERIES, span: 6, lines: [depth, ...MARKS] };
}

/** @param middle - what is between the arrivals and their completion. */
function ratesChart(middle: Pick<Line, 'column' | 'label'>): ChartOptions {
  return {
    title: 'Deliveries per second',
    unit: PER_SECOND,
    span: 6,
    lines: [
      { column: 'arrivals', label: 'Arrivals', color: 'blue' },
      { ...middle, color: 'violet', look: 'dashed' },
      { column: 'completed', label: 'Completed', color: 'teal' },
      { column: 'refused', label: 'Refused', color: 'red' },
    ],
  };
}

/** Of each 5 s: a window would show a short burst for as long as the window is. */
function percentilesChart(title: string, columns: string, unit = PERCENTILES): ChartOptions {
  return {
    title,
    unit,
    span: 4,
    lines: [
      { column: `${columns}P50`, label: 'p50 of 5 s', color: 'blue', look: 'area' },
      { column: `${columns}P99`, label: 'p99 of 5 s', color: 'violet' },
    ],
  };
}

const DRAIN: ChartOptions = {
  title: 'Drain rate and arrivals',
  unit: PER_SECOND,
  span: 4,
  lines: [
    { column: 'arrivals', label: 'Arrivals', color: 'blue', look: 'thin' },
    { column: 'drainRate', label: 'Drain rate', color: 'teal' },
  ],
};

const HANDLING = percentilesChart('Handling time', 'handling');
const RETRY_AFTER = percentilesChart('Retry-After sent', 'retryAfter', SECONDS_UNIT);

export const INTAKE_CHARTS: readonly ChartOptions[] = [
  depthChart('Queue depth', 'Queued'),
  ratesChart({ column: 'started', label: 'Started' }),
  DRAIN,
  percentilesChart('Wait in the queue', 'wait'),
  HANDLING,
  RETRY_AFTER,
];

export const INBOX_CHARTS: readonly ChartOptions[] = [
  depthChart('Backlog', 'Unfinished'),
  ratesChart({ column: 'stored', label: 'Stored' }),
  DRAIN,
  percentilesChart('Wait before an attempt', 'wait'),
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
    lines: [{ column: 'deadLetters', label: 'Dead letters', color: 'red', look: 'area' }],
  },
  RETRY_AFTER,
];

export const OUTBOX_CHARTS: readonly ChartOptions[] = [
  {
    title: 'Per second',
    unit: PER_SECOND,
    span: 6,
    lines: [
      { column: 'accepted', label: 'Events accepted', color: 'grey', look: 'thin' },
      { column: 'attempts', label: 'Requests', color: 'blue' },
      { column: 'delivered', label: 'Events delivered', color: 'teal' },
      { column: 'limited', label: 'Asked to wait', color: 'amber' },
      { column: 'failed', label: 'Failed', color: 'red' },
    ],
  },
  {
    title: 'Outbox',
    unit: DELIVERIES,
    span: 6,
    lines: [
      { column: 'depth', label: 'Unfinished', color: 'blue', look: 'area' },
      { column: 'inFlight', label: 'Requests in flight', color: 'violet' },
      { column: 'deadLetters', label: 'Dead letters', color: 'red', look: 'dashed' },
    ],
  },
];
