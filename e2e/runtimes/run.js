// Runs what `npm test` does not: packages/web, Hono and the inbox on Bun, Deno and workerd, and all tests on every
// supported Node. `--without-node` leaves the versions of Node out. A part that cannot run fails the run.
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { root } from '../../tooling/packages.js';
import { Steps } from '../../tooling/steps.js';
import { install } from './tools.js';

const NODE_VERSIONS = process.argv.includes('--without-node') ? [] : [20, 22, 24, 26];
const RUNTIMES = 'packages/web, Hono and the inbox on Bun, Deno and workerd';
const vitest = join(root, 'node_modules/vitest/vitest.mjs');

const steps = new Steps();

steps.run('build', 'npm', ['run', '--silent', 'build']);

if (platform() === 'linux' && arch() === 'x64') {
  try {
    install();
    steps.run(RUNTIMES, process.execPath, [
      vitest,
      'run',
      '--config',
      'e2e/runtimes/vitest.config.ts',
      '--reporter=verbose',
      '--reporter=./tooling/verdict-reporter.ts',
    ]);
  } catch (error) {
    steps.fail(RUNTIMES, `not run: the runtimes could not be installed: ${String(error)}`);
  }
} else {
  steps.fail(RUNTIMES, `not run: the packages are for Linux on x64, this is ${platform()} on ${arch()}`);
}

for (const version of NODE_VERSIONS) {
  steps.run(`Node ${String(version)}`, 'npx', ['--yes', `node@${String(version)}`, vitest, 'run']);
}

steps.report();
