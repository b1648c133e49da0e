import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/** The pages of docs that `base` contains, on which all other packages depend: errors lead to one, and users to others. */
export const packedPages = [
  ...['SKILL.md', 'concepts.md', 'errors.md', 'frameworks.md', 'inbox.md', 'many-machines.md', 'options.md'],
  ...['refusals.md', 'sending.md', 'testing.md', 'troubleshooting.md', 'web.md'],
];

/**
 * @typedef {Record<string, string | { default: string, types: string }>} Conditions
 * @typedef {{
 *   name: string,
 *   version: string,
 *   exports: Record<string, string | Conditions>,
 *   dependencies?: Record<string, string>,
 *   peerDependencies?: Record<string, string>,
 * }} Manifest
 * @typedef {{ folder: string, path: string, manifest: Manifest }} Package
 */

/**
 * @param {string} path of the package's folder
 * @returns {Manifest}
 */
function readManifest(path) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  return /** @type {Manifest} */ (manifest);
}

/**
 * @param {string} [repository] a copy of this repository
 * @returns {Package[]} the packages that are published, by folder
 */
export function publishedPackages(repository = root) {
  const parent = join(repository, 'packages');
  return readdirSync(parent)
    .map((folder) => ({ folder, path: join(parent, folder) }))
    .filter(({ path }) => existsSync(join(path, 'package.json')))
    .map(({ folder, path }) => ({
      folder,
      path,
      manifest: readManifest(path),
    }));
}

/**
 * What users import.
 *
 * @param {Package} published
 * @returns {{ subpath: string, name: string, types: string }[]} `name` is the entry's file in `src` and in `dist`,
 * without its extension; `types` the path of the declarations that `tsc -b` writes
 */
export function entriesOf({ path, manifest }) {
  return Object.keys(manifest.exports)
    .filter((subpath) => subpath !== './package.json')
    .map((subpath) => {
      const name = subpath === '.' ? 'index' : subpath.slice(2);
      return { subpath, name, types: join(path, 'types', `${name}.d.ts`) };
    });
}

/**
 * Adapters: packages that translate the requests of a framework. They have an entry for the inbox.
 *
 * @returns {Package[]}
 */
export function adapters() {
  return publishedPackages().filter(({ manifest }) => './inbox' in manifest.exports);
}

/**
 * A package and those of ours that it needs, also indirectly.
 *
 * @param {string} folder of the package in `packages`
 * @returns {Package[]}
 */
export function neededBy(folder) {
  const all = publishedPackages();
  const found = new Set(all.filter((one) => one.folder === folder));
  for (const { manifest } of found) {
    for (const one of all) if (one.manifest.name in (manifest.dependencies ?? {})) found.add(one);
  }
  return [...found];
}

/**
 * @param {Package} published
 * @returns {string[]} the entries in the API reference of the site; none where users get the public names from other packages
 */
export function documentedEntries({ path }) {
  const file = join(path, 'typedoc.json');
  if (!existsSync(file)) throw new Error(`${file} must name the entry points of the API reference.`);
  /** @type {unknown} */
  const given = JSON.parse(readFileSync(file, 'utf8'));
  return /** @type {{ entryPoints: string[] }} */ (given).entryPoints;
}
