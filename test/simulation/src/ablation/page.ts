import { changesOf, type Change, type Means } from './changes.ts';
import { linesOf } from './sources.ts';
import { RULES } from './rules.ts';

/** The results of the whole table. */
export interface AblationReport {
  readonly seeds: number;
  /** With all rules. */
  readonly all: Means;
  /** By the rule that is out, the scenarios with other outcomes. */
  readonly without: Readonly<Record<string, Means>>;
}

/** How many changes a cell shows. */
const SHOWN = 4;

const HEAD = `# What each rule is for

Each rule of the decision is taken out alone, and all scenarios run without it. The table shows what gets worse for users:
an event is lost (where some are lost anyway, 3 % more), an endpoint is disabled, 5 % more attempts or time, 5 points less
goodput or more work in vain, handlers a quarter slower, or the p99 of small tenants doubled. Where a fifth of the events
are lost, attempts, time and goodput say nothing and are left out. Seeds: SEEDS; figures are means. Lines that are marked
with ~ are a part of a file. \`npm run simulate:ablation\` makes this page from \`ablation.json\`.

| rule taken out | lines | what gets worse | what gets better |
| --- | ---: | --- | --- |
`;

export function renderAblation({ seeds, all, without }: AblationReport): string {
  const rows = Object.entries(without).map(([name, means]) => row(name, changesOf(all, means)));
  return `${HEAD.replace('SEEDS', String(seeds))}${rows.join('\n')}\n\n${scenarioTable(all)}`;
}

function row(name: string, changes: readonly Change[]): string {
  const worse = changes.filter(({ weight }) => weight >= 1);
  const better = changes.filter(({ weight }) => weight <= -1).reverse();
  const [most] = changes;
  const nothing = most === undefined || most.weight <= 0 ? 'nothing' : `nothing; most: ${list([most])}`;
  return `| ${name} | ${lines(name)} | ${worse.length === 0 ? nothing : list(worse)} | ${better.length === 0 ? '' : list(better)} |`;
}

function lines(name: string): string {
  const rule = RULES.find((one) => one.name === name);
  if (rule === undefined) return '';
  return `${typeof rule.size === 'number' ? '~' : ''}${String(linesOf(rule))}`;
}

/** By scenario: changes are sorted by weight. */
function list(changes: readonly Change[]): string {
  const byScenario = new Map<string, string[]>();
  for (const { scenario, title, before, after } of changes) {
    const figures = byScenario.get(scenario) ?? [];
    byScenario.set(scenario, [...figures, `${title} ${before} → ${after}`]);
  }
  const first = [...byScenario]
    .slice(0, SHOWN)
    .map(([scenario, figures]) => `**${scenario}**: ${figures.join(', ')}`);
  const left = byScenario.size - SHOWN;
  return left > 0 ? `${first.join('; ')}; and ${String(left)} more` : first.join('; ');
}

/** The outcomes with all rules. */
function scenarioTable(all: Means): string {
  const head = `## With all rules

| scenario | events | lost | disabled | attempts | most | clear ÷ ideal | goodput | in vain, again | p99 (s) | small tenants: lost, p99 (s) |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`;
  const rows = Object.entries(all).map(([name, mean]) => {
    if (mean === null) return `| ${name} | does not settle | | | | | | | | | |`;
    const { events, lost, off, attempts, maxAttempts, clear, goodput, inVain, again, p99 } = mean;
    const small = mean.smallP99 === null ? '' : `${fixed(mean.smallLost, 0)}, ${fixed(mean.smallP99, 0)}`;
    const cells = [
      ...[name, fixed(events, 0), fixed(lost, 0), fixed(off, 1), fixed(attempts, 2), fixed(maxAttempts, 1)],
      ...[
        fixed(clear, 2),
        fixed(goodput, 2),
        `${fixed(inVain, 0)}, ${fixed(again, 0)}`,
        fixed(p99, 0),
        small,
      ],
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `${head}${rows.join('\n')}\n`;
}

function fixed(value: number | null, digits: number): string {
  return value === null ? '–' : value.toFixed(digits);
}

/** The report as JSON with one line per scenario, so that a diff shows the changed ones. */
export function formatAblation({ seeds, all, without }: AblationReport): string {
  const byScenario = (means: Means, indent: string): string =>
    Object.entries(means)
      .map(([name, mean]) => `${indent}${JSON.stringify(name)}: ${JSON.stringify(mean)}`)
      .join(',\n');
  const rules = Object.entries(without).map(
    ([name, means]) => `    ${JSON.stringify(name)}: {\n${byScenario(means, '      ')}\n    }`,
  );
  return `{\n  "seeds": ${String(seeds)},\n  "all": {\n${byScenario(all, '    ')}\n  },\n  "without": {\n${rules.join(',\n')}\n  }\n}\n`;
}

/** Only the scenarios whose outcomes differ. */
export function differing(all: Means, means: Means): Means {
  return Object.fromEntries(
    Object.entries(means).filter(([name, mean]) => JSON.stringify(mean) !== JSON.stringify(all[name])),
  );
}
