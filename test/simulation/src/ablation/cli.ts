import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REPORTS } from '../reports.ts';
import { meansOf, type Means } from './changes.ts';
import { compare } from './compare.ts';
import { differing, formatAblation, renderAblation, type AblationReport } from './page.ts';
import { RULES } from './rules.ts';
import { runSets, type Outcomes } from './runs.ts';
import { SCENARIOS } from './scenarios.ts';

// Without arguments the committed table is made anew. With a choice of rules or scenarios, a table is printed instead.
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '2' },
    only: { type: 'string', multiple: true, default: [] },
    rules: { type: 'string' },
    together: { type: 'string', multiple: true, default: [] },
    baseline: { type: 'string' },
    compare: { type: 'string' },
    out: { type: 'string' },
  },
});
const seeds = Number(values.seeds);
const names = SCENARIOS.map(({ name }) => name).filter((name) =>
  values.only.every((text) => name.includes(text)),
);

if (values.baseline !== undefined || values.compare !== undefined) {
  const outcomes: Outcomes = {};
  await runSets([[]], names, seeds, (_, all) => {
    Object.assign(outcomes, all);
    return Promise.resolve();
  });
  if (values.baseline !== undefined)
    await writeFile(values.baseline, `${JSON.stringify(outcomes, null, 1)}\n`);
  if (values.compare !== undefined) {
    const before = JSON.parse(await readFile(values.compare, 'utf8')) as Outcomes;
    process.stdout.write(compare(before, outcomes));
  }
} else await makeTable();

async function makeTable(): Promise<void> {
  const isWhole = values.rules === undefined && values.together.length === 0 && values.only.length === 0;
  const base = isWhole ? join(REPORTS, 'ablation') : values.out;
  const sets = chosen();
  let all: Means = {};
  const taken = new Map<string, Means>();
  const report = (): AblationReport => ({
    ...{ seeds, all },
    without: Object.fromEntries(
      sets.flatMap((set) => {
        const means = taken.get(set.join(' + '));
        return means === undefined ? [] : [[set.join(' + '), differing(all, means)]];
      }),
    ),
  });
  let made = 0;
  await runSets([[], ...sets], names, seeds, async (set, outcomes) => {
    if (set.length === 0) all = meansOf(outcomes);
    else taken.set(set.join(' + '), meansOf(outcomes));
    process.stderr.write(
      `${String(++made)} of ${String(sets.length + 1)}: ${set.join(' + ') || 'all rules'}\n`,
    );
    // So that an interrupted command keeps its results.
    if (base !== undefined) await writeFile(`${base}.json`, formatAblation(report()));
  });
  if (base === undefined) process.stdout.write(renderAblation(report()));
  else await writeFile(`${base}.md`, renderAblation(report()));
}

/** The sets of rules to take out. */
function chosen(): string[][] {
  const known = RULES.map(({ name }) => name);
  const read = (text: string): string[] =>
    text.split(',').map((one) => {
      const name = one.trim();
      if (!known.includes(name)) throw new Error(`There is no rule ${name}, but: ${known.join(', ')}`);
      return name;
    });
  const together = values.together.map(read);
  if (values.rules === undefined) return together.length > 0 ? together : known.map((name) => [name]);
  return [...read(values.rules).map((name) => [name]), ...together];
}
