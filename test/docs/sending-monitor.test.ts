import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { entryFile, literalsOf, programOf, typeIn } from './typescript.ts';

const senders = sectionOf(page('docs/sending.md'), 'Monitor');
const SENDER = entryFile('observe');
const EVENTS = entryFile('observe');

/** The names in the first column of a table, and the cells of its row. */
function table(first: string): Map<string, Record<string, string>> {
  return new Map(rowsOf(senders, first).flatMap((row) => codeIn(row[first]).map((name) => [name, row])));
}

describe('docs/sending.md, about what a sender reports', () => {
  let program: ts.Program;
  beforeAll(() => {
    program = programOf([SENDER, EVENTS]);
  }, 120_000);

  const fieldsOf = (file: string, name: string): string[] =>
    typeIn(program, file, name)
      .getProperties()
      .map((property) => property.name)
      .sort();

  it('explains every field of a snapshot and of an endpoint, and every total', () => {
    expect([...table('Field of a sender').keys()].sort()).toEqual(fieldsOf(SENDER, 'OutboxSnapshot'));
    expect([...table('Field of an endpoint').keys()].sort()).toEqual(fieldsOf(SENDER, 'EndpointSnapshot'));
    expect([...table('Total of a sender').keys()].sort()).toEqual(fieldsOf(SENDER, 'OutboxTotals'));
  });

  it('names every figure of a window and of the audit', () => {
    const endpoint = table('Field of an endpoint');
    expect(codeIn(endpoint.get('window')?.['Meaning']).sort()).toEqual(fieldsOf(SENDER, 'EndpointWindow'));
    expect(codeIn(endpoint.get('audit')?.['Meaning']).sort()).toEqual(fieldsOf(SENDER, 'RateAudit'));
  });

  it('names every state and reason', () => {
    const endpoint = table('Field of an endpoint');
    const states = literalsOf(typeIn(program, SENDER, 'EndpointState'));
    expect(codeIn(endpoint.get('state')?.['Meaning']).sort()).toEqual(states.sort());
    const reasons = literalsOf(typeIn(program, EVENTS, 'DisableReason'));
    expect(codeIn(endpoint.get('disabledBecause')?.['Meaning']).sort()).toEqual(reasons.sort());
    const waits = literalsOf(typeIn(program, EVENTS, 'EndpointWait'));
    expect(codeIn(endpoint.get('waitsBecause')?.['Meaning']).sort()).toEqual(waits.sort());
  });

  it('lists every event with its fields', () => {
    const checker = program.getTypeChecker();
    const union = typeIn(program, EVENTS, 'OutboxEvent') as ts.UnionType;
    const carried = new Map<string, string[]>();
    for (const event of union.types) {
      const type = event.getProperty('type');
      const fields = event.getProperties().map(({ name }) => name);
      const others = fields.filter((name) => name !== 'type' && name !== 'at').sort();
      for (const name of type === undefined ? [] : literalsOf(checker.getTypeOfSymbol(type))) {
        carried.set(name, others);
      }
    }
    expect(carried.size).toBeGreaterThan(25);
    const listed = table('Event');
    expect([...listed.keys()].sort()).toEqual([...carried.keys()].sort());
    for (const [name, row] of listed) {
      expect([name, carriedBy(name, row['Also carries'] ?? '')]).toEqual([name, carried.get(name)]);
    }
  });
});

/** A cell such as: `endpoint`, for `failing` also `error`. */
function carriedBy(name: string, cell: string): string[] {
  const [all = '', rest = ''] = cell.split(', for ');
  const [only, ...others] = codeIn(rest);
  return [...codeIn(all), ...(only === name ? others : [])].sort();
}
