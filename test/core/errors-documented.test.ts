import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

function read(path: string): Promise<string> {
  return readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
}

it('every code of an error has its heading in the documentation, and every heading its code', async () => {
  const source = await read('packages/core/src/errors.ts');
  const declared = /BackpressureErrorCode =([^;]+);/.exec(source)?.[1] ?? '';
  const codes = [...declared.matchAll(/'(ERR_WBP_[A-Z_]+)'/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(20);
  expect(new Set(codes).size).toBe(codes.length);

  const documentation = await read('docs/errors.md');
  const headings = [...documentation.matchAll(/^## `?(ERR_WBP_[A-Z_]+)`?$/gm)].map(([, code]) => code);
  expect(headings.toSorted()).toEqual(codes.toSorted());
});
