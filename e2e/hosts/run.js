// Tests packages/web in each web-standard host, built for production, in the lowest and the newest supported version.
// Arguments: the names of hosts, by default all of them.
import { join } from 'node:path';
import { root } from '../../tooling/packages.js';
import { Steps } from '../../tooling/steps.js';
import { install as installRuntimes } from '../runtimes/tools.js';
import { hosts } from './tools.js';

const NEWER_NODE = 'node@24';
const names = process.argv.slice(2);
const current = Number(process.versions.node.split('.')[0]);

const steps = new Steps();

steps.run('build', 'npm', ['run', '--silent', 'build']);
installRuntimes();
for (const { name, node } of hosts) {
  if (names.length > 0 && !names.includes(name)) continue;
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--config',
    'e2e/hosts/vitest.config.ts',
  ];
  const env = { HOSTS: name };
  if (current >= node) steps.run(name, process.execPath, args, env);
  else steps.run(name, 'npx', ['--yes', NEWER_NODE, ...args], env);
}

steps.report();
