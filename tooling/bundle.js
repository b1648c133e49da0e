import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { entriesOf, packedPages, root } from './packages.js';
import { withNarrowTables } from './tables.js';

/**
 * Programs that run in their own process or thread and are never imported: ES modules without declarations.
 *
 * @type {Record<string, Entries>}
 */
const PROGRAMS = {
  sqlite: { cli: 'src/cli.ts', thread: 'src/thread/thread.ts' },
  postgres: { cli: 'src/cli.ts' },
  planner: { cli: 'src/cli.ts' },
  fire: { cli: 'src/cli.ts' },
  create: { cli: 'src/cli.ts' },
};

/** Packages whose entries share modules: each module must be in one file only, since some have state. */
const SHARES_MODULES = new Set(['core', 'inbox', 'node', 'web']);

const PAGES_ADDRESS = 'https://github.com/webhook-backpressure/webhook-backpressure/blob/main/';

/** @typedef {Record<string, string>} Entries names of files in `dist`, and the paths of what is bundled in them */
/** @typedef {(file: string, text: string) => void} Write */

/** @param {import('./packages.js').Package} published */
export async function bundlePackage(published) {
  const { folder, path } = published;
  const dist = join(path, 'dist');
  mkdirSync(dist, { recursive: true });
  /** @type {Set<string>} */
  const written = new Set();
  /** @type {Write} */
  const write = (file, text) => {
    written.add(file);
    writeFileSync(join(dist, file), text);
  };

  const names = entriesOf(published).map(({ name }) => name);
  const entries = Object.fromEntries(names.map((name) => [name, join(path, 'src', `${name}.ts`)]));
  for (const group of SHARES_MODULES.has(folder) ? [entries] : eachAlone(entries)) {
    await bundle(group, dist, 'es', write);
    await bundle(group, dist, 'cjs', write);
  }
  for (const [name, source] of Object.entries(PROGRAMS[folder] ?? {})) {
    await bundle({ [name]: join(path, source) }, dist, 'es', write);
  }
  const declarations = new Map(entriesOf(published).map(({ name, types }) => [types, name]));
  for (const declaration of declarations.keys()) await bundleTypes(declaration, declarations, write);

  if (folder === 'base') {
    mkdirSync(join(dist, 'docs'), { recursive: true });
    for (const page of packedPages) {
      write(`docs/${page}`, withWorkingLinks(readFileSync(join(root, 'docs', page), 'utf8')));
    }
  }

  const kept = new Set([...written].map((file) => file.split('/')[0]));
  for (const file of readdirSync(dist)) {
    if (!kept.has(file)) rmSync(join(dist, file), { recursive: true });
  }
}

/**
 * @param {Entries} entries
 * @returns {Entries[]}
 */
function eachAlone(entries) {
  return Object.entries(entries).map(([name, path]) => ({ [name]: path }));
}

/** @param {string} id */
function isExternal(id) {
  return !/^[./]/.test(id);
}

/**
 * @param {Entries} entries
 * @param {string} dist where they will be, which the source maps depend on
 * @param {'es' | 'cjs'} format
 * @param {Write} write
 */
async function bundle(entries, dist, format, write) {
  const build = await rolldown({
    input: entries,
    platform: 'node',
    external: isExternal,
    // Of two entries that share modules, the one imported by the other exports them, instead of a third file.
    preserveEntrySignatures: 'allow-extension',
    onLog(level, { message }) {
      if (level === 'warn') throw new Error(message);
    },
  });
  const { output } = await build.generate({
    dir: dist,
    format,
    exports: 'named',
    entryFileNames: `[name].${format === 'es' ? 'js' : 'cjs'}`,
    chunkFileNames: `shared-[hash].${format === 'es' ? 'js' : 'cjs'}`,
    sourcemap: true,
    // The package contains its sources.
    sourcemapExcludeSources: true,
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  await build.close();
  for (const file of output) {
    write(file.fileName, file.type === 'chunk' ? file.code : String(file.source));
  }
}

/**
 * @param {string} declaration of an entry
 * @param {ReadonlyMap<string, string>} declarations of all entries of the package, with their names
 * @param {Write} write
 */
async function bundleTypes(declaration, declarations, write) {
  const build = await rollup({
    input: declaration,
    external: isExternal,
    plugins: [
      {
        name: 'other-entries',
        resolveId(id, importer) {
          if (importer === undefined) return null;
          const path = resolve(dirname(importer), id.replace(/\.[jt]s$/, '.d.ts'));
          const name = path === declaration ? undefined : declarations.get(path);
          return name === undefined ? null : { id: `./${name}.js`, external: true };
        },
      },
      dts(),
    ],
  });
  const {
    output: [{ code }],
  } = await build.generate({ format: 'es' });
  await build.close();
  const name = declarations.get(declaration) ?? '';
  write(`${name}.d.ts`, code);
  write(`${name}.d.cts`, code.replaceAll(/(from '\.\/[\w-]+)\.js'/g, "$1.cjs'"));
}

/**
 * Links to pages that the package lacks lead to the repository.
 *
 * @param {string} markdown of a page in docs
 */
function withWorkingLinks(markdown) {
  return withNarrowTables(markdown).replaceAll(
    /\]\((?!https:|#)([^)]+)\)/g,
    (link, /** @type {string} */ target) =>
      packedPages.includes(target.replace(/#.*/, ''))
        ? link
        : `](${new URL(target, `${PAGES_ADDRESS}docs/`).href})`,
  );
}
