import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMPARED, COMPARISONS } from './comparisons.ts';
import { renderReport } from './markdown.ts';
import type { Measures } from './measures.ts';
import { PROBES } from './reach.ts';
import { renderReach } from './reach-report.ts';
import {
  FIGURES_FILE,
  formatFigures,
  REACH_FILE,
  REPORT_FILE,
  REPORTS,
  runComparison,
  runProbe,
  runRow,
} from './reports.ts';
import { ROWS } from './rows.ts';

const SEEDS = 10;

await mkdir(REPORTS, { recursive: true });

const rows: Record<string, Measures[]> = {};
for (const row of ROWS) {
  const seeds: Measures[] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { measures, svg } = await runRow(row, seed);
    seeds.push(measures);
    if (seed === 1) await writeFile(join(REPORTS, `${row.name}.svg`), svg);
  }
  rows[row.name] = seeds;
  process.stderr.write(`${row.title}\n`);
}

const probes: Record<string, (number | null)[][]> = {};
for (const probe of PROBES) {
  const seeds: (number | null)[][] = [];
  for (let seed = 1; seed <= SEEDS; seed += 1) seeds.push(await runProbe(probe, seed));
  probes[probe.name] = seeds;
  process.stderr.write(`${probe.name}\n`);
}

const comparisons: Record<string, Record<string, Measures>> = {};
for (const name of COMPARED) {
  const runs: Record<string, Measures> = {};
  for (const comparison of COMPARISONS) {
    runs[comparison.name] = await runComparison(name, comparison);
    process.stderr.write(`${name}, ${comparison.title}\n`);
  }
  comparisons[name] = runs;
}

const figures = { rows, probes, comparisons };
await writeFile(join(REPORTS, FIGURES_FILE), formatFigures(figures));
await writeFile(join(REPORTS, REPORT_FILE), renderReport(figures));
await writeFile(join(REPORTS, REACH_FILE), renderReach(figures));
