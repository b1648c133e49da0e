import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REPORTS } from '../reports.ts';
import { meansOf } from './changes.ts';
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
  let outcomes: Outcomes = {};
  await runSets([], names, seeds, (all) => {
    [outcomes = {}] = all.values();
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
  const base = values.out ?? (isWhole ? join(REPORTS, 'ablation') : undefined);
  const sets = chosen();
  const most = seeds * (sets.length + 1);
  let made = 0;
  let report: AblationReport | undefined;
  await runSets(sets, names, seeds, async (outcomes) => {
    made += 1;
    process.stderr.write(`${String(made)} of ${String(most)}\n`);
    // An interrupted command keeps its results.
    report = reportOf([...outcomes], Math.max(1, Math.floor((made - seeds) / sets.length)));
    if (base !== undefined) {
      await writeFile(`${base}.json`, formatAblation(report));
      await writeFile(`${base}.md`, renderAblation(report));
    }
  });
  if (base === undefined && report !== undefined) process.stdout.write(renderAblation(report));
}

/** The report of the first seeds, with the sets of rules that have been run with all of them. */
function reportOf(
  outcomes: readonly (readonly [readonly string[], Outcomes])[],
  first: number,
): AblationReport {
  const [all = {}, ...rest] = outcomes.map(([, bySet]) => {
    const seedsOf = Object.entries(bySet).map(([name, bySeed]) => [name, bySeed.slice(0, first)] as const);
    return seedsOf.every(([, bySeed]) => bySeed.length === first)
      ? meansOf(Object.fromEntries(seedsOf))
      : null;
  });
  const without = rest.flatMap((means, i) => {
    const title = outcomes[i + 1]?.[0].join(' + ') ?? '';
    return means === null || all === null ? [] : [[title, differing(all, means)] as const];
  });
  return { seeds: first, all: all ?? {}, without: Object.fromEntries(without) };
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
