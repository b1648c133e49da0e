import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { LabReport } from './lab-figures.ts';
import { formatLab, LAB_FILE, LAB_PAGE } from './lab-files.ts';
import { renderLab } from './lab-page.ts';
import { runAll } from './lab-pool.ts';
import { LAB_RUNS } from './lab-runs.ts';

// Without arguments all runs are made anew. `--only TEXT`, once or more, makes those whose names contain all texts, and
// `--missing` those that the report lacks.
const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, missing: { type: 'boolean' } },
});
/** Runs between two writes. */
const SAVE_EVERY = 20;

const { only = [], missing = false } = values;
const before = existsSync(LAB_FILE) ? (JSON.parse(await readFile(LAB_FILE, 'utf8')) as LabReport) : {};
const results = new Map(Object.entries(before));
const tasks = LAB_RUNS.map(({ name }) => name).filter(
  (name) => only.every((text) => name.includes(text)) && !(missing && results.has(name)),
);

let made = 0;
await runAll(tasks, async (name, result) => {
  results.set(name, result);
  made += 1;
  process.stderr.write(`${String(made)} of ${String(tasks.length)}: ${name}\n`);
  // So that an interrupted command keeps its results.
  if (made % SAVE_EVERY === 0) await save();
});
await save();

/** In the order of the runs, without those that are no longer made. */
async function save(): Promise<void> {
  const report: LabReport = Object.fromEntries(
    LAB_RUNS.flatMap(({ name }) => {
      const known = results.get(name);
      return known === undefined ? [] : [[name, known] as const];
    }),
  );
  await writeFile(LAB_FILE, formatLab(report));
  await writeFile(LAB_PAGE, renderLab(report));
}
