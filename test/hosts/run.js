// Tests packages/web in each web-standard host, built for production, in the lowest and the newest supported version.
// Arguments: the names of hosts, by default all of them.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { install as installRuntimes } from '../runtimes/tools.js';
import { hosts } from './tools.js';

const NEWER_NODE = 'node@24';
const root = join(import.meta.dirname, '../..');
const names = process.argv.slice(2);
const current = Number(process.versions.node.split('.')[0]);

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
    env: { ...process.env, HOSTS: name },
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 28,
  });
  console.log(stdout);
  const verdict = error?.message ?? stdout.trim().split('\n').at(-1) ?? '';
  results.push({ name, verdict, isPassed: status === 0 });
}

run('build', 'npm', ['run', '--silent', 'build']);
installRuntimes();
for (const { name, node } of hosts) {
  if (names.length > 0 && !names.includes(name)) continue;
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    'test/hosts/vitest.config.ts',
  ];
  if (current >= node) run(name, process.execPath, args);
  else run(name, 'npx', ['--yes', NEWER_NODE, ...args]);
}

console.log('\n=== all of it ===');
for (const { name, verdict, isPassed } of results) {
  console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${name}: ${verdict}`);
}
if (results.some(({ isPassed }) => !isPassed)) process.exitCode = 1;
