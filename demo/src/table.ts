import type { Percentiles } from './messages.ts';
import { count } from './format.ts';
import type { RunResult } from './run.ts';

type Row = readonly [label: string, value: (result: RunResult) => string];

const ROWS: readonly Row[] = [
  ['deliveries', ({ sender }) => count(sender.deliveries)],
  ['delivered', ({ sender }) => count(sender.delivered)],
  ['lost (given up by the sender)', ({ sender }) => count(sender.lost)],
  ['in the database at the end', ({ receiver }) => count(receiver.stored)],
  ['attempts per delivery', ({ sender }) => (sender.attempts / sender.deliveries).toFixed(2)],
  ['most attempts for one', ({ sender }) => count(sender.maxAttempts)],
  [
    'longest Retry-After',
    ({ sender: { maxRetryAfter } }) => (maxRetryAfter > 0 ? `${count(maxRetryAfter)} s` : '–'),
  ],
  ['time to any answer, p50', ({ sender }) => milliseconds(sender.answerMs.p50)],
  ['time to any answer, p99', ({ sender }) => milliseconds(sender.answerMs.p99)],
  ['time to a refusal or error, p50', ({ sender }) => milliseconds(sender.rejectionMs.p50)],
  ['time to a refusal or error, p99', ({ sender }) => milliseconds(sender.rejectionMs.p99)],
  ['time to be delivered, p50', ({ sender }) => seconds(sender.deliveryMs.p50)],
  ['time to be delivered, p99', ({ sender }) => seconds(sender.deliveryMs.p99)],
  ['deepest queue', ({ receiver: { deepest, capacity } }) => `${count(deepest)}${bound(capacity)}`],
  ['receiver RSS at the start', ({ rssAtStart }) => mebibytes(rssAtStart)],
  ['receiver RSS at the end', ({ receiver }) => mebibytes(receiver.rss)],
  ['until all was settled', ({ sender }) => seconds(sender.seconds * 1000)],
];

/** The results side by side. */
export function table(results: readonly RunResult[]): string {
  const kinds = [...new Set(results.flatMap(({ sender }) => Object.keys(sender.answers)))].sort();
  const answers = kinds.map((kind): Row => [
    `answers: ${kind}`,
    ({ sender }) => count(sender.answers[kind] ?? 0),
  ]);
  const lines = [
    ['', ...results.map(({ guarded }) => (guarded ? 'with' : 'without'))],
    ...[...ROWS, ...answers].map(([label, value]) => [label, ...results.map(value)]),
  ];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0))) ?? [];
  return lines
    .map((cells) =>
      cells
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

function bound(capacity: number | null): string {
  return capacity === null ? ' (no bound)' : ` of ${count(capacity)}`;
}

function milliseconds(value: Percentiles['p50']): string {
  return value === null ? '–' : `${count(Math.round(value))} ms`;
}

function seconds(value: Percentiles['p50']): string {
  return value === null ? '–' : `${(value / 1000).toFixed(1)} s`;
}

function mebibytes(bytes: number): string {
  return `${count(Math.round(bytes / 2 ** 20))} MiB`;
}
