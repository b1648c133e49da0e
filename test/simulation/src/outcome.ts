import type { Figures } from './markdown.ts';
import { NAMES } from './measures.ts';
import { PROBES } from './reach.ts';
import { ROWS } from './rows.ts';
import { shown } from './table.ts';

/** A figure to reach, and its results. */
export interface Outcome {
  /** The name of its row or probe. */
  readonly name: string;
  readonly title: string;
  readonly figure: string;
  readonly rule: 'at most' | 'at least';
  readonly bound: number;
  /** The entry at index `i` is of seed `i + 1`; null without a measurement. */
  readonly values: readonly (number | null)[];
}

export function rowOutcomes({ rows }: Figures): Outcome[] {
  return ROWS.flatMap(({ name, title, goals }) =>
    goals.map(({ measure, rule, bound }) => {
      const values = (rows[name] ?? []).map((seed) => seed[measure]);
      return { name, title, figure: NAMES[measure], rule, bound, values };
    }),
  );
}

export function probeOutcomes({ probes }: Figures): Outcome[] {
  return PROBES.flatMap(({ name, title, goals }) =>
    goals.map((goal, index) => {
      const values = (probes[name] ?? []).map((seed) => seed[index] ?? null);
      return { name, title, ...goal, values };
    }),
  );
}

function isMissedBy({ rule, bound }: Outcome, value: number | null): boolean {
  return value === null || (rule === 'at most' ? value > bound : value < bound);
}

/** The number of seeds that miss the bound. */
export function misses(outcome: Outcome): number {
  return outcome.values.filter((value) => isMissedBy(outcome, value)).length;
}

export const OUTCOME_HEAD: readonly string[] = [
  'scenario',
  'figure',
  'to reach',
  'worst',
  'seed',
  'median',
  '',
];

/** A row of the table under {@link OUTCOME_HEAD}. */
export function outcomeCells(outcome: Outcome): string[] {
  const { title, figure, rule, bound, values } = outcome;
  const badness = (value: number | null): number => {
    if (value === null) return Infinity;
    return rule === 'at most' ? value : -value;
  };
  const worst = Math.max(...values.map(badness));
  const index = values.findIndex((value) => badness(value) === worst);
  const missed = misses(outcome);
  return [
    title,
    figure,
    `${rule === 'at most' ? '≤' : '≥'} ${shown(bound)}`,
    shown(values[index] ?? null),
    String(index + 1),
    shown(median(values)),
    missed === 0 ? 'reached' : `**missed** by ${String(missed)} of ${String(values.length)}`,
  ];
}

function median(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  return upper === undefined || lower === undefined ? null : (upper + lower) / 2;
}
