import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { order } from '../../.dependency-cruiser.js';
import config from '../../eslint.config.js';
import { publishedPackages, root } from '../../tooling/packages.js';
import { codeIn, page, rowsOf, sectionOf } from './pages.ts';

const map = page('AGENTS.md');

const ROOMS = publishedPackages().flatMap(({ folder, path }) => {
  const source = join(path, 'src');
  const files = readdirSync(source, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const rooms = new Set(files.map(({ parentPath }) => relative(source, parentPath) || '.'));
  return rooms.size === 1 ? [] : [{ folder, rooms: [...rooms] }];
});

describe.each(ROOMS)('packages/$folder in the map', ({ folder, rooms }) => {
  it('lists every folder that holds code, and no other', () => {
    const rows = rowsOf(sectionOf(map, `packages/${folder}/src`), 'Room');
    expect(rows.flatMap((row) => codeIn(row['Room'])).sort()).toEqual(rooms.sort());
  });
});

describe.each(Object.entries(order))('packages/%s in the map', (folder, { rooms }) => {
  it('lists the rooms in the order in which they may import each other', () => {
    const rows = rowsOf(sectionOf(map, `packages/${folder}/src`), 'Room');
    expect(rows.flatMap((row) => codeIn(row['Room']))).toEqual(rooms);
  });
});

describe('AGENTS.md', () => {
  it('names every folder at the top that holds code', () => {
    const named = ['Packages', 'Folders'].flatMap((title) =>
      rowsOf(sectionOf(map, title), 'Folder').flatMap((row) => codeIn(row['Folder'])),
    );
    const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      workspaces: string[];
    };
    const folders = workspaces.flatMap((pattern) =>
      pattern === 'packages/*' ? publishedPackages().map(({ folder }) => `packages/${folder}`) : [pattern],
    );
    expect(named).toEqual(expect.arrayContaining(folders));
  });

  it('gives the line limits that the linter enforces', () => {
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
