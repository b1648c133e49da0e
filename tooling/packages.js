import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..');

/**
 * @typedef {Record<string, string | Record<string, string>>} Exports
 * @typedef {{ name: string, exports: Exports, dependencies?: Record<string, string> }} Manifest
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

/** @returns {Package[]} the packages that are published, by folder */
export function publishedPackages() {
  const parent = join(root, 'packages');
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
 * @param {Package} published
 * @returns {{ subpath: string, types: string }[]} what users import, with the declarations behind it
 */
export function entriesOf({ path, manifest }) {
  return Object.entries(manifest.exports).flatMap(([subpath, target]) =>
    typeof target === 'object' && target['types'] !== undefined
      ? [{ subpath, types: join(path, target['types']) }]
      : [],
  );
}
