import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import config from '../../eslint.config.js';
import { publishedPackages, root } from '../../tooling/packages.js';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

const map = page('AGENTS.md');

describe.each(publishedPackages())('packages/$folder in the map', ({ folder, path }) => {
  it('has every source file, and no other', () => {
    const rows = rowsOf(sectionOf(map, `packages/${folder}/src`), 'File');
    const listed = rows.flatMap((row) => codeIn(row['File']));
    const source = join(path, 'src');
    const files = readdirSync(source, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(source, join(entry.parentPath, entry.name)));
    expect(files).toContain('index.ts');
    expect(listed.sort()).toEqual(files.sort());
  });
});

describe('AGENTS.md', () => {
  it('names every folder at the top that holds code', () => {
    const named = rowsOf(sectionOf(map, 'Folders'), 'Folder').flatMap((row) => codeIn(row['Folder']));
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      workspaces: string[];
    };
    const folders = workspaces.flatMap((pattern) =>
      pattern === 'packages/*' ? publishedPackages().map(({ folder }) => `packages/${folder}`) : [pattern],
    );
    expect(named).toEqual(expect.arrayContaining(folders));
  });

  it('says the limits of lines that the linter keeps', () => {
    const limits = config.flatMap(({ rules }) => {
      const rule: unknown = rules?.['max-lines'];
      return Array.isArray(rule) ? [Number(rule[1])] : [];
    });
    const rule = rowsOf(sectionOf(map, 'Rules, and what checks them'), 'Rule').find((row) =>
      row['Rule']?.includes('lines'),
    );
    const said = [...(rule?.['Rule'] ?? '').matchAll(/(\d+)/g)].map(([number]) => Number(number));
    expect(limits.length).toBeGreaterThan(0);
    expect(said.sort()).toEqual(limits.sort());
  });
});
