import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { neededBy } from '../../tooling/packages.js';
import { buildLogOf, install, programOf } from './tools.js';

const root = join(import.meta.dirname, '../..');
const SHARED = ['web-app.js', 'holding.js', 'inbox-options.js'];

/**
 * The package whose program builds an app, by kind. The others need no build.
 *
 * @type {Record<string, string>}
 */
const BUILDERS = { next: 'next', sveltekit: 'vite', astro: 'astro', nitro2: 'nitropack', nitro3: 'nitro' };

/** Where the app imports the shared files from, by kind. */
const SOURCES = new Map([
  ['sveltekit', 'src'],
  ['astro', 'src'],
]);

/**
 * Builds of the same app for the conformance suite, which needs a listener instead of a server, by kind.
 *
 * @type {Record<string, Record<string, string>>}
 */
const SUITE_BUILDS = {
  nitro2: { NITRO_PRESET: 'node-listener', OUTPUT: '.output-suite' },
  nitro3: { NITRO_PRESET: 'node-middleware', OUTPUT: '.output-suite' },
};

/**
 * Installs a host, its app, and our packages as a user has them, and builds the app.
 *
 * @param {import('./tools.js').Host} host
 */
export function build(host) {
  const { kind } = host;
  const folder = install(host);
  for (const { path: from, manifest } of neededBy('web')) {
    const to = join(folder, 'node_modules', manifest.name);
    rmSync(to, { recursive: true, force: true });
    mkdirSync(to, { recursive: true });
    for (const part of ['package.json', 'dist'])
      cpSync(join(from, part), join(to, part), { recursive: true });
  }
  const apps = join(import.meta.dirname, 'apps');
  const sources = join(folder, SOURCES.get(kind) ?? '.');
  cpSync(join(apps, kind), folder, { recursive: true });
  if (host.name === 'SvelteKit 2') cpSync(join(apps, 'sveltekit2'), folder, { recursive: true });
  for (const file of ['suite-route.js', 'built-inbox.js']) cpSync(join(apps, file), join(sources, file));
  for (const file of SHARED) cpSync(join(root, 'e2e/runtimes', file), join(sources, file));
  const builder = BUILDERS[kind];
  if (builder === undefined) return;
  const log = buildLogOf(host);
  rmSync(log, { force: true });
  for (const env of [{}, SUITE_BUILDS[kind]]) {
    if (env === undefined) continue;
    execFileSync(process.execPath, [programOf(folder, builder), 'build'], {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', BUILD_LOG: log, ...env },
    });
  }
}
