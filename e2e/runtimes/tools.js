import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Large, and for one platform each: so they are not among the dependencies that every checkout installs. */
const PACKAGES = {
  '@oven/bun-linux-x64': '1.4.4',
  '@deno/linux-x64-glibc': '2.9.6',
  miniflare: '4.20260426.0',
  esbuild: '0.28.2',
};

/** Where they are installed, once for each set of versions. */
export const folder = join(tmpdir(), `webhook-backpressure-runtimes-${Object.values(PACKAGES).join('-')}`);

/** Installs what is not there yet. */
export function install() {
  if (existsSync(join(folder, 'installed'))) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: PACKAGES }));
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  writeFileSync(join(folder, 'installed'), '');
}

/**
 * How the app is served.
 *
 * @typedef {object} Runtime
 * @property {string} name
 * @property {string} entry the file that it runs
 * @property {string} command the program
 * @property {string[]} args before the name of the entry file
 * @property {boolean} seesDepartures whether it tells a request that its sender has gone, before anything is written
 * to it
 */

/** @type {Runtime[]} */
export const runtimes = [
  {
    name: 'Bun',
    entry: 'on-bun.js',
    command: join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun'),
    args: [],
    seesDepartures: true,
  },
  {
    name: 'Deno',
    entry: 'on-deno.js',
    command: join(folder, 'node_modules/@deno/linux-x64-glibc/deno'),
    args: ['run', '--allow-all', '--no-lock'],
    seesDepartures: true,
  },
  { name: 'workerd', entry: 'on-workerd.js', command: process.execPath, args: [], seesDepartures: false },
];
