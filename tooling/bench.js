// Runs a program of the benchmarks: `node tooling/bench.js FILE [arguments]`, FILE being relative to bench/dist.
//
// The peers and the versions of Node have their own lockfile in bench/, so that `npm ci` at the root does without them.
// They are installed when they are absent, or when that lockfile has changed. Programs run on Node 24; BENCH_NODE=20
// or BENCH_NODE=26 chooses another one of those that are installed.
import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.js';

const bench = join(root, 'bench');
const lockfile = join(bench, 'package-lock.json');
/** A copy of the lockfile that was installed last. */
const installed = join(bench, 'node_modules/.installed.json');

const [file = 'main.js', ...args] = process.argv.slice(2);
const version = process.env['BENCH_NODE'] ?? '24';
if (!['20', '24', '26'].includes(version)) {
  throw new Error(`BENCH_NODE must be 20, 24 or 26, but is ${version}.`);
}

if (!isInstalled()) {
  process.stderr.write('Installing what only the benchmarks need, into bench/node_modules.\n');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], bench);
  copyFileSync(lockfile, installed);
}
run('npm', ['run', '--silent', 'build'], root);
run('npx', ['tsc', '-b', 'bench'], root);
run(process.execPath, [join(root, 'tooling/build.js')], root);
run(join(bench, `node_modules/node${version}/bin/node`), [join(bench, 'dist', file), ...args], root);

/** @returns {boolean} */
function isInstalled() {
  try {
    return readFileSync(installed, 'utf8') === readFileSync(lockfile, 'utf8');
  } catch {
    return false;
  }
}

/**
 * Runs a command and ends with its exit code if it fails. Its output is this one's, except that npm's goes to stderr:
 * stdout is the program's.
 *
 * @param {string} command
 * @param {string[]} given
 * @param {string} folder
 */
function run(command, given, folder) {
  const stdio = command === 'npm' ? ['inherit', 2, 2] : 'inherit';
  const { status, error } = spawnSync(command, given, {
    cwd: folder,
    stdio: /** @type {import('node:child_process').StdioOptions} */ (stdio),
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
