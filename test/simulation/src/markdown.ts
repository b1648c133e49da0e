import { COMPARED, COMPARISONS } from './comparisons.ts';
import { NAMES, type Measures } from './measures.ts';
import { ROWS, type Row } from './rows.ts';
import { shown, table } from './table.ts';

/** All that the report is made of, so that it can be rendered again without a run. */
export interface Figures {
  /** By the name of the row; the entry at index `i` is of seed `i + 1`. */
  readonly rows: Readonly<Record<string, readonly Measures[]>>;
  /** By the name of the probe; likewise, then in the order of its goals. */
  readonly probes: Readonly<Record<string, readonly (readonly (number | null)[])[]>>;
  /** By the name of the scenario, then of the comparison; seed 1. */
  readonly comparisons: Readonly<Record<string, Readonly<Record<string, Measures>>>>;
}

const COMPARED_MEASURES = [
  'attemptsPerEvent',
  'maxAttempts',
  'lost',
  'clearS',
  'goodput',
  'gateToggles',
  'peakReturnsPerSecond',
  'p50DelayS',
  'p99DelayS',
] as const;

/** The report as Markdown. */
export function renderReport(figures: Figures): string {
  return [
    '# What the simulator says',
    '',
    'Written by `npm run simulate:reports`; a test compares it with what the simulator says now. The scenarios are',
    'in `../scenarios/`, the words are explained in `../README.md`. Ten workers, 100 ms each: the drain rate is',
    '100 a second.',
    '',
    'Each figure to reach, at ten seeds, is in [reach.md](reach.md).',
    '',
    '## Above the floor',
    '',
    'The floor is one refusal for each delivery that cannot be served in time: that finds a queue of the same',
    'capacity full which refuses only then, and to which nobody returns. Means of all seeds.',
    '',
    ...table(
      ['scenario', 'attempts per event', 'floor', 'above the floor'],
      ROWS.map((row) => floorCells(row, measuresOf(figures, row))),
    ),
    '',
    '## Policies compared',
    '',
    'The same gate, the same deliveries and the same service times; what the refused are told, or what they do,',
    'differs. Seed 1.',
    ...COMPARED.flatMap((name) => ['', `### ${titleOf(name)}`, '', ...comparisonTable(figures, name)]),
    '',
    '## Over time',
    '',
    'Seed 1. The marks are those of the full capacity; in a stall they move down.',
    ...ROWS.flatMap(({ name, title }) => ['', `![${title}](${name}.svg)`]),
    '',
  ].join('\n');
}

function measuresOf(figures: Figures, { name }: Row): readonly Measures[] {
  return figures.rows[name] ?? [];
}

function floorCells({ title }: Row, seeds: readonly Measures[]): string[] {
  const attempts = mean(seeds.map(({ attemptsPerEvent }) => attemptsPerEvent ?? NaN));
  const floor = mean(seeds.map((seed) => seed.floor));
  return [title, ...[attempts, floor, attempts - floor].map((value) => value.toFixed(3))];
}

function comparisonTable({ comparisons }: Figures, name: string): string[] {
  return table(
    ['', ...COMPARED_MEASURES.map((measure) => NAMES[measure])],
    COMPARISONS.map((comparison) => {
      const measures = comparisons[name]?.[comparison.name];
      return [comparison.title, ...COMPARED_MEASURES.map((measure) => shown(measures?.[measure] ?? null))];
    }),
  );
}

function titleOf(name: string): string {
  return ROWS.find((row) => row.name === name)?.title ?? name;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
