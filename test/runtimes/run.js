// Runs what `npm test` does not: Hono and the inbox on Bun, Deno and workerd, and all tests on every supported Node.
// `--without-node` leaves the versions of Node out. A part that cannot run fails the run.
import { spawnSync } from 'node:child_process';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { install } from './tools.js';

const NODE_VERSIONS = process.argv.includes('--without-node') ? [] : [20, 22, 24, 26];
const root = join(import.meta.dirname, '../..');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');

/** @type {{ name: string, verdict: string, isPassed: boolean }[]} */
const results = [];

/**
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 */
function run(name, command, args) {
  console.log(`\n=== ${name} ===`);
  const { status, error, stdout } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  console.log(stdout);
  const verdict = error?.message ?? stdout.trim().split('\n').at(-1) ?? '';
  results.push({ name, verdict, isPassed: status === 0 });
}

run('build', 'npm', ['run', '--silent', 'build']);

if (platform() === 'linux' && arch() === 'x64') {
  try {
    install();
    run('Hono and the inbox on Bun, Deno and workerd', process.execPath, [
      vitest,
      'run',
      '--config',
      'test/runtimes/vitest.config.ts',
      '--reporter=verbose',
      '--reporter=./tooling/verdict-reporter.ts',
    ]);
  } catch (error) {
    results.push({
      name: 'Hono and the inbox on Bun, Deno and workerd',
      verdict: `not run: the runtimes could not be installed: ${String(error)}`,
      isPassed: false,
    });
  }
} else {
  results.push({
    name: 'Hono and the inbox on Bun, Deno and workerd',
    verdict: `not run: the packages are for Linux on x64, this is ${platform()} on ${arch()}`,
    isPassed: false,
  });
}

for (const version of NODE_VERSIONS) {
  run(`Node ${String(version)}`, 'npx', ['--yes', `node@${String(version)}`, vitest, 'run']);
}

console.log('\n=== all of it ===');
for (const { name, verdict, isPassed } of results) {
  console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}: ${verdict}`);
}
if (results.some(({ isPassed }) => !isPassed)) process.exitCode = 1;
