import { duration, grouped, renderTable } from '@webhook-backpressure/planner/parts';
import type { Figures, Report } from './report.ts';

const MODES = { none: 'no middleware', hold: 'hold, defaults', inbox: 'inbox, defaults' };

/** A report for the terminal. */
export function reportText(report: Report, columns: number): string {
  const { senders, predicted, answers, failures, url, seconds, speed, maxLateMs, exceeded } = report;
  const measured = [
    { title: 'measured', ...report },
    ...(senders.length === 1 ? [] : senders).map((one) => ({ ...one, title: `  ${one.name}` })),
  ];
  const predictions = (predicted ?? []).map((one) => ({ ...one, title: `predicted: ${MODES[one.mode]}` }));
  const rows: readonly (Pick<Figures, 'delivered' | 'lost' | 'attempts'> &
    Partial<Figures> & { title: string })[] = [...measured, ...predictions];
  const column = (title: string, dropped: number, cell: (row: (typeof rows)[number]) => string) =>
    ({ title, dropped, align: 'right', cells: rows.map(cell) }) as const;
  const time = (ms: number | null | undefined): string =>
    ms === undefined ? '' : duration(ms === null ? null : ms / 1000);
  const count = (value: number | undefined): string => (value === undefined ? '' : grouped(value));
  const table = renderTable(
    [
      { ...column('', 0, ({ title }) => title), align: 'left' },
      column('delivered', 0, ({ delivered }) => grouped(delivered)),
      column('lost', 0, ({ lost }) => grouped(lost)),
      ...(report.open > 0 ? [column('open', 0, ({ open }) => count(open))] : []),
      column('repeated', 2, ({ repeated }) => count(repeated)),
      column('attempts', 0, ({ attempts }) => grouped(attempts)),
      column('p50', 3, ({ ackMs }) => time(ackMs?.p50)),
      column('p99', 1, ({ ackMs }) => time(ackMs?.p99)),
    ],
    columns,
    (line) => line,
  );
  const list = (values: Readonly<Record<string, number | string>>, of: string): string[] => {
    const entries = Object.entries(values).map(
      ([name, value]) => `${name} ${typeof value === 'number' ? grouped(value) : value}`,
    );
    return entries.length === 0 ? [] : [`${of}: ${entries.join(', ')}`];
  };
  const faster = speed === 1 ? '' : `, waits divided by ${String(speed)}`;
  return [
    `${grouped(report.events)} deliveries to ${url} in ${duration(seconds)}${faster}.`,
    '',
    ...table,
    '',
    ...list(answers, 'Answers'),
    ...Object.entries(failures).map(([kind, message]) => `First ${kind}: ${message}`),
    ...senders.map(
      ({ name, conclusion, signature }) =>
        `${name}: ${conclusion}${signature === null ? '' : ` (${signature})`}`,
    ),
    ...(maxLateMs > LATE_MS
      ? [`This machine was busy: an attempt started up to ${duration(maxLateMs / 1000)} late.`]
      : []),
    ...exceeded,
  ].join('\n');
}

/** Less is not worth a line. */
const LATE_MS = 250;
