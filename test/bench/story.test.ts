import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';

interface Row {
  name: string;
  delivered: number;
  lost: number;
  attemptsPerDelivery: number;
  p50S: number;
  p99S: number;
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
      .map((cell) => cell.replaceAll('*', '').trim()),
  );

describe('the story in the README', () => {
  it.each(results.rows)('has the figures of $name as they were measured', (row) => {
    const cells = table.find(([name = '']) => name.split(/[ ,]/)[0] === row.name);
    expect(cells?.slice(1)).toEqual([
      row.delivered.toLocaleString('en'),
      row.lost.toLocaleString('en'),
      row.attemptsPerDelivery.toFixed(2),
      `${row.p50S.toFixed(1)} s`,
      `${row.p99S.toFixed(1)} s`,
      row.lost > 0 ? '–' : `${row.clearS.toFixed(1)} s`,
      `${(100 * row.goodput).toFixed(0)} %`,
    ]);
  });

  it('has no row that was not measured', () => {
    expect(table).toHaveLength(results.rows.length);
    expect(results.rows.length).toBeGreaterThan(0);
  });

  it('says when and with what it was measured, how to do it again, and shows the picture', () => {
    expect(section).toContain(results.machine.date);
    expect(section).toContain(results.machine.node);
    expect(section).toContain('npm run bench:story');
    const picture = /!\[.+\]\((.+)\)/.exec(section)?.[1] ?? 'none';
    expect(existsSync(join(root, picture))).toBe(true);
  });
});
