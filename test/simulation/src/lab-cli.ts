import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { LabReport, LabResult } from './lab-figures.ts';
import { formatLab, LAB_FILE, LAB_PAGE } from './lab-files.ts';
import { renderLab } from './lab-page.ts';
import { runAll } from './lab-pool.ts';
import { LAB_RUNS } from './lab-runs.ts';

// Without arguments all runs are made anew. `--only TEXT`, once or more, makes those whose names contain all texts,
// `--seeds N` makes fewer seeds, and `--missing` those that the report lacks.
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    seeds: { type: 'string' },
    missing: { type: 'boolean' },
  },
});
/** Runs between two writes. */
const SAVE_EVERY = 20;

const { only = [], seeds = '3', missing = false } = values;
const before = existsSync(LAB_FILE) ? (JSON.parse(await readFile(LAB_FILE, 'utf8')) as LabReport) : {};
const chosen = LAB_RUNS.filter(({ name }) => only.every((text) => name.includes(text)));
const tasks = chosen.flatMap((run) =>
  Array.from({ length: Math.min(run.seeds, Number(seeds)) }, (_, index) => ({
    name: run.name,
    seed: index + 1,
  })).slice(missing ? (before[run.name]?.length ?? 0) : 0),
);

const results = new Map(missing ? Object.entries(before).map(([name, ofRun]) => [name, [...ofRun]]) : []);
let made = 0;
await runAll(tasks, async ({ name, seed }, result) => {
  const ofRun = results.get(name) ?? [];
  ofRun[seed - 1] = result;
  results.set(name, ofRun);
  made += 1;
  process.stderr.write(`${String(made)} of ${String(tasks.length)}: ${name}, seed ${String(seed)}\n`);
  // So that an interrupted command keeps its results.
  if (made % SAVE_EVERY === 0) await save();
});
await save();

/** In the order of the runs, without those that are no longer made. */
async function save(): Promise<void> {
  const report: LabReport = Object.fromEntries(
    LAB_RUNS.flatMap(({ name }) => {
      const seedsOf = results.get(name)?.filter((result) => (result as LabResult | undefined) !== undefined);
      const known = seedsOf ?? before[name];
      return known === undefined ? [] : [[name, known] as const];
    }),
  );
  await writeFile(LAB_FILE, formatLab(report));
  await writeFile(LAB_PAGE, renderLab(report));
}
