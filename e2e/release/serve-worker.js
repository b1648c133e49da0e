// Bundles the program in the first argument, and serves it in workerd on the port in the second.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { folder } from '../runtimes/tools.js';

/**
 * @typedef {object} Tools
 * @property {new (options: object) => { ready: Promise<URL> }} Miniflare
 * @property {(options: object) => Promise<{ outputFiles: [{ text: string }] }>} build
 */

const [, , program = '', port = ''] = process.argv;
/** @type {(name: string) => unknown} */
const load = createRequire(join(folder, 'package.json'));
const { Miniflare } = /** @type {Tools} */ (load('miniflare'));
const { build } = /** @type {Tools} */ (load('esbuild'));
const { outputFiles } = await build({
  entryPoints: [program],
  bundle: true,
  format: 'esm',
  conditions: ['workerd'],
  write: false,
});
await new Miniflare({
  modules: true,
  script: outputFiles[0].text,
  compatibilityDate: '2026-04-01',
  port: Number(port),
}).ready;
