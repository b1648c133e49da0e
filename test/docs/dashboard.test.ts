import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type ts from 'typescript';
import { METHOD_OF } from '../../packages/dashboard/src/requests/route.ts';
import { root } from '../../tooling/packages.js';
import { codeIn, page, rowsOf } from './pages.ts';
import { literalsOf, programOf, typeIn } from './typescript.ts';

const OPTIONS = join(root, 'packages/dashboard/src/options/dashboard-options.ts');
const ANSWERS = join(root, 'packages/dashboard/src/answers/answers.ts');
const { tokens } = page('docs/dashboard.md');

function firstColumn(title: string): string[] {
  return rowsOf(tokens, title).map((row) => codeIn(row[title])[0] ?? '');
}

describe('docs/dashboard.md', () => {
  let program: ts.Program;

  beforeAll(() => {
    program = programOf([OPTIONS, ANSWERS]);
  }, 120_000);

  it('has a row for every option, and no other', () => {
    const names = typeIn(program, OPTIONS, 'DashboardOptions').getProperties();
    expect(firstColumn('Option')).toEqual(names.map(({ name }) => name));
  });

  it('has a row for every route, and no other', () => {
    const routes = Object.entries(METHOD_OF).map(
      ([route, method]) => `${method} /${route === 'page' ? '' : route}`,
    );
    expect(firstColumn('Route')).toEqual(routes);
  });

  it('has a row for every code, and no other', () => {
    const codes = literalsOf(typeIn(program, ANSWERS, 'ProblemCode'));
    expect(firstColumn('Code').sort()).toEqual([...codes].sort());
  });
});
