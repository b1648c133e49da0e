import { join } from 'node:path';
import { memoryStore } from '@webhook-backpressure/inbox';
import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkEndpoint } from '../../packages/sender/src/options/endpoint-settings.ts';
import { settle } from '../../packages/sender/src/options/sender-options.ts';
import type { EndpointSettings } from '../../packages/sender/src/options/endpoint-settings.ts';
import { root } from '../../tooling/packages.js';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { programOf, typeIn } from './typescript.ts';

const OPTIONS = join(root, 'packages/sender/src/options/sender-options.ts');
const ENDPOINT = join(root, 'packages/sender/src/options/endpoint-settings.ts');
const EVENT = join(root, 'packages/sender/src/outbox/outgoing-event.ts');
const sending = page('docs/sending.md');
const options = rowsIn('Options', 'Option');
const settings = rowsIn('Settings of an endpoint', 'Setting');
const settled = settle({ store: memoryStore(), endpoint: () => null });

interface Row {
  readonly name: string;
  readonly range: string;
  readonly default: string | undefined;
}

function rowsIn(heading: string, column: string): Row[] {
  return rowsOf(sectionOf(sending, heading), column).map((row) => ({
    name: codeIn(row[column])[0] ?? '',
    range: row['Unit, range'] ?? '',
    default: codeIn(row['Default'])[0],
  }));
}

/** The option `retry.attempts` with a value, nested as it is passed. */
function nested(name: string, value: unknown): Record<string, unknown> {
  const [outer = '', inner] = name.split('.');
  return { [outer]: inner === undefined ? value : { [inner]: value } };
}

function valueOf(name: string, object: object): unknown {
  let value: unknown = object;
  for (const field of name.split('.')) value = (value as Record<string, unknown>)[field];
  return value;
}

function accepts(name: string, value: number): void {
  const store = memoryStore();
  settle({ store, endpoint: () => null, ...nested(name, value) });
}

function checked(changes: Record<string, unknown>): EndpointSettings | null {
  const { defaults, allowPrivateAddresses } = settled;
  const value = { url: 'https://example.com', secret: null, ...changes };
  return checkEndpoint(value, { defaults, allowPrivateAddresses });
}

/** `ms, 1 to 86,400,000`: the smallest and the largest number. */
function boundsOf(rows: readonly Row[]): { name: string; from: number; to: number }[] {
  return rows.flatMap(({ name, range }) => {
    const [, from, to] = /^(?:ms|integer), ([\d,]+) to ([\d,]+)$/.exec(range) ?? [];
    if (from === undefined || to === undefined) return [];
    return [{ name, from: Number(from.replaceAll(',', '')), to: Number(to.replaceAll(',', '')) }];
  });
}

describe('the tables of docs/sending.md', () => {
  let program: ts.Program;
  beforeAll(() => {
    program = programOf([OPTIONS, ENDPOINT, EVENT]);
  }, 120_000);

  const namesOf = (file: string, type: string): string[] =>
    typeIn(program, file, type)
      .getProperties()
      .map(({ name }) => name);

  it('have a row for every option, and no other', () => {
    const retry = namesOf(OPTIONS, 'SenderRetryOptions').map((name) => `retry.${name}`);
    const names = namesOf(OPTIONS, 'SenderOptions').flatMap((name) => (name === 'retry' ? retry : [name]));
    expect(options.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it('have a row for every setting of an endpoint, and no other', () => {
    const batch = namesOf(ENDPOINT, 'BatchOptions').map((name) => `batch.${name}`);
    const names = namesOf(ENDPOINT, 'Endpoint').flatMap((name) => (name === 'batch' ? batch : [name]));
    expect(settings.map(({ name }) => name).sort()).toEqual(names.sort());
  });

  it('have a row for every field of an event, and no other', () => {
    const fields = rowsOf(sectionOf(sending, 'Fields of an event'), 'Field').flatMap((row) =>
      codeIn(row['Field']),
    );
    expect(fields.sort()).toEqual(namesOf(EVENT, 'OutgoingEvent').sort());
  });

  it('give the defaults', () => {
    const given = options.filter(({ name }) =>
      ['number', 'string', 'boolean'].includes(typeof valueOf(name, settled)),
    );
    expect(given).toHaveLength(15);
    for (const { name, default: shown } of given) {
      const value = valueOf(name, settled);
      const text = typeof value === 'string' ? `'${value}'` : String(value);
      expect(`${name} ${String(shown)}`).toBe(`${name} ${text}`);
    }
    const batch = checked({ batch: {} })?.batch as unknown as Record<string, number>;
    for (const { name, default: shown } of settings.filter((row) => row.name.startsWith('batch.')))
      expect(`${name} ${String(shown)}`).toBe(`${name} ${String(batch[name.slice(6)])}`);
    expect(settled.defaults).toEqual({ limit: { amount: 1, periodMs: 100, burst: 50 }, maxInFlight: 10 });
  });

  it.each(boundsOf(options))(
    'give the range that is accepted for $name: $from to $to',
    ({ name, from, to }) => {
      const lowest = name === 'retry.maxDelayMs' ? 21_600_000 : from;
      expect(() => {
        accepts(name, lowest);
      }).not.toThrow();
      expect(() => {
        accepts(name, to);
      }).not.toThrow();
      expect(() => {
        accepts(name, from - 1);
      }).toThrow();
      expect(() => {
        accepts(name, to + 1);
      }).toThrow();
    },
  );

  it.each(boundsOf(settings))(
    'give the range that is accepted for $name: $from to $to',
    ({ name, from, to }) => {
      expect(() => checked(nested(name, from))).not.toThrow();
      expect(() => checked(nested(name, to))).not.toThrow();
      expect(() => checked(nested(name, from - 1))).toThrow();
      expect(() => checked(nested(name, to + 1))).toThrow();
    },
  );

  it('have ranges', () => {
    expect(boundsOf(options)).toHaveLength(9);
    expect(boundsOf(settings)).toHaveLength(5);
  });
});
