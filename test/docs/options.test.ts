import { join } from 'node:path';
import { Hono } from 'hono';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { webhookBackpressure, type WebhookBackpressureOptions } from '@webhook-backpressure/hono';
import { resolveOptions } from '@webhook-backpressure/core/extend';
import { root } from '../../tooling/packages.js';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { entryFile, programOf, typeIn } from './typescript.ts';

const CONTROL = entryFile('core');
const INTAKE = entryFile('core');
const DELIVERY = entryFile('core');
const SHUTDOWN = join(root, 'packages/node/src/shutdown/close-on-signals.ts');
const SUBJECTS = ['Queue', 'Workers', 'Refusals', 'Deliveries', 'Setup'];

const options = page('docs/options.md');
const rows = SUBJECTS.flatMap((subject) => rowsIn(options, subject));
const defaults = resolveOptions({});
let program: ts.Program;

beforeAll(() => {
  program = programOf([CONTROL, INTAKE, DELIVERY, SHUTDOWN]);
}, 120_000);

interface Row {
  readonly name: string;
  readonly range: string;
  readonly default: string;
  readonly isTunable: boolean;
}

function rowsIn(inPage: ReturnType<typeof page>, heading: string): Row[] {
  return rowsOf(sectionOf(inPage, heading), 'Option').map((row) => ({
    name: codeIn(row['Option'])[0] ?? '',
    range: row['Unit, range'] ?? '',
    default: row['Default'] ?? '',
    isTunable: row['Update'] === '✓',
  }));
}

/** The names of options; those of an object written in place as `outer.inner`. */
function optionsOf(type: ts.Type): string[] {
  const checker = program.getTypeChecker();
  return type.getProperties().flatMap((property) => {
    const given = checker.getNonNullableType(checker.getTypeOfSymbol(property));
    const fields = isWrittenInPlace(given) ? given.getProperties() : [];
    return fields.length === 0 ? [property.name] : fields.map((field) => `${property.name}.${field.name}`);
  });
}

function defaultOf(name: string): unknown {
  return name
    .split('.')
    .reduce<unknown>((value, field) => (value as Record<string, unknown>)[field], defaults);
}

/** The status that a request gets from an app whose key `default` is refused, and the headers. */
async function answerTo(method: string, given: WebhookBackpressureOptions = {}): Promise<Response> {
  const app = new Hono();
  app.use('*', webhookBackpressure(given));
  app.all('*', (c) => c.body(null, 204));
  return await app.request('/', { method });
}

describe('the tables in docs/options.md', () => {
  it('have a row for every option, and no other', () => {
    const names = optionsOf(typeIn(program, CONTROL, 'MiddlewareOptions'));
    expect(names).toContain('retryAfter.strategy');
    expect(names).toContain('keyGenerator');
    expect(rows.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it('mark the options that an update may change, and no other', () => {
    const tunable = rows.filter(({ isTunable }) => isTunable).map(({ name }) => name);
    expect(tunable.sort()).toEqual(optionsOf(typeIn(program, INTAKE, 'Tunable')).sort());
  });

  it('give the default of every option that is a value', () => {
    const given = rows.filter(({ name }) => isPrimitive(defaultOf(name)));
    expect(given.length).toBeGreaterThan(10);
    for (const row of given) {
      expect(`${row.name}: ${row.default}`).toBe(`${row.name}: ${shown(defaultOf(row.name))}`);
    }
  });

  it('give none as the default of options that have no default', () => {
    const none = rows.filter((row) => row.default === 'none').map(({ name }) => name);
    expect(none.sort()).toEqual(['maxConcurrencyPerKey', 'maxStartsPerSecond', 'senders', 'shed']);
    expect(defaults.maxStartsPerSecond).toBeUndefined();
    expect(defaults.maxConcurrencyPerKey).toBeUndefined();
    expect([...defaults.shed]).toEqual([]);
  });

  it.each(rows.flatMap(({ name, range }) => boundsIn(range).map((bounds) => ({ name, ...bounds }))))(
    'give the range that is accepted for $name: $from to $to',
    ({ name, from, to }) => {
      expect(() => webhookBackpressure(optionOf(name, from))).not.toThrow();
      expect(() => webhookBackpressure(optionOf(name, to))).not.toThrow();
      expect(() => webhookBackpressure(optionOf(name, from / 2))).toThrow();
      expect(() => webhookBackpressure(optionOf(name, to + 1))).toThrow();
    },
  );

  it('name the methods that pass by default', async () => {
    const methods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const answers = await Promise.all(methods.map((method) => answerTo(method, { shed: { default: true } })));
    const passed = methods.filter((_, index) => answers[index]?.status === 204);
    expect(rows.find(({ name }) => name === 'skip')?.default).toBe(
      `${passed.slice(0, -1).join(', ')} and ${passed.at(-1) ?? ''}`,
    );
  });

  it('give the key of an unknown sender', async () => {
    const said = rows.find(({ name }) => name === 'keyGenerator')?.default ?? '';
    const [key = ''] = codeIn(said).map((code) => code.replaceAll("'", ''));
    expect((await answerTo('POST', { shed: { [key]: true } })).status).toBe(503);
    expect((await answerTo('POST', { shed: { another: true } })).status).toBe(204);
  });

  it('say that no rate-limit headers are added by default', async () => {
    const names = [...(await answerTo('POST')).headers.keys()];
    expect(names.filter((name) => name.includes('ratelimit'))).toEqual([]);
    for (const name of ['standardHeaders', 'legacyHeaders']) {
      expect(rows.find((row) => row.name === name)?.default).toBe('`false`');
    }
  });

  it('have a row for every field of a delivery', () => {
    const fields = rowsOf(sectionOf(options, 'Delivery'), 'Field').flatMap((row) => codeIn(row['Field']));
    expect(fields.sort()).toEqual(optionsOf(typeIn(program, DELIVERY, 'Delivery')).sort());
  });

  it('have a row for every option of closeOnSignals', () => {
    const names = rowsIn(options, 'closeOnSignals').map(({ name }) => name);
    expect(names.sort()).toEqual(optionsOf(typeIn(program, SHUTDOWN, 'CloseOnSignalsOptions')).sort());
  });
});

/** `ms, 1 to 86,400,000`: the smallest and the largest number, where both are given as numbers. */
function boundsIn(range: string): { from: number; to: number }[] {
  const [, from = '', to = ''] = /([\d.,]+) to ([\d.,]+)/.exec(range) ?? [];
  return from === '' ? [] : [{ from: numberIn(from), to: numberIn(to) }];
}

function numberIn(text: string): number {
  return Number(text.replaceAll(',', ''));
}

function optionOf(name: string, value: number): WebhookBackpressureOptions {
  return { [name]: value };
}

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
