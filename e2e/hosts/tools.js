import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A framework in one version, and what its app is built with.
 *
 * @typedef {object} Host
 * @property {string} name as tests show it
 * @property {string} kind the name of the app in `apps`
 * @property {number} node the lowest Node.js that it runs on
 * @property {Record<string, string>} packages with their exact versions
 * @property {readonly string[]} [differs] the tests of the conformance suite that it cannot meet
 */

/** What needs `request.signal` to be aborted when the sender disconnects. */
const WITHOUT_SIGNAL = [
  'admits nothing when it settles after the sender has disconnected',
  'is held when senders time out, so that no more handlers run than there are workers',
  'aborts its signal when the sender disconnects',
  'leaves the queue immediately, and its handler never runs',
];

/** What needs a request whose body is read only when the handler reads it. */
const READS_AHEAD = ['waits with its body unread while no worker is free'];

/**
 * The lowest and the newest supported version of each. They are large, so that they are not among the dependencies that
 * every checkout installs.
 *
 * @type {readonly Host[]}
 */
export const hosts = [
  {
    name: 'Next.js 14',
    kind: 'next',
    node: 20,
    packages: { next: '14.0.4', react: '18.2.0', 'react-dom': '18.2.0' },
  },
  {
    name: 'Next.js 16',
    kind: 'next',
    node: 20,
    packages: { next: '16.4.6', react: '19.3.1', 'react-dom': '19.3.1' },
  },
  {
    name: 'SvelteKit 2',
    kind: 'sveltekit',
    node: 20,
    packages: {
      '@sveltejs/kit': '2.0.0',
      '@sveltejs/adapter-node': '2.0.0',
      '@sveltejs/vite-plugin-svelte': '3.0.0',
      svelte: '4.2.8',
      vite: '5.0.3',
    },
    differs: [...WITHOUT_SIGNAL, ...READS_AHEAD],
  },
  {
    name: 'SvelteKit 3',
    kind: 'sveltekit',
    node: 24,
    packages: {
      '@sveltejs/kit': '3.2.0',
      '@sveltejs/adapter-node': '6.0.1',
      '@sveltejs/vite-plugin-svelte': '7.3.1',
      svelte: '5.57.3',
      vite: '8.3.8',
    },
    differs: READS_AHEAD,
  },
  {
    name: 'Astro 5',
    kind: 'astro',
    node: 20,
    packages: { astro: '5.0.0', '@astrojs/node': '9.0.0' },
    differs: WITHOUT_SIGNAL,
  },
  {
    name: 'Astro 7',
    kind: 'astro',
    node: 24,
    packages: { astro: '7.3.5', '@astrojs/node': '11.1.6' },
  },
  {
    name: 'Nitro 2',
    kind: 'nitro2',
    node: 20,
    packages: { nitropack: '2.13.6' },
    differs: [
      ...WITHOUT_SIGNAL,
      ...READS_AHEAD,
      'ends as a failure when its sender disconnects in the middle',
      'ends as a failure when the stream fails',
      'is held until the handler ends when the sender has disconnected',
      'is held until the handler ends when the sender breaks the protocol',
    ],
  },
  { name: 'Nitro 3', kind: 'nitro3', node: 20, packages: { nitro: '3.0.260903-beta' } },
  { name: 'H3 2.0.1', kind: 'h3', node: 20, packages: { h3: '2.0.1' } },
  { name: 'H3 2', kind: 'h3', node: 20, packages: { h3: '2.0.8' } },
  { name: 'srvx 1.0.0', kind: 'srvx', node: 20, packages: { srvx: '1.0.0' } },
  { name: 'srvx 1', kind: 'srvx', node: 20, packages: { srvx: '1.0.8' } },
  { name: 'Elysia 1.3 on Bun', kind: 'elysia-bun', node: 20, packages: { elysia: '1.3.0' } },
  { name: 'Elysia 1.4 on Bun', kind: 'elysia-bun', node: 20, packages: { elysia: '1.4.30' } },
  {
    name: 'Elysia 1.4 on Node.js',
    kind: 'elysia',
    node: 20,
    packages: { elysia: '1.4.30', '@elysiajs/node': '1.4.5' },
  },
];

/**
 * Where a host is installed, once for each set of versions.
 *
 * @param {Host} host
 */
export function folderOf({ kind, packages }) {
  return join(tmpdir(), 'webhook-backpressure-hosts', `${kind}-${Object.values(packages).join('-')}`);
}

/**
 * What the modules of a route did while the app was built.
 *
 * @param {Host} host
 */
export function buildLogOf(host) {
  return join(folderOf(host), 'build.log');
}

/**
 * Installs a host unless it is there already.
 *
 * @param {Host} host
 */
export function install(host) {
  const folder = folderOf(host);
  const mark = join(folder, 'installed');
  if (existsSync(mark)) return folder;
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, type: 'module', dependencies: host.packages };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  writeFileSync(`${mark}.part`, '');
  renameSync(`${mark}.part`, mark);
  return folder;
}

/**
 * @param {string} folder of a package
 * @returns {{ bin: string | Record<string, string> }}
 */
function manifestOf(folder) {
  /** @type {unknown} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return /** @type {{ bin: string | Record<string, string>, dependencies: Record<string, string> }} */ (
    manifest
  );
}

/**
 * The file of the program that an installed package has under its own name.
 *
 * @param {string} folder
 * @param {string} name
 */
export function programOf(folder, name) {
  const path = join(folder, 'node_modules', name);
  const { bin } = manifestOf(path);
  const file = typeof bin === 'string' ? bin : (bin[name] ?? Object.values(bin)[0]);
  return join(path, file ?? '');
}

/**
 * Whether a request of the host learns that its sender has disconnected.
 *
 * @param {Host} host
 */
export function seesDepartures({ differs }) {
  return !WITHOUT_SIGNAL.some((name) => differs?.includes(name));
}
