import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { packedPages, root } from '../../tooling/packages.js';
import { linksIn } from '../../test/docs/pages.ts';
import { tools } from './tools.ts';

const REPOSITORY = 'https://github.com/webhook-backpressure/webhook-backpressure';

/** What is used of the tools, which are installed outside the checkout. */
interface Publint {
  readonly publint: (options: {
    readonly pack: { readonly tarball: ArrayBuffer };
    readonly level: 'warning';
  }) => Promise<{ readonly messages: readonly unknown[] }>;
}
interface Attw {
  readonly createPackageFromTarballData: (tarball: Uint8Array) => object;
  readonly checkPackage: (contents: object) => Promise<object>;
}

/** What is in a package beside its sources and the entries that users import. */
const BESIDE_ENTRIES: Readonly<Record<string, readonly string[]>> = {
  base: packedPages.map((page) => `dist/docs/${page}`),
  sqlite: ['dist/cli.js', 'dist/thread.js'],
  postgres: ['dist/cli.js'],
  planner: ['dist/cli.js'],
  fire: ['dist/cli.js'],
  create: ['dist/cli.js'],
  prometheus: ['alerts.yaml', 'grafana-dashboard.json'],
};

/** What several entries of a package import is in its own files, so that it is loaded once. */
const SHARED = /^dist\/shared-[\w-]+\.c?js(?:\.map)?$/;

const packages = inject('packed');
/** Loaded once for all packages: a process for each takes a second to start. */
const { publint } = (await import(tools.publint)) as Publint;
const { checkPackage, createPackageFromTarballData } = (await import(tools.attw)) as Attw;

describe.each(packages)('the tarball of $name', ({ folder: from, files, entries, tarball }) => {
  const read = (file: string): Promise<string> => readFile(join(root, 'packages', from, file), 'utf8');

  it('holds the licence, the README, the changelog, the sources, one file for each entry and format, and what entries share', () => {
    const sources = files.filter((file) => file.startsWith('src/'));
    const built = entries.flatMap((entry) =>
      ['.js', '.cjs', '.d.ts', '.d.cts'].map((extension) => `dist/${entry}${extension}`),
    );
    const beside = BESIDE_ENTRIES[from] ?? [];
    const expected = [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'package.json',
      ...sources,
      ...built,
      ...beside,
    ];
    // An entry that only exports what others do has no source map.
    const maps = expected.filter((file) => /\.c?js$/.test(file)).map((file) => `${file}.map`);
    const shared = entries.length === 1 ? [] : files.filter((file) => SHARED.test(file));
    const own = files.filter((file) => !maps.includes(file) && !shared.includes(file));
    expect(own.sort()).toEqual(expected.sort());
    expect(files).toContain('dist/index.js.map');
    expect(sources).toEqual(expect.arrayContaining(entries.map((entry) => `src/${entry}.ts`)));
    expect(sources.filter((source) => !source.endsWith('.ts') || source.includes('.test.'))).toEqual([]);
  });

  it('names where it is developed', async () => {
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      homepage: `${REPOSITORY}/tree/main/packages/${from}#readme`,
      bugs: `${REPOSITORY}/issues`,
      repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `packages/${from}` },
    });
  });

  it.each(files.filter((file) => file.endsWith('.md') && file !== 'CHANGELOG.md'))(
    'has only links in %s that work on npm',
    async (file) => {
      const isWorking = (link: string): boolean => {
        if (!link.startsWith(REPOSITORY))
          return /^(https:|#)/.test(link) || files.includes(fileOf(file, link));
        return !/\/(blob|tree)\/(?!main\/)/.test(link);
      };
      expect(linksIn(await read(file)).filter((link) => !isWorking(link))).toEqual([]);
    },
  );

  it('passes publint', async () => {
    const { buffer } = new Uint8Array(await readFile(tarball));
    expect((await publint({ pack: { tarball: buffer }, level: 'warning' })).messages).toEqual([]);
  });

  it('has types that resolve as its code does', async () => {
    const checked = await checkPackage(createPackageFromTarballData(await readFile(tarball)));
    expect(checked).toMatchObject({ types: { kind: 'included' }, problems: [] });
  });
});

/** The path in the tarball to which a relative link in `file` leads. */
function fileOf(file: string, link: string): string {
  return posix.join(posix.dirname(file), link.replace(/#.*/, ''));
}
