import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { createIntake } from '@webhook-backpressure/core';
import { resolvePressureOptions } from '../../packages/node/src/pressure/pressure-options.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { coreFile, literalsOf, programOf, typeIn } from './typescript.ts';

const operations = page('docs/operations.md');
const snapshot = createIntake().snapshot();
let program: ts.Program;

beforeAll(() => {
  program = programOf([coreFile('delivery/events.ts'), coreFile('delivery/snapshot.ts')]);
}, 120_000);

/** The names in the first column of a table, and the cells of its row. */
function table(heading: string, first: string): Map<string, Record<string, string>> {
  const rows = rowsOf(sectionOf(operations, heading), first);
  return new Map(rows.flatMap((row) => codeIn(row[first]).map((name) => [name, row] as const)));
}

describe('docs/operations.md', () => {
  it('explains every field of a snapshot', () => {
    expect([...table('Snapshot', 'Field').keys()].sort()).toEqual(Object.keys(snapshot).sort());
  });

  it('names every state', () => {
    const states = literalsOf(typeIn(program, coreFile('delivery/snapshot.ts'), 'IntakeState'));
    expect(states).toContain('accepting');
    expect(codeIn(table('Snapshot', 'Field').get('state')?.['Meaning']).sort()).toEqual(states.sort());
  });

  it('explains every total, and every cause of a withdrawal', () => {
    const totals = table('Snapshot', 'Total');
    expect([...totals.keys()].sort()).toEqual(Object.keys(snapshot.totals).sort());
    expect(codeIn(totals.get('withdrawn')?.['Counts'])).toEqual(
      expect.arrayContaining(Object.keys(snapshot.totals.withdrawn)),
    );
  });

  it('says the default of every option of processPressure', () => {
    const defaults = Object.entries(resolvePressureOptions({})).map(([name, value]) => [
      name,
      `\`${String(value)}\``,
    ]);
    const said = [...table('Process overload', 'Option')].map(([name, row]) => [name, row['Default']]);
    expect(said).toEqual(defaults);
  });

  it('lists every event with what it carries', () => {
    const checker = program.getTypeChecker();
    const union = typeIn(program, coreFile('delivery/events.ts'), 'IntakeEvent');
    const events = (union as ts.UnionType).types.flatMap((event) => {
      const fields = event.getProperties().map(({ name }) => name);
      const type = event.getProperty('type');
      const names = type === undefined ? [] : literalsOf(checker.getTypeOfSymbol(type));
      const carried = fields.filter((name) => name !== 'type' && name !== 'at').sort();
      return names.map((name) => [name, carried]);
    });
    const listed = [...table('Events', '`type`')].map(([name, row]) => [
      name,
      codeIn(row['Also carries']).sort(),
    ]);
    expect(events.length).toBeGreaterThan(10);
    expect(listed.sort()).toEqual(events.sort());
  });
});
