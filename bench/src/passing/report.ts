import { textOption } from '../command-line.ts';
import { describeMachine } from '../machine.ts';
import { textOfBench, write, writeBetween } from '../write.ts';
import { measurePassing, versionOf } from './measure.ts';
import { passings, passingSentence, type Passing } from './plan.ts';

/**
 * Measures what passing costs and puts it into the report, the results and the FAQ, beside what is there. With `--only` it
 * measures what begins so, and keeps the other figures.
 */
export async function writePassing(): Promise<void> {
  const before = JSON.parse(textOfBench('results.json')) as Record<string, object>;
  const only = textOption('only') ?? '';
  const rows = passings.flatMap((one) => {
    const figure = one.name.startsWith(only)
      ? measurePassing(one)
      : (before[one.name] as Passing | undefined);
    return figure === undefined ? [] : [{ ...one, figure }];
  });
  const others = Object.entries(before).filter(([name]) => !name.startsWith('passing/'));
  const figures = rows.map(({ name, figure }): [string, Passing] => [name, figure]);
  const results = Object.fromEntries([...others, ...figures]);
  await write('results.json', JSON.stringify(results));
  await writeBetween('../docs/faq.md', 'passing', passingSentence(results));

  const { date, processor, system } = describeMachine();
  const versions = [...new Set(passings.map(({ node }) => versionOf(node)))];
  const lines = [
    '',
    'Written by `npm run bench:passing`: processor time that the middleware adds to a delivery that starts immediately, in process, without a network.',
    '',
    `- ${date}, ${processor}, ${system}, Node ${versions.join(', ')}`,
    '- One process for each framework and kind; the least of 5 × 20 rounds of 5,000 requests, after 30,000 that compile.',
    '',
    '| | without, µs | empty middleware | **ours** | target |',
    '| --- | ---: | ---: | ---: | --- |',
    ...rows.map(
      ({ name, target, figure: { base, empty, added } }) =>
        `| ${name} | ${base.toFixed(2)} | ${signed(empty)} | **${signed(added)}** | ≤ ${String(target)} µs: ${added <= target ? 'met' : '**missed**'} |`,
    ),
    '',
  ];
  await writeBetween('report.md', 'passing', lines.join('\n'));
  process.stdout.write(`${lines.slice(5, -1).join('\n')}\n`);
}

function signed(microseconds: number): string {
  return `${microseconds < 0 ? '−' : '+'}${Math.abs(microseconds).toFixed(2)}`;
}
