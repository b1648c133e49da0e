import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
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
const ENDLESS = ['constant-1', 'constant-10', 'depth-rate'];
/** Of each kind, those that run for less than a second. */
const ROWS_HERE = isLong ? ROWS : ROWS.filter(({ name }) => name.startsWith('slow-'));
const PROBES_HERE = isLong
  ? PROBES
  : PROBES.filter(({ name }) => !/stutter|concurrency|equal|modest|hungry/.test(name));
const COMPARED_HERE = isLong ? COMPARED : [];

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

  it.each(ROWS_HERE)('matches a run of the scenario: $title', { timeout: 60_000 }, async (row) => {
    const { measures, svg } = await runRow(row, SEED);
    expect(measures).toEqual(figures.rows[row.name]?.[SEED - 1]);
    expect(svg).toBe(await read(`${row.name}.svg`));
  });

  it.each(PROBES_HERE)('matches a run of the probe: $name', { timeout: 60_000 }, async (probe) => {
    expect(await runProbe(probe, SEED)).toEqual(figures.probes[probe.name]?.[SEED - 1]);
  });

  it.each(
    COMPARED_HERE.flatMap((name) =>
      COMPARISONS.filter((one) => !ENDLESS.includes(one.name)).map((one) => ({ name, one })),
    ),
  )('matches a run of the comparison: $name with $one.title', { timeout: 60_000 }, async ({ name, one }) => {
    expect(await runComparison(name, one)).toEqual(figures.comparisons[name]?.[one.name]);
  });
});
