import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../tooling/packages.js';

const results = JSON.parse(readFileSync(join(root, 'bench/results.json'), 'utf8')) as Record<
  string,
  { ours: number; base: number; ratio: number; min: number; max: number; unit: string }
>;

const NAMES = [
  ...['core/admit-release', 'core/refuse', 'core/admit-release@depth=1e6', 'core/admit-release@keys=1e5'],
  ...['express/pass', 'koa/pass', 'hono/pass', 'node/pass'],
  ...['express/refuse', 'koa/refuse', 'hono/refuse', 'front/refuse'],
  ...['memory/refusals', 'memory/keys', 'memory/waiting'],
];

describe('the figures of the benchmark', () => {
  it('are all there, under the names by which they are compared over time', () => {
    expect(Object.keys(results)).toEqual(NAMES);
  });

  it.each(Object.entries(results))('%s has a ratio that is ours ÷ base, within its rounds', (_, figure) => {
    const { ours, base, ratio, min, max, unit } = figure;
    // Rates are rounded to whole ones, ratios to four digits.
    expect(Math.abs(ratio - ours / base)).toBeLessThan(0.001 * Math.max(1, Math.abs(ratio)));
    expect(ratio).toBeGreaterThanOrEqual(min);
    expect(ratio).toBeLessThanOrEqual(max);
    expect(['per second', 'bytes']).toContain(unit);
  });

  it('are those that the README gives', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const [, said] = /<!-- front:begin -->(.*)<!-- front:end -->/.exec(readme) ?? [];
    expect(said).toBe(`${results['front/refuse']?.ratio.toFixed(1) ?? ''} times`);
  });
});
