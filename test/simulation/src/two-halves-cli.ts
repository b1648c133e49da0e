import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REPORTS } from './reports.ts';
import {
  formatTwoHalves,
  renderTwoHalves,
  TWO_HALVES_FIGURES_FILE,
  TWO_HALVES_FILE,
} from './two-halves-report.ts';
import {
  HALVES,
  runTwoHalves,
  TWO_HALVES_ROWS,
  type Half,
  type TwoHalvesFigures,
} from './two-halves-rows.ts';

const report: Record<string, Partial<Record<Half, TwoHalvesFigures[]>>> = {};
for (const row of TWO_HALVES_ROWS) {
  const halves: Partial<Record<Half, TwoHalvesFigures[]>> = {};
  for (const half of HALVES) {
    const seeds: TwoHalvesFigures[] = [];
    for (let seed = 1; seed <= row.seeds; seed += 1) seeds.push(await runTwoHalves(row, half, seed));
    halves[half] = seeds;
    process.stderr.write(`${row.name}, ${half}\n`);
  }
  report[row.name] = halves;
}
await writeFile(join(REPORTS, TWO_HALVES_FIGURES_FILE), formatTwoHalves(report));
await writeFile(join(REPORTS, TWO_HALVES_FILE), renderTwoHalves(report));
