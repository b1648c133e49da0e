import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  coreComparisons,
  httpComparisons,
  inboxComparisons,
  memoryMeasures,
  quickInboxComparisons,
} from '../../bench/src/plan.ts';
import { passings } from '../../bench/src/passing/plan.ts';
import { root } from '../../tooling/packages.js';

const results = JSON.parse(readFileSync(join(root, 'bench/results.json'), 'utf8')) as Record<
  string,
  { ours: number; base: number; ratio: number; min: number; max: number; unit: string; added?: number }
>;

function marked(text: string, name: string): string | undefined {
  return new RegExp(`<!-- ${name}:begin -->(.*)<!-- ${name}:end -->`).exec(text)?.[1];
}

const NAMES = [
  ...['core/admit-release', 'core/refuse', 'core/admit-release@depth=1e6', 'core/admit-release@keys=1e5'],
  'core/recognize@profiles=2x',
  ...['express/pass', 'koa/pass', 'hono/pass', 'node/pass', 'express/observed'],
  ...['express/refuse', 'koa/refuse', 'hono/refuse', 'web/refuse', 'front/refuse'],
  ...['inbox/durable', 'inbox/http', 'inbox/draining'],
  ...['inbox/connections', 'inbox/connections@fsync=10', 'inbox/connections@fsync=50'],
  ...['inbox/blocked@body=256KiB', 'inbox/blocked@fsync=300'],
  ...['memory/refusals', 'memory/keys', 'memory/observed-keys', 'memory/waiting', 'memory/stored'],
];
const UNITS: Readonly<Record<string, string>> = {
  'inbox/draining': 'ms',
  'inbox/blocked@body=256KiB': 'ms',
  'inbox/blocked@fsync=300': 'ms',
  memory: 'bytes',
  passing: 'µs',
};

describe('the plan of the benchmark', () => {
  it('has every name by which figures are compared over time', () => {
    const plan = [...coreComparisons, ...httpComparisons, ...inboxComparisons, ...memoryMeasures];
    expect(plan.map(({ name }) => name)).toEqual(NAMES);
  });

  it('runs only what takes little time with --quick', () => {
    expect(quickInboxComparisons.map(({ name }) => name)).toEqual(['inbox/durable', 'inbox/http']);
  });

  it('compares the inbox with its peers by default and with FULL', () => {
    for (const { name, peers, base } of inboxComparisons.slice(0, 2)) {
      expect(peers.map((peer) => peer.name)).toEqual([
        'plainjob',
        'plainjob, FULL',
        'liteque',
        'liteque, FULL',
      ]);
      expect(peers.map((peer) => peer.base)).toEqual([base, base, base, base]);
      expect(base).toEqual({ group: name, side: 'by hand' });
    }
  });
});

describe('the figures of the benchmark', () => {
  it('are complete, in the order of the plan', () => {
    expect(Object.keys(results)).toEqual([...NAMES, ...passings.map(({ name }) => name)]);
  });

  it.each(Object.entries(results))(
    '%s has a ratio that is ours ÷ base, within its rounds',
    (name, figure) => {
      const { ours, base, ratio, min, max, unit } = figure;
      // Large rates are rounded to whole ones, ratios to four digits.
      expect(Math.abs(ratio - ours / base)).toBeLessThan(0.001 * Math.max(1, Math.abs(ratio)));
      expect(ratio).toBeGreaterThanOrEqual(min);
      expect(ratio).toBeLessThanOrEqual(max);
      expect(unit).toBe(UNITS[name] ?? UNITS[name.split('/')[0] ?? ''] ?? 'per second');
    },
  );

  it('are those in the pages', () => {
    const frameworks = readFileSync(join(root, 'docs/frameworks.md'), 'utf8');
    expect(marked(frameworks, 'front')).toBe(`${results['front/refuse']?.ratio.toFixed(1) ?? ''} times`);
  });

  it('state what passing adds: with the middleware minus without', () => {
    for (const { name } of passings) {
      const { ours = NaN, base = NaN, added = NaN } = results[name] ?? {};
      expect(Math.abs(added - (ours - base))).toBeLessThan(0.011);
    }
  });
});
