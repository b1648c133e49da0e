import { columns } from './columns.ts';
import type { Percentiles, SenderTotals } from './messages.ts';
import { count } from './format.ts';
import type { RunResult } from './run.ts';

type Row = readonly [label: string, value: (result: RunResult) => string];

/** Refusals by the middleware: both carry Retry-After. Every other status but a success is an error. */
const REFUSED = ['429', '503'];

const ROWS: readonly Row[] = [
  ['lost (the sender gave up)', ({ sender }) => count(sender.lost)],
  ['errors and timeouts', ({ sender }) => count(errors(sender))],
  ['time to finish', ({ sender }) => seconds(sender.seconds * 1000)],
  ['delivered', ({ sender }) => `${count(sender.delivered)} of ${count(sender.deliveries)}`],
  ['in the database', ({ receiver }) => count(receiver.stored)],
  ['refused with Retry-After', ({ sender }) => refused(sender)],
  ['attempts per delivery, mean and most', ({ sender }) => attempts(sender)],
  [
    'time to be delivered, p50 and p99',
    ({
      sender: {
        deliveryMs: { p50, p99 },
      },
    }) => `${seconds(p50)}, ${seconds(p99)}`,
  ],
  ['deepest queue', ({ receiver: { deepest, capacity } }) => `${count(deepest)}${bound(capacity)}`],
  [
    'memory (RSS), start and end',
    ({ rssAtStart, receiver }) => `${mebibytes(rssAtStart)}, ${mebibytes(receiver.rss)}`,
  ],
];

/** The results side by side, at most 80 columns wide. */
export function table(results: readonly RunResult[]): string {
  return columns([
    ['', ...results.map(({ guarded }) => (guarded ? 'with' : 'without'))],
    ...ROWS.map(([label, value]) => [label, ...results.map(value)]),
  ]);
}

function bound(capacity: number | null): string {
  return capacity === null ? ' (no bound)' : ` of ${count(capacity)}`;
}

function refused({ answers, maxRetryAfter }: SenderTotals): string {
  const total = REFUSED.reduce((sum, status) => sum + (answers[status] ?? 0), 0);
  return total === 0 ? '0' : `${count(total)} (1 to ${count(maxRetryAfter)} s)`;
}

function errors({ answers }: SenderTotals): number {
  const isError = ([answer]: [string, number]): boolean =>
    !answer.startsWith('2') && !REFUSED.includes(answer);
  return Object.entries(answers)
    .filter(isError)
    .reduce((sum, [, times]) => sum + times, 0);
}

function attempts({ attempts: made, deliveries, maxAttempts }: SenderTotals): string {
  return `${(made / deliveries).toFixed(2)}, ${count(maxAttempts)}`;
}

function seconds(value: Percentiles['p50']): string {
  return value === null ? '–' : `${(value / 1000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${count(Math.round(bytes / 2 ** 20))} MiB`;
}
