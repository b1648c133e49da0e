import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';

interface Row {
  name: string;
  lost: number;
  attemptsPerDelivery: number;
  clearS: number;
  goodput: number;
}

const results = JSON.parse(readFileSync(join(root, 'bench/story/results.json'), 'utf8')) as {
  machine: { date: string; node: string };
  rows: Row[];
};
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const section = /<!-- story:begin -->(.*)<!-- story:end -->/s.exec(readme)?.[1] ?? '';

/** The cells of each row of the table, as text. */
const table = section
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll(/[*`]/g, '').trim()),
  );

/** How the README names a run, where that differs from its name in the results. */
const LABELS: Readonly<Record<string, string>> = {
  nothing: 'no protection',
  'under-pressure': 'under-pressure, in Fastify',
  'p-limit': 'p-limit by hand',
  'webhook-backpressure-ignored': 'webhook-backpressure, Retry-After ignored',
};

describe('the story in the README', () => {
  it.each(results.rows)('has the figures of $name as they were measured', (row) => {
    const cells = table.find(([name]) => name === (LABELS[row.name] ?? row.name));
    expect(cells?.slice(1)).toEqual([
      row.lost.toLocaleString('en'),
      row.attemptsPerDelivery.toFixed(2),
      row.lost > 0 ? '–' : `${row.clearS.toFixed(1)} s`,
      `${(100 * row.goodput).toFixed(0)} %`,
    ]);
  });

  it('has no row that was not measured', () => {
    expect(table).toHaveLength(results.rows.length);
    expect(results.rows.length).toBeGreaterThan(0);
  });

  it('says when and on what it was measured and by which command, and shows the chart', () => {
    expect(section).toContain(results.machine.date);
    expect(section).toContain(results.machine.node);
    expect(section).toContain('npm run bench:story');
    const picture = /!\[.+\]\((.+)\)/.exec(section)?.[1] ?? 'none';
    expect(existsSync(join(root, picture))).toBe(true);
  });
});
