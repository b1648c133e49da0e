import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { simulate } from '@webhook-backpressure/planner/parts';
import { root } from '../../tooling/packages.js';
import { codeIn, isHeading, page, rowsOf, sectionOf, tokensOf } from './pages.ts';

const sizing = page('docs/sizing.md');

type Json = Record<string, unknown>;

interface Case {
  readonly title: string;
  /** From the top of the repository. */
  readonly scenario: string;
  readonly rows: readonly Record<string, string>[];
}

/** The sections with a table of changes, and the scenario that each links to. */
function cases(): Case[] {
  const titles = sizing.tokens.filter(isHeading).map(({ text }) => text);
  return titles.slice(1).flatMap((title) => {
    const section = sectionOf(sizing, title);
    const rows = rowsOf(section, 'Change');
    if (rows.length === 0) return [];
    const [link] = tokensOf('link', section).filter(({ href }) => href.endsWith('.json'));
    if (link === undefined) throw new Error(`${title} links to no scenario.`);
    return [{ title, scenario: join('docs', link.href), rows }];
  });
}

/** Applies `senders[0].delivery.maxWaitMs = 10000` to a scenario that has this field. */
function change(scenario: Json, assignment: string): void {
  const [path = '', value = ''] = assignment.split(' = ');
  const names = path.split(/[.[\]]+/).filter((name) => name !== '');
  const last = names.pop() ?? '';
  let target: Json = scenario;
  for (const name of names) target = target[name] as Json;
  if (!(last in target)) throw new Error(`${path} is not in the scenario.`);
  target[last] = JSON.parse(value) as unknown;
}

/** The figures of a scenario, by the titles of the columns. */
async function outcome(scenario: string, changes: readonly string[]): Promise<Record<string, number>> {
  const given = JSON.parse(await readFile(join(root, scenario), 'utf8')) as Json;
  for (const one of changes) change(given, one);
  const { events, delivered, attemptsPerEvent, delayS } = (await simulate(given)).results;
  return {
    Lost: events - delivered,
    Attempts: attemptsPerEvent ?? NaN,
    'Delay p50': delayS.p50 ?? NaN,
    'Delay p99': delayS.p99 ?? NaN,
  };
}

/** Within a tenth, and rounding: small changes of the queue need no new figures. */
function isNear(said: string, measured: number): boolean {
  if (said === '0') return measured === 0 || (measured > 0 && measured < 0.05);
  return Math.abs(Number(said) - measured) <= 0.1 * measured + 0.05;
}

describe('docs/sizing.md', () => {
  it('has three cases', () => {
    expect(cases()).toHaveLength(3);
  });

  it.each(
    cases().flatMap(({ title, scenario, rows }) =>
      rows.map((row) => ({ title, scenario, row, change: row['Change'] ?? '' })),
    ),
  )(
    'has the figures of the simulator for "$title" with $change',
    { timeout: 60_000 },
    async ({ scenario, row }) => {
      const measured = await outcome(scenario, codeIn(row['Change']));
      for (const [column, value] of Object.entries(measured)) {
        expect(row[column], column).toSatisfy((said: string) => isNear(said, value), `near ${String(value)}`);
      }
    },
  );
});
