import { createIntake } from '@webhook-backpressure/core';
import { joinFleet, memoryRegistry } from '@webhook-backpressure/fleet';
import { manualClock } from '@webhook-backpressure/core/testing';
import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { entryFile, literalsOf, programOf, typeIn } from './typescript.ts';

const fleet = page('docs/fleet.md');
let program: ts.Program;

beforeAll(() => {
  program = programOf([entryFile('fleet'), entryFile('core')]);
}, 120_000);

function names(heading: string, column: string): string[] {
  return rowsOf(sectionOf(fleet, heading), column).flatMap((row) => codeIn(row[column]));
}

describe('docs/fleet.md', () => {
  it('lists every option', () => {
    const options = typeIn(program, entryFile('fleet'), 'FleetOptions').getProperties();
    expect(options.length).toBeGreaterThan(3);
    expect(names('Options', 'Option').sort()).toEqual(options.map(({ name }) => name).sort());
  });

  it('lists every field of a snapshot, and every state', () => {
    const clock = manualClock();
    const snapshot = joinFleet(createIntake({ clock }), {
      registry: memoryRegistry(clock),
      resource: 'db',
      concurrency: 40,
    }).snapshot();
    expect(names('Snapshot', 'Field').sort()).toEqual(Object.keys(snapshot).sort());
    const states = literalsOf(typeIn(program, entryFile('core'), 'FleetState'));
    const [row] = rowsOf(sectionOf(fleet, 'Snapshot'), 'Field');
    expect(codeIn(row?.['Meaning']).sort()).toEqual(states.sort());
    const members = rowsOf(sectionOf(fleet, 'Snapshot'), 'Field').at(-1);
    expect(codeIn(members?.['Meaning'])).toEqual(Object.keys(snapshot.members[0] as object));
  });
});
