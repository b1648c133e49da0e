import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import { REPORTS } from './src/reports.ts';
import {
  formatTwoHalves,
  renderTwoHalves,
  TWO_HALVES_FIGURES_FILE,
  TWO_HALVES_FILE,
  type TwoHalvesReport,
} from './src/two-halves-report.ts';
import { runTwoHalves, TWO_HALVES_ROWS } from './src/two-halves-rows.ts';

// A difference here is a change of behavior. If it is intended, run npm run simulate:reports and commit the changes.

const RUNS = TWO_HALVES_ROWS.flatMap((row) =>
  (['plain', 'headers'] as const).map((half) => ({ ...row, half })),
);
/** The others take longer. */
const HERE = RUNS.filter(({ name, half }) => isLong || (name === 'a-tenth' && half === 'headers'));

let report: TwoHalvesReport;
beforeAll(async () => {
  report = JSON.parse(await read(TWO_HALVES_FIGURES_FILE)) as TwoHalvesReport;
});

function read(file: string): Promise<string> {
  return readFile(join(REPORTS, file), 'utf8');
}

describe('the committed report of the sender and the receiver together', () => {
  it('matches the committed figures', async () => {
    expect(renderTwoHalves(report)).toBe(await read(TWO_HALVES_FILE));
    expect(formatTwoHalves(report)).toBe(await read(TWO_HALVES_FIGURES_FILE));
  });

  it.each(HERE)('matches a run: $name, $half', { timeout: 120_000 }, async (row) => {
    expect(await runTwoHalves(row, row.half, 1)).toEqual(report[row.name]?.[row.half]?.[0]);
  });
});
