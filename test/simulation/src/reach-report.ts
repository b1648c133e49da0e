import { EXPLANATIONS } from './explanations.ts';
import type { Figures } from './markdown.ts';
import { misses, OUTCOME_HEAD, outcomeCells, probeOutcomes, rowOutcomes, type Outcome } from './outcome.ts';
import { SUBJECTS } from './reach.ts';
import { table } from './table.ts';

/** The report on the figures to reach, as Markdown. */
export function renderReach(figures: Figures): string {
  const rows = rowOutcomes(figures);
  const probes = probeOutcomes(figures);
  return [
    '# Figures to reach',
    '',
    'Written by `npm run simulate:reports`; a test compares it with what the simulator says now. All through the real',
    'intake, seeds 1 to 10. The worst seed counts.',
    '',
    ...missedSection([...rows, ...probes]),
    '',
    '## Retry-After',
    '',
    'The scenarios of `../scenarios/`, with ten workers of 100 ms: the drain rate is 100 a second.',
    '',
    ...table(OUTCOME_HEAD, rows.map(outcomeCells)),
    ...SUBJECTS.flatMap((subject) => {
      const names = subject.probes.map(({ name }) => name);
      const own = probes.filter(({ name }) => names.includes(name));
      return [
        '',
        `## ${subject.title}`,
        '',
        ...subject.about,
        '',
        ...table(OUTCOME_HEAD, own.map(outcomeCells)),
      ];
    }),
    '',
  ].join('\n');
}

function missedSection(outcomes: readonly Outcome[]): string[] {
  const missed = outcomes.filter((outcome) => misses(outcome) > 0);
  const lines = [
    '## Missed',
    '',
    `${String(outcomes.length - missed.length)} of ${String(outcomes.length)} are reached by every seed.`,
  ];
  for (const { of, text } of EXPLANATIONS) {
    const explained = missed.filter(({ name, figure }) => of[name]?.includes(figure) === true);
    if (explained.length > 0)
      lines.push('', ...table(OUTCOME_HEAD, explained.map(outcomeCells)), '', ...text);
  }
  const rest = unexplained(outcomes);
  if (rest.length > 0)
    lines.push('', ...table(OUTCOME_HEAD, rest.map(outcomeCells)), '', 'Not explained yet.');
  return lines;
}

/** Figures that some seed misses, and for which nobody has said why. */
export function unexplained(outcomes: readonly Outcome[]): Outcome[] {
  return outcomes
    .filter((outcome) => misses(outcome) > 0)
    .filter(({ name, figure }) => !EXPLANATIONS.some(({ of }) => of[name]?.includes(figure)));
}
