import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FLEET_FIGURES_FILE, FLEET_FILE, FLEET_SEEDS, formatFleet, renderFleet } from './fleet-report.ts';
import { FLEET_ROWS, runFleetRow, type FleetFigures } from './fleet-rows.ts';
import { REPORTS } from './reports.ts';

const report: Record<string, FleetFigures[]> = {};
for (const row of FLEET_ROWS) {
  const seeds: FleetFigures[] = [];
  for (let seed = 1; seed <= FLEET_SEEDS; seed += 1) seeds.push(await runFleetRow(row, seed));
  report[row.name] = seeds;
  process.stderr.write(`${row.name} ${row.title}\n`);
}
await writeFile(join(REPORTS, FLEET_FIGURES_FILE), formatFleet(report));
await writeFile(join(REPORTS, FLEET_FILE), renderFleet(report));
