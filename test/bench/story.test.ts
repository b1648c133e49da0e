import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';

interface Row {
  name: string;
  lost: number;
  p50S: number;
  clearS: number;
  goodput: number;
}

const results = JSON.parse(readFileSync(join(root, 'bench/story/results.json'), 'utf8')) as {
  machine: { date: string };
  rows: Row[];
};
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const section = /<!-- story:begin -->(.*)<!-- story:end -->/s.exec(readme)?.[1] ?? '';

/** The cells of each row of a table, as text. */
function cellsIn(markdown: string): string[][] {
  const lines = markdown.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll(/[*`]/g, '').trim()),
  );
}

/** How the README names the runs that it shows. */
const LABELS: Readonly<Record<string, string>> = {
  nothing: 'no protection',
  'express-queue': 'express-queue',
  'webhook-backpressure-ignored': 'middleware, Retry-After ignored',
  'webhook-backpressure': 'middleware, Retry-After honored',
  'webhook-inbox': 'inbox, in SQLite',
};

function seconds(value: number): string {
  return value < 1 ? `${(1000 * value).toFixed(0)} ms` : `${value.toFixed(1)} s`;
}

describe('the story in the README', () => {
  it('has five of the receivers, with the figures as they were measured', () => {
    const shown = results.rows.filter(({ name }) => name in LABELS);
    expect(cellsIn(section)).toEqual(
      shown.map(({ name, goodput, p50S, clearS, lost }) => [
        LABELS[name],
        `${(100 * goodput).toFixed(0)} %`,
        seconds(p50S),
        lost > 0 ? '–' : seconds(clearS),
        lost.toLocaleString('en'),
      ]),
    );
  });

  it('begins with the receiver without protection, and ours with senders that ignore Retry-After', () => {
    const [first, ...others] = cellsIn(section).map(([name]) => name);
    expect(first).toBe('no protection');
    expect(others.find((name) => /^(middleware|inbox)/.test(name ?? ''))).toContain('ignored');
  });

  it('says when and by which command it was measured, and links to all receivers', () => {
    expect(section).toContain(results.machine.date);
    expect(section).toContain('npm run bench:story');
    expect(section).toContain('(bench/story/report.md)');
  });
});

describe('the report of the story', () => {
  it('has a row for each receiver, which leads with useful work and p50', () => {
    const report = readFileSync(join(root, 'bench/story/report.md'), 'utf8');
    const [, header = ''] = /^\|( +\| useful work[^\n]*)$/m.exec(report) ?? [];
    expect(header).toMatch(/^ +\| useful work +\| +p50 \|/);
    expect(report.match(/^\| [^\n]* \| +[\d,]+ \| +\d+ \|$/gm)?.length ?? 0).toBeGreaterThanOrEqual(
      results.rows.length,
    );
    expect(existsSync(join(root, 'bench/story/goodput.svg'))).toBe(true);
  });
});
