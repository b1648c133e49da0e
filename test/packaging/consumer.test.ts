import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isSound } from '../../packages/sqlite/src/drivers/node-sqlite.ts';
import { root } from '../../tooling/packages.js';
import { packAll, testedVersion, type Packed } from './packed.ts';
import { run } from './run.ts';

interface Project {
  /** The package it uses, and the file of `consumer/` that uses it. */
  readonly uses: string;
  /** Another of our packages that the file uses. */
  readonly with?: string;
  /** What else it installs, with the versions. */
  readonly beside: Readonly<Record<string, string>>;
  /** Set where the framework's own declarations of that version do not compile. */
  readonly skipLibCheck?: true;
}

// A project for each framework, as users have: two frameworks in one would share, and break, each other's types.
const projects: Project[] = [
  { uses: 'node', beside: {} },
  // On a Node whose SQLite is new enough it needs nothing beside it, and gets nothing.
  { uses: 'sqlite', with: 'node', beside: bringsSqlite() ? {} : { libsql: testedVersion('libsql') } },
  {
    uses: 'express',
    beside: { express: testedVersion('express'), '@types/express': testedVersion('@types/express') },
  },
  { uses: 'express', beside: { express: testedVersion('express4'), '@types/express': '^4.17.17' } },
  { uses: 'koa', beside: { koa: testedVersion('koa'), '@types/koa': testedVersion('@types/koa') } },
  { uses: 'koa', beside: { koa: testedVersion('koa2'), '@types/koa': '^2.13.0' } },
  { uses: 'hono', beside: { hono: testedVersion('hono') } },
  { uses: 'hono', beside: { hono: testedVersion('hono40') }, skipLibCheck: true },
];

const compilerOptions = {
  target: 'ES2023',
  module: 'NodeNext',
  rewriteRelativeImportExtensions: true,
  strict: true,
  types: ['node'],
  outDir: 'built',
};

const folder = await mkdtemp(join(tmpdir(), 'webhook-backpressure-consumer-'));
const packages = await packAll(folder);

afterAll(() => rm(folder, { recursive: true }));

describe.each(projects)(
  'a project that uses $uses beside $beside',
  ({ uses, with: other, beside, skipLibCheck = false }) => {
    const project = join(folder, [uses, ...Object.values(beside)].join('-').replaceAll('^', ''));
    const installed = withDependencies(uses, other);

    beforeAll(async () => {
      const tarballs = installed.map(({ name, tarball }) => [name, `file:${tarball}`] as const);
      const dependencies = {
        ...Object.fromEntries(tarballs),
        ...beside,
        '@types/node': testedVersion('@types/node'),
      };
      await mkdir(project);
      await writeFile(
        join(project, 'package.json'),
        JSON.stringify({ private: true, type: 'module', dependencies }),
      );
      await writeFile(
        join(project, 'tsconfig.json'),
        JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck }, files: [`${uses}.ts`] }),
      );
      for (const file of [`${uses}.ts`, 'exactly.ts', 'shop-inbox.ts']) {
        await cp(join(import.meta.dirname, 'consumer', file), join(project, file));
      }
      await run(
        'npm',
        ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'],
        project,
      );
    });

    it('gives the same names to import and to require', async () => {
      const names = '(loaded) => Object.keys(loaded).filter((name) => name !== "__esModule").sort()';
      const load = async (type: string, how: string) => {
        const pairs = installed
          .flatMap((one) => one.specifiers)
          .map((specifier) => `['${specifier}', names(${how}('${specifier}'))]`);
        const script = `const names = ${names}; console.log(JSON.stringify([${pairs.join()}]))`;
        return JSON.parse(
          await run(process.execPath, [`--input-type=${type}`, '-e', script], project),
        ) as unknown;
      };
      const imported = await load('module', 'await import');
      expect(imported).not.toContainEqual([expect.any(String), []]);
      expect(await load('commonjs', 'require')).toEqual(imported);
    });

    it('compiles strictly, without a cast and with all libraries checked, and answers a delivery', async () => {
      await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], project);
      const printed = await run(process.execPath, [`built/${uses}.js`], project);
      expect(JSON.parse(printed)).toEqual({
        middleware: { key: 'shop-1', typed: true, depth: 0 },
        inbox: { status: 202, completed: 'evt_1', typed: true },
      });
    });
  },
);

function bringsSqlite(): boolean {
  return isSound(process.versions['sqlite'] ?? '0');
}

/** The packages in these folders of `packages/`, after those of ours that the first one needs. */
function withDependencies(uses: string, other?: string): Packed[] {
  const [found, ...others] = [uses, ...(other === undefined ? [] : [other])].map(packageIn);
  if (found === undefined) throw new Error('No package is used.');
  const needed = packages.filter((one) => found.dependencies.includes(one.name));
  return [...needed, found, ...others];
}

function packageIn(folder: string): Packed {
  const found = packages.find((one) => one.folder === folder);
  if (found === undefined) throw new Error(`There is no package in packages/${folder}.`);
  return found;
}
