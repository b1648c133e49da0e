import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMPARED, COMPARISONS } from './src/comparisons.ts';
import { renderReport, type Figures } from './src/markdown.ts';
import { probeOutcomes, rowOutcomes } from './src/outcome.ts';
import { PROBES } from './src/reach.ts';
import { renderReach, unexplained } from './src/reach-report.ts';
import {
  FIGURES_FILE,
  formatFigures,
  REACH_FILE,
  REPORT_FILE,
  REPORTS,
  runComparison,
  runProbe,
  runRow,
} from './src/reports.ts';
import { ROWS } from './src/rows.ts';

// A difference here is a change of behavior. If it is intended, run npm run simulate:reports and commit the changes.

/** One seed, and the quick comparisons: the others have 10 million attempts. */
const SEED = 1;
const LONG = ['constant-1', 'constant-10', 'depth-rate'];
/**
 * `REPORTS=long` runs these too. They differ little from others: minutes of what `process-stutter-4` has in seconds, a
 * number between two others, the other combination of a start and a service time, and the strategies that `b-500` has.
 */
const isLong = process.env['REPORTS'] === 'long';
const LONG_PROBES = isLong
  ? []
  : [
      'process-stutter-60',
      'fairness-equal-5',
      'fairness-modest-9',
      'concurrency-5-exponential',
      'concurrency-100-constant',
    ];
const LONG_COMPARED = isLong ? [] : ['a'];

let figures: Figures;
beforeAll(async () => {
  figures = JSON.parse(await read(FIGURES_FILE)) as Figures;
});

function read(file: string): Promise<string> {
  return readFile(join(REPORTS, file), 'utf8');
}

describe('the committed report', () => {
  it('matches the committed figures', async () => {
    expect(renderReport(figures)).toBe(await read(REPORT_FILE));
    expect(renderReach(figures)).toBe(await read(REACH_FILE));
    expect(formatFigures(figures)).toBe(await read(FIGURES_FILE));
  });

  it('explains every missed figure', () => {
    const names = unexplained([...rowOutcomes(figures), ...probeOutcomes(figures)]);
    expect(names.map(({ name, figure }) => `${name}: ${figure}`)).toEqual([]);
  });

  it.each(ROWS)('matches a run of the scenario: $title', { timeout: 60_000 }, async (row) => {
    const { measures, svg } = await runRow(row, SEED);
    expect(measures).toEqual(figures.rows[row.name]?.[SEED - 1]);
    expect(svg).toBe(await read(`${row.name}.svg`));
  });

  it.each(PROBES.filter(({ name }) => !LONG_PROBES.includes(name)))(
    'matches a run of the probe: $name',
    { timeout: 60_000 },
    async (probe) => {
      expect(await runProbe(probe, SEED)).toEqual(figures.probes[probe.name]?.[SEED - 1]);
    },
  );

  it.each(
    COMPARED.filter((name) => !LONG_COMPARED.includes(name)).flatMap((name) =>
      COMPARISONS.filter((one) => !LONG.includes(one.name)).map((one) => ({ name, one })),
    ),
  )('matches a run of the comparison: $name with $one.title', { timeout: 60_000 }, async ({ name, one }) => {
    expect(await runComparison(name, one)).toEqual(figures.comparisons[name]?.[one.name]);
  });
});
