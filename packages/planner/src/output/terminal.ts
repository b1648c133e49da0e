import { duration, grouped, percent } from '../base/format.ts';
import type { Figures, Plan, PlannedRun, SenderOutcome } from '../search/plan.ts';
import { codeOf, memoryOf, nameOf, recommendedOf, recoveryOf, switchedOff, titleOf } from './text.ts';

/** The terminal. */
export interface Terminal {
  readonly columns: number;
  readonly isColored: boolean;
}

/** A line of the table: a run with all its deliveries, or one of its senders. */
interface Row {
  readonly title: string;
  readonly run: PlannedRun;
  readonly figures: Figures;
  /** Undefined for the line of the run. */
  readonly sender: SenderOutcome | undefined;
}

/** Renders a plan for the terminal. */
export function renderAnswer(plan: Plan, { columns, isColored }: Terminal): string {
  const bold = (text: string): string => (isColored ? `\u001B[1m${text}\u001B[22m` : text);
  const list = (texts: readonly string[]): string[] =>
    texts.flatMap((text) => wrapped(`- ${text}`, columns, '  '));
  const { recommendation, warnings, tried } = plan;
  const recovery = recoveryOf(plan);
  return [
    ...wrapped(titleOf(plan), columns, ''),
    '',
    ...renderTable(columnsOf(rowsOf(plan)), columns, (line, row) =>
      rowsOf(plan)[row]?.sender ? line : bold(line),
    ),
    '',
    bold(`* ${recommendedOf(plan)}`),
    ...codeOf(plan).map((line) => `  ${line}`),
    '',
    bold('Why'),
    ...list(recommendation.reasons),
    ...(recovery.length === 0 ? [] : ['', bold('Does it recover?'), ...list(recovery)]),
    ...(warnings.length === 0 ? [] : ['', bold('Note'), ...list(warnings)]),
    '',
    `Tried ${String(tried.length)} configurations.`,
  ].join('\n');
}

function rowsOf({ runs }: Plan): Row[] {
  return runs.flatMap((run) => [
    { title: `${nameOf(run)}${run.isRecommended ? ' *' : ''}`, run, figures: run, sender: undefined },
    // The line of the run has the figures of a single sender.
    ...(run.senders.length === 1 ? [] : run.senders).map((sender) => ({
      title: `  ${sender.name}`,
      run,
      figures: sender,
      sender,
    })),
  ]);
}

function columnsOf(rows: readonly Row[]): Column[] {
  const column = (title: string, dropped: number, cell: (row: Row) => string): Column => ({
    title,
    dropped,
    align: 'right',
    cells: rows.map(cell),
  });
  const ofRun = (show: (run: PlannedRun) => string) => (row: Row) =>
    row.sender === undefined ? show(row.run) : '';
  const all = [
    { ...column('', 0, ({ title }) => title), align: 'left' as const },
    column('lost', 0, ({ figures: { lost } }) => grouped(lost)),
    column('', 2, ({ figures: { lost, events } }) => percent(lost, events)),
    column('attempts', 1, ({ figures }) => figures.attemptsPerEvent.toFixed(2)),
    column('p50', 3, ({ figures }) => duration(figures.delayS.p50)),
    column('p99', 0, ({ figures }) => duration(figures.delayS.p99)),
    column(
      'burst done',
      4,
      ofRun(({ burstDoneS }) => duration(burstDoneS)),
    ),
    column(
      'queued',
      5,
      ofRun(({ maxDepth }) => grouped(maxDepth)),
    ),
    column('memory', 6, ofRun(memoryOf)),
  ];
  const off = column('switched', 0, ({ run, sender }) =>
    (sender?.switchedOff ?? switchedOff(run).length > 0) ? 'off' : '',
  );
  return off.cells.some((cell) => cell !== '') ? [...all, off] : all;
}

/** A column of a table: its title, and the cells of all rows. */
interface Column {
  readonly title: string;
  readonly cells: readonly string[];
  readonly align: 'left' | 'right';
  /** Columns with higher numbers are left out first if the table is too wide. 0: never. */
  readonly dropped: number;
}

/** How a line is emphasized. */
type Emphasis = (line: string, row: number) => string;

const GAP = '  ';

/** Renders a table with its titles, one line per row, no wider than `width` if columns can be left out. */
export function renderTable(columns: readonly Column[], width: number, emphasize: Emphasis): string[] {
  const shown = fitting(columns, width);
  const rows = Math.max(...shown.map(({ cells }) => cells.length));
  const line = (cellOf: (column: Column) => string): string =>
    shown
      .map((column) => padded(cellOf(column), widthOf(column), column.align))
      .join(GAP)
      .trimEnd();
  return [
    line(({ title }) => title),
    ...Array.from({ length: rows }, (_, row) =>
      emphasize(
        line(({ cells }) => cells[row] ?? ''),
        row,
      ),
    ),
  ];
}

function fitting(columns: readonly Column[], width: number): readonly Column[] {
  const total = columns.reduce((sum, column) => sum + widthOf(column) + GAP.length, -GAP.length);
  const first = Math.max(...columns.map(({ dropped }) => dropped));
  if (total <= width || first === 0) return columns;
  return fitting(
    columns.filter(({ dropped }) => dropped !== first),
    width,
  );
}

function widthOf({ title, cells }: Column): number {
  return Math.max(title.length, ...cells.map(({ length }) => length));
}

function padded(text: string, width: number, align: Column['align']): string {
  return align === 'left' ? text.padEnd(width) : text.padStart(width);
}

/** Breaks a text into lines of at most `width` characters, each after the first indented. */
export function wrapped(text: string, width: number, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
