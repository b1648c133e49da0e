import { COMPARED, COMPARISONS } from './comparisons.ts';
import type { Measures } from './measures.ts';
import { ROWS, type Goal, type Row } from './rows.ts';

/** All that the report is made of, so that it can be rendered again without a run. */
export interface Figures {
  /** By the name of the row; the entry at index `i` is of seed `i + 1`. */
  readonly rows: Readonly<Record<string, readonly Measures[]>>;
  /** By the name of the scenario, then of the comparison; seed 1. */
  readonly comparisons: Readonly<Record<string, Readonly<Record<string, Measures>>>>;
}

const NAMES: Record<keyof Measures, string> = {
  attemptsPerEvent: 'attempts per event',
  floor: 'floor',
  maxAttempts: 'attempts of one event, at most',
  lost: 'lost',
  clearS: 'cleared after (s)',
  clearRatio: 'clearing time ÷ ideal',
  goodput: 'goodput',
  gateToggles: 'gate toggles',
  peakReturnsPerSecond: 'peak of returns (per s)',
  p50DelayS: 'p50 of delay (s)',
  p99DelayS: 'p99 of delay (s)',
  toldRise: 'rise of Retry-After in 3 s of a stall',
};

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
    '## Figures to reach',
    '',
    'Seeds 1 to 10. The worst seed counts.',
    '',
    ...table(
      ['scenario', 'figure', 'to reach', 'worst', 'seed', 'median', ''],
      ROWS.flatMap((row) => row.goals.map((goal) => goalCells(row, goal, measuresOf(figures, row)))),
    ),
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

function goalCells({ title }: Row, { measure, rule, bound }: Goal, seeds: readonly Measures[]): string[] {
  const badness = (value: number | null): number => {
    if (value === null) return Infinity;
    return rule === 'at most' ? value : -value;
  };
  const values = seeds.map((seed) => seed[measure]);
  const worst = Math.max(...values.map(badness));
  const index = values.findIndex((value) => badness(value) === worst);
  const isReached = worst <= badness(bound);
  return [
    title,
    NAMES[measure],
    `${rule === 'at most' ? '≤' : '≥'} ${shown(bound)}`,
    shown(values[index] ?? null),
    String(index + 1),
    shown(median(values)),
    isReached ? 'reached' : '**missed**',
  ];
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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)];
}

function shown(value: number | null): string {
  if (value === null) return '–';
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 100 ? 3 : 1);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
