import { barChart } from './charts.ts';
import { machineLines, type Machine } from './machine.ts';
import type { Result } from './results.ts';

/** The figures as a table of text, for the terminal. */
export function table(results: readonly Result[]): string {
  const rows = [
    ['', 'ours', 'base', 'ratio', 'min', 'max', 'target', ''],
    ...results.flatMap((result) => [
      [
        result.name,
        count(result.ours, result.unit),
        count(result.base, result.unit),
        ...[result.ratio, result.min, result.max].map((value) => value.toFixed(3)),
        result.target,
        result.target === '' ? '' : result.isMet ? 'met' : 'MISSED',
      ],
      ...result.peers.map(({ name, value, ratio, min, max }) => [
        `  ${name}`,
        count(value, result.unit),
        '',
        ratio.toFixed(3),
        min.toFixed(3),
        max.toFixed(3),
        '',
        '',
      ]),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 || column > 5 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const ACKNOWLEDGING: Readonly<Record<string, string>> = {
  'inbox/durable': 'acknowledgements ÷ one insert per commit',
  'inbox/http': 'acknowledgements over HTTP ÷ one insert per commit',
};

/** The charts, by file name. */
export function charts(results: readonly Result[]): Map<string, string> {
  const drawn = new Map<string, string>();
  const ratios = (prefix: string): Result[] => results.filter(({ name }) => name.startsWith(prefix));
  const bar = ({ name, ratio, min, max }: Result, label = name) => ({
    label,
    value: ratio,
    min,
    max,
    isOurs: true,
  });
  drawn.set(
    'core.svg',
    barChart(
      'The core alone: ours ÷ base, larger is better',
      ratios('core/').map((result) => bar(result)),
    ),
  );
  const isSideBySide = ({ name }: Result): boolean => name.endsWith('/pass') || name in ACKNOWLEDGING;
  for (const result of results.filter(isSideBySide)) {
    const peers = result.peers.map(({ name, ratio, min, max }) => ({
      label: name,
      value: ratio,
      min,
      max,
      isOurs: false,
    }));
    drawn.set(
      `${result.name.replace('/', '-')}.svg`,
      barChart(`${result.name}: ${ACKNOWLEDGING[result.name] ?? 'throughput ÷ without a middleware'}`, [
        bar(result, 'webhook-backpressure'),
        ...peers,
      ]),
    );
  }
  const refusals = results.filter(({ name }) => name.endsWith('/refuse') && !name.startsWith('core/'));
  const bare = refusals
    .flatMap(({ peers }) => peers)
    .map(({ name, ratio, min, max }) => ({ label: name, value: ratio, min, max, isOurs: false }));
  drawn.set(
    'refuse.svg',
    barChart('Refusals per second ÷ a 429 written by hand', [
      ...refusals.map((result) => bar(result)),
      ...bare,
    ]),
  );
  drawn.set(
    'memory.svg',
    barChart(
      'Memory ÷ what it may come to, smaller is better',
      ratios('memory/').map((result) => bar(result)),
    ),
  );
  return drawn;
}

/** The results as the lines of a table. */
function markdownTable(results: readonly Result[]): string[] {
  return [
    '| | ours | base | ours ÷ base | rounds | target |',
    '| --- | ---: | ---: | ---: | --- | --- |',
    ...results.flatMap((result) => [
      `| **${result.name}** | ${count(result.ours, result.unit)} | ${count(result.base, result.unit)} | **${result.ratio.toFixed(3)}** | ${result.min.toFixed(3)} to ${result.max.toFixed(3)} | ${result.target === '' ? '' : `${result.target}: ${result.isMet ? 'met' : '**missed**'}`} |`,
      ...result.peers.map(
        ({ name, value, ratio, min, max }) =>
          `| ${name} | ${count(value, result.unit)} | | ${ratio.toFixed(3)} | ${min.toFixed(3)} to ${max.toFixed(3)} | |`,
      ),
    ]),
  ];
}

/** The part of the report about results that were measured alone, after the last full run. */
export function partialReport(results: readonly Result[], machine: Machine): string {
  return [
    '',
    '## Measured after that, alone',
    '',
    ...machineLines(machine),
    '',
    ...markdownTable(results),
    '',
  ].join('\n');
}

/** The report, in Markdown. */
export function report(
  results: readonly Result[],
  { machine, rounds, storage }: { machine: Machine; rounds: number; storage: string },
): string {
  return [
    '# Benchmarks',
    '',
    'Written by `npm run bench`. [How it is measured, and how to read it](README.md).',
    '',
    ...machineLines(machine),
    `- The median of ${String(rounds)} rounds, interleaved. Rates are per second of processor time, those of \`inbox/\` per second; times are in ms, memory is in bytes.`,
    `- The inbox, its base and its peers: ${storage}. All with WAL; synchronous=FULL, so that an acknowledgement survives a power failure, but for plainjob and liteque as they come, which set NORMAL.`,
    '',
    ...markdownTable(results),
    '',
    ...[...charts(results).keys()].flatMap((file) => [`![${file.replace('.svg', '')}](charts/${file})`, '']),
    '## What passing costs',
    '',
    '<!-- alone:begin --><!-- alone:end -->',
    '',
    '<!-- passing:begin --><!-- passing:end -->',
    '',
    '## The base of each',
    '',
    ...results.map(({ name, baseIs }) => `- ${name}: ${baseIs}`),
    '',
  ].join('\n');
}

function count(value: number, unit: string): string {
  return unit === 'ms' ? `${value.toFixed(1)} ms` : Math.round(value).toLocaleString('en');
}
