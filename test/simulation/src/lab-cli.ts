import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { LabReport, LabResult } from './lab-figures.ts';
import { formatLab, LAB_FILE, LAB_PAGE } from './lab-files.ts';
import { renderLab } from './lab-page.ts';
import { runAll } from './lab-pool.ts';
import { LAB_RUNS } from './lab-runs.ts';

// Without arguments all runs are made anew. `--only TEXT` makes those whose name contains it, `--seeds N` fewer seeds.
const { values } = parseArgs({ options: { only: { type: 'string' }, seeds: { type: 'string' } } });
const { only = '', seeds = '3' } = values;
const chosen = LAB_RUNS.filter(({ name }) => name.includes(only));
const tasks = chosen.flatMap((run) =>
  Array.from({ length: Math.min(run.seeds, Number(seeds)) }, (_, index) => ({
    name: run.name,
    seed: index + 1,
  })),
);

const before = existsSync(LAB_FILE) ? (JSON.parse(await readFile(LAB_FILE, 'utf8')) as LabReport) : {};
const results = new Map<string, LabResult[]>();
let made = 0;
await runAll(tasks, ({ name, seed }, result) => {
  const ofRun = results.get(name) ?? [];
  ofRun[seed - 1] = result;
  results.set(name, ofRun);
  made += 1;
  process.stderr.write(`${String(made)} of ${String(tasks.length)}: ${name}, seed ${String(seed)}\n`);
});

// In the order of the runs, without those that are no longer made.
const report: LabReport = Object.fromEntries(
  LAB_RUNS.flatMap(({ name }) => {
    const seedsOf = results.get(name) ?? before[name];
    return seedsOf === undefined ? [] : [[name, seedsOf] as const];
  }),
);
await writeFile(LAB_FILE, formatLab(report));
await writeFile(LAB_PAGE, renderLab(report));
