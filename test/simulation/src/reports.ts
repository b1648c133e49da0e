import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { markOf, placesOf, simulate } from '@webhook-backpressure/planner/parts';
import { under, type Comparison, type ScenarioJson } from './comparisons.ts';
import type { Figures } from './markdown.ts';
import { measuresOf, type Measures } from './measures.ts';
import { plot } from './plot.ts';
import type { Probe } from './probe.ts';
import type { Row } from './rows.ts';

// The same folder for sources and for compiled files.
const FOLDER = join(import.meta.dirname, '..');

/** Where the reports are committed. */
export const REPORTS: string = join(FOLDER, 'reports');
export const REPORT_FILE = 'README.md';
export const REACH_FILE = 'reach.md';
export const FIGURES_FILE = 'figures.json';

/** Reads the file of a named scenario. */
async function readScenario(name: string): Promise<ScenarioJson> {
  return JSON.parse(await readFile(join(FOLDER, 'scenarios', `${name}.json`), 'utf8')) as ScenarioJson;
}

/** Runs a row with one seed. */
export async function runRow(
  { name, title }: Row,
  seed: number,
): Promise<{ measures: Measures; svg: string }> {
  const simulation = await simulate({ ...(await readScenario(name)), seed });
  const { scenario, seen } = simulation;
  const places = placesOf(scenario);
  const svg = plot(seen.series.seconds, {
    title,
    marks: [
      { label: 'high-water mark', depth: markOf(scenario, places, 'high') },
      { label: 'low-water mark', depth: markOf(scenario, places, 'low') },
    ],
  });
  return { measures: measuresOf(simulation), svg };
}

/** Runs a probe with one seed. Rounds to six decimals: more would only show the order of additions. */
export async function runProbe(probe: Probe, seed: number): Promise<(number | null)[]> {
  const figures = await probe.run(seed);
  return figures.map((figure) => (figure === null ? null : Math.round(figure * 1e6) / 1e6));
}

/** Runs a scenario with one of the policies to compare. */
export async function runComparison(name: string, comparison: Comparison): Promise<Measures> {
  return measuresOf(await simulate(under(comparison, await readScenario(name))));
}

/** Formats the figures as JSON with one line per run, so that a diff shows the changed runs. */
export function formatFigures({ rows, probes, comparisons }: Figures): string {
  const bySeed = (named: Readonly<Record<string, readonly unknown[]>>): string =>
    Object.entries(named)
      .map(([name, seeds]) => {
        const lines = seeds.map((one) => `      ${JSON.stringify(one)}`);
        return `    ${JSON.stringify(name)}: [\n${lines.join(',\n')}\n    ]`;
      })
      .join(',\n');
  const compared = Object.entries(comparisons).map(([name, runs]) => {
    const lines = Object.entries(runs).map(
      ([one, measures]) => `      ${JSON.stringify(one)}: ${JSON.stringify(measures)}`,
    );
    return `    ${JSON.stringify(name)}: {\n${lines.join(',\n')}\n    }`;
  });
  const parts = [
    `  "rows": {\n${bySeed(rows)}\n  }`,
    `  "probes": {\n${bySeed(probes)}\n  }`,
    `  "comparisons": {\n${compared.join(',\n')}\n  }`,
  ];
  return `{\n${parts.join(',\n')}\n}\n`;
}
