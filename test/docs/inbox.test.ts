import type ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { memoryStore } from '@webhook-backpressure/inbox';
import { resolveInboxOptions } from '../../packages/inbox/src/options/inbox-settings.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { entryFile, literalsOf, programOf, typeIn } from './typescript.ts';

const inbox = page('docs/inbox.md');

/** Options with a row for each of their fields. */
const FIELDS: Record<string, string[]> = {
  retry: ['attempts', 'firstDelayMs', 'maxDelayMs'],
  successStatus: ['known', 'unknown'],
  batch: ['maxDeliveries', 'maxBytes', 'maxWaitMs'],
};

function flattened(name: string, fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [`${name}.${field}`, value]));
}

describe('docs/inbox.md', () => {
  let program: ts.Program;
  beforeAll(() => {
    program = programOf([entryFile('inbox'), entryFile('inbox')]);
  }, 120_000);

  const rows = rowsOf(sectionOf(inbox, 'Options'), 'Option').map((row) => ({
    name: codeIn(row['Option'])[0] ?? '',
    default: codeIn(row['Default'])[0],
  }));

  it('has a row for every option that an intake does not have, or that has another meaning', () => {
    const own = typeIn(program, entryFile('inbox'), 'InboxOptions').getProperties();
    const inherited = new Set(
      [
        'highWaterMark',
        'lowWaterMark',
        'concurrency',
        'maxStartsPerSecond',
        'statusCode',
        'retryAfter',
        'shed',
      ].concat(['pressure', 'clock', 'random']),
    );
    const expected = own
      .map(({ name }) => name)
      .filter((name) => !inherited.has(name))
      .flatMap((name) => FIELDS[name]?.map((field) => `${name}.${field}`) ?? [name]);
    expect(rows.map(({ name }) => name).sort()).toEqual(expected.sort());
  });

  it('states the defaults', () => {
    const { settings, fixtures } = resolveInboxOptions({
      store: memoryStore(),
      process: () => undefined,
      verify: false,
    });
    const flat: Record<string, unknown> = {
      ...settings,
      ...flattened('retry', settings.retry),
      ...flattened('successStatus', settings.successStatus),
      ...flattened('batch', fixtures.batch),
    };
    const said = rows.filter(({ name }) => ['number', 'string'].includes(typeof flat[name]));
    expect(said).toHaveLength(19);
    for (const { name, default: shown } of said) {
      const value = flat[name];
      expect(`${name} ${String(shown)}`).toBe(
        `${name} ${typeof value === 'string' ? `'${value}'` : String(value)}`,
      );
    }
  });

  it('names every event', () => {
    const union = typeIn(program, entryFile('inbox'), 'InboxEvent') as ts.UnionType;
    const checker = program.getTypeChecker();
    const names = union.types.flatMap((event) => {
      const type = event.getProperty('type');
      return type === undefined ? [] : literalsOf(checker.getTypeOfSymbol(type));
    });
    expect(names.length).toBeGreaterThan(15);
    expect(codeIn(inbox.source.split('## Monitor')[1] ?? '')).toEqual(
      expect.arrayContaining([...new Set(names)]),
    );
  });
});
