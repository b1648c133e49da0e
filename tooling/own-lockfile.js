import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './packages.js';

/**
 * Installs what only one folder needs. It has its own lockfile, so that `npm ci` at the root does without it. Does
 * nothing if that lockfile was installed before.
 *
 * @param {string} folder
 */
export function installIn(folder) {
  const path = join(root, folder);
  const lockfile = join(path, 'package-lock.json');
  /** A copy of the lockfile that was installed last. */
  const installed = join(path, 'node_modules/.installed.json');
  if (isSame(lockfile, installed)) return;
  process.stderr.write(`Installing what only ${folder} needs, into ${folder}/node_modules.\n`);
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], path);
  copyFileSync(lockfile, installed);
}

/**
 * @param {string} lockfile
 * @param {string} installed
 * @returns {boolean}
 */
function isSame(lockfile, installed) {
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
export function run(command, given, folder) {
  const stdio = command === 'npm' ? ['inherit', 2, 2] : 'inherit';
  const { status, error } = spawnSync(command, given, {
    cwd: folder,
    stdio: /** @type {import('node:child_process').StdioOptions} */ (stdio),
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
