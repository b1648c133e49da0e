import { expect, it } from 'vitest';
import { LINES, OUTBOX_LINES, OUTBOX_SUMS, SUMS } from '../../packages/observe/src/logs/lines.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

const log = sectionOf(page('docs/operations.md'), 'Log');

/** The types of events in a column, with the level of their row. */
function listed(first: string, column: string): Record<string, string> {
  return Object.fromEntries(
    rowsOf(log, first).flatMap((row) =>
      codeIn(row[column]).map((type) => [type, codeIn(row[first]).join()] as const),
    ),
  );
}

function levelsOf(rules: Readonly<Record<string, { readonly level: string }>>): Record<string, string> {
  return Object.fromEntries(Object.entries(rules).map(([type, { level }]) => [type, level]));
}

it.each([
  ['Level', LINES],
  ['Level of a sender', OUTBOX_LINES],
])('lists the events that are logged immediately: %s', (first, lines) => {
  expect(listed(first, 'Immediately')).toEqual(levelsOf(lines));
});

it.each([
  ['Level', SUMS],
  ['Level of a sender', OUTBOX_SUMS],
])('lists the events that are added up: %s', (first, sums) => {
  expect(listed(first, 'Once a second')).toEqual(levelsOf(sums));
});
