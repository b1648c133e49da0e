// Bundles what users install, if anything has changed since the last time. Of each entry of a package: one ES module,
// one CommonJS module, and the declarations of both, from those that `tsc -b` has written to its folder `types`.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packedPages, publishedPackages, root } from './packages.js';

const STAMP = join(root, 'temp/bundled');
const packages = publishedPackages();

if (!isUpToDate()) {
  // Loaded only here: it takes longer than the check.
  const { bundlePackage } = await import('./bundle.js');
  for (const published of packages) await bundlePackage(published);
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, '');
}

function isUpToDate() {
  const outputs = [STAMP, ...packages.map(({ path }) => join(path, 'dist'))];
  if (!outputs.every((path) => existsSync(path))) return false;
  const inputs = [
    ...packages.flatMap(({ path }) => [...tree(join(path, 'src')), join(path, 'package.json')]),
    ...tree(import.meta.dirname),
    ...packedPages.map((page) => join(root, 'docs', page)),
    join(root, 'package-lock.json'),
  ];
  const bundledAt = statSync(STAMP).mtimeMs;
  return inputs.every((path) => statSync(path).mtimeMs < bundledAt);
}

/**
 * @param {string} folder
 * @returns {string[]} it, and all below it: a folder changes when a file in it is deleted
 */
function tree(folder) {
  return [
    folder,
    ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  ];
}
