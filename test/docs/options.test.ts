import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { createAdmissionControl } from '../../packages/core/src/middleware/admission-control.ts';
import { resolveOptions } from '../../packages/core/src/intake/options.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { coreFile, programOf, typeIn } from './typescript.ts';

interface Row {
  readonly name: string;
  readonly default: string;
}

const rows: Row[] = rowsOf(sectionOf(page('README.md'), 'Options'), 'Option').map((row) => ({
  name: codeIn(row['Option'])[0] ?? '',
  default: row['Default'] ?? '',
}));
const defaults = resolveOptions({});
let program: ts.Program;

beforeAll(() => {
  program = programOf([coreFile('middleware/admission-control.ts')]);
}, 120_000);

/** The names of options; those of an object written in place as `outer.inner`. */
function optionsOf(type: ts.Type): string[] {
  const checker = program.getTypeChecker();
  return type.getProperties().flatMap((property) => {
    const given = checker.getNonNullableType(checker.getTypeOfSymbol(property));
    const isInPlace = isWrittenInPlace(given);
    const fields = isInPlace ? given.getProperties() : [];
    return fields.length === 0 ? [property.name] : fields.map((field) => `${property.name}.${field.name}`);
  });
}

function defaultOf(name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, field) => (value as Record<string, unknown>)[field], defaults);
}

const silent = { identity: () => ({}), headers: () => ({}), warn: () => undefined };

describe('the table of options in the README', () => {
  it('has a row for every option, and no other', () => {
    const options = optionsOf(
      typeIn(program, coreFile('middleware/admission-control.ts'), 'MiddlewareOptions'),
    );
    expect(options).toContain('retryAfter.strategy');
    expect(options).toContain('keyGenerator');
    expect(rows.map(({ name }) => name).sort()).toEqual(options.sort());
  });

  it('says the default of every option that is a value', () => {
    const said = rows.filter(({ name }) => isPrimitive(defaultOf(name)));
    expect(said.length).toBeGreaterThan(10);
    for (const row of said) {
      expect(`${row.name}: ${row.default}`).toBe(`${row.name}: ${shown(defaultOf(row.name))}`);
    }
  });

  it('says none where there is none', () => {
    const none = rows.filter((row) => row.default === 'none').map(({ name }) => name);
    expect(none).toEqual(['maxConcurrencyPerKey', 'drainRate', 'shed', 'senders']);
    expect(defaults.drainRate).toBeUndefined();
    expect([...defaults.shed]).toEqual([]);
  });

  it('says which methods pass by default', () => {
    const control = createAdmissionControl<string, []>({}, { ...silent, method: (method) => method });
    const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const skipped = methods.filter((method) => control.skips(method) === true);
    expect(rows.find(({ name }) => name === 'skip')?.default).toBe(
      `${skipped.slice(0, -1).join(', ')} and ${skipped.at(-1) ?? ''}`,
    );
  });

  it('says the key of a delivery without one, and that no headers are added', () => {
    const control = createAdmissionControl<string, []>({}, { ...silent, method: () => 'POST' });
    const handling = control.admit(control.read(''));
    const key = handling.admitted ? handling.key : '';
    expect(rows.find(({ name }) => name === 'keyGenerator')?.default).toBe(
      `the recognised sender, else \`'${key}'\``,
    );
    expect(control.fields()).toBeUndefined();
    for (const name of ['standardHeaders', 'legacyHeaders']) {
      expect(rows.find((row) => row.name === name)?.default).toBe('`false`');
    }
  });
});

/** An object type without a name, and neither a function nor a record. */
function isWrittenInPlace(type: ts.Type): boolean {
  const symbol: ts.Symbol | undefined = type.getSymbol();
  return symbol?.name === '__type' && type.getCallSignatures().length === 0;
}

function isPrimitive(value: unknown): boolean {
  return ['number', 'string', 'boolean'].includes(typeof value);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `\`'${value}'\`` : `\`${String(value)}\``;
}
