import { expect, it } from 'vitest';
import { LINES } from '../../packages/core/src/logs/lines.ts';
import { SUMS } from '../../packages/core/src/logs/sums.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

const rows = rowsOf(sectionOf(page('docs/operations.md'), 'Log'), 'Level');

/** The types of events in a column, with the level of their row. */
function listed(column: string): Record<string, string> {
  return Object.fromEntries(
    rows.flatMap((row) => codeIn(row[column]).map((type) => [type, codeIn(row['Level']).join()] as const)),
  );
}

function levelsOf(rules: Readonly<Record<string, { readonly level: string }>>): Record<string, string> {
  return Object.fromEntries(Object.entries(rules).map(([type, { level }]) => [type, level]));
}

it('lists the events that are logged immediately, by level', () => {
  expect(listed('Immediately')).toEqual(levelsOf(LINES));
});

it('lists the events that are added up, by level', () => {
  expect(listed('Once a second')).toEqual(levelsOf(SUMS));
});
