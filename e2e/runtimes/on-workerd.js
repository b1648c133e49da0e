// Runs on Node, from the folder that the tools are installed in, and serves the app in workerd.
import { createRequire } from 'node:module';
import { join } from 'node:path';

/**
 * @typedef {object} Tools
 * @property {new (options: object) => { ready: Promise<URL> }} Miniflare
 * @property {(options: object) => Promise<{ outputFiles: [{ text: string }] }>} build
 */

/** @type {(name: string) => unknown} */
const load = createRequire(join(process.cwd(), 'package.json'));
const { Miniflare } = /** @type {Tools} */ (load('miniflare'));
const { build } = /** @type {Tools} */ (load('esbuild'));

const bundle = await build({
  entryPoints: [join(import.meta.dirname, 'entry.js')],
  bundle: true,
  format: 'esm',
  conditions: ['workerd'],
  write: false,
});
const server = new Miniflare({
  modules: true,
  script: bundle.outputFiles[0].text,
  compatibilityDate: '2026-04-01',
});
const { port } = await server.ready;
console.log(JSON.stringify({ port: Number(port) }));
