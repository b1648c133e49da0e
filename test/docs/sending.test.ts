import { fileURLToPath } from 'node:url';
import { memoryStore } from '@webhook-backpressure/core';
import { describe, expect, it } from 'vitest';
import { settle } from '../../packages/sender/src/options/sender-settings.ts';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';
import { programOf, typeIn } from './typescript.ts';

const OPTIONS = fileURLToPath(
  new URL('../../packages/sender/src/options/sender-options.ts', import.meta.url),
);
const rows = rowsOf(sectionOf(page('docs/sending.md'), 'Options'), 'Option').map((row) => ({
  names: codeIn(row['Option']),
  default: codeIn(row['Default'])[0],
}));

describe('docs/sending.md', () => {
  it('has a row for every option', () => {
    const program = programOf([OPTIONS]);
    const namesOf = (type: string): string[] =>
      typeIn(program, OPTIONS, type)
        .getProperties()
        .map(({ name }) => name);
    const expected = namesOf('SenderOptions').flatMap((name) =>
      name === 'retry' ? namesOf('SenderRetryOptions').map((inner) => `retry.${inner}`) : [name],
    );
    expect(rows.flatMap(({ names }) => names).sort()).toEqual(expected.sort());
  }, 120_000);

  it('states the defaults', () => {
    const settings = settle({ store: memoryStore(), endpoint: () => null });
    const flat: Record<string, unknown> = {
      ...settings,
      ...Object.fromEntries(Object.entries(settings.retry).map(([name, value]) => [`retry.${name}`, value])),
    };
    const stated = rows.filter(({ default: shown }) => shown !== undefined);
    expect(stated.map(({ names }) => names[0]).sort()).toEqual(
      [
        ...['endpointTtlMs', 'retry.attempts', 'retry.firstDelayMs', 'timeoutMs', 'capacity'],
        ...['whenFull', 'maxShelved', 'allowPrivateAddresses'],
      ].sort(),
    );
    for (const { names, default: shown } of stated) {
      const value = flat[names[0] ?? ''];
      expect(shown).toBe(typeof value === 'string' ? `'${value}'` : String(value));
    }
  });
});
