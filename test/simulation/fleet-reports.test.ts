import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../long.ts';
import {
  FLEET_FIGURES_FILE,
  FLEET_FILE,
  formatFleet,
  renderFleet,
  type FleetReport,
} from './src/fleet-report.ts';
import { FLEET_ROWS, runFleetRow } from './src/fleet-rows.ts';
import { REPORTS } from './src/reports.ts';

// A difference here is a change of behavior. If it is intended, run npm run simulate:reports and commit the changes.

/** The more receivers, the longer a run takes. */
const HERE = FLEET_ROWS.filter(({ name }) => isLong || name === 'random-4-dies');

let report: FleetReport;
beforeAll(async () => {
  report = JSON.parse(await read(FLEET_FIGURES_FILE)) as FleetReport;
});

function read(file: string): Promise<string> {
  return readFile(join(REPORTS, file), 'utf8');
}

describe('the committed report of several receivers', () => {
  it('matches the committed figures', async () => {
    expect(renderFleet(report)).toBe(await read(FLEET_FILE));
    expect(formatFleet(report)).toBe(await read(FLEET_FIGURES_FILE));
  });

  it.each(HERE)('matches a run: $name', { timeout: 60_000 }, async (row) => {
    expect(await runFleetRow(row, 1)).toEqual(report[row.name]?.[0]);
  });
});
