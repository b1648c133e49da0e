// Runs the long variant of the crash tests: `node tooling/crash.js [--sender] [--store sqlite | --store postgres]`,
// `--transactions`, which uses both stores, or `--reconcile`, which uses SQLite.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { root } from './packages.js';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'sqlite' },
    sender: { type: 'boolean', default: false },
    transactions: { type: 'boolean', default: false },
    reconcile: { type: 'boolean', default: false },
  },
});
const { store, sender, transactions, reconcile } = values;
const of = reconcile ? 'reconcile' : transactions ? 'transactions' : sender ? 'sender' : 'receiver';
if (store !== 'sqlite' && store !== 'postgres')
  throw new Error(`--store must be sqlite or postgres, but was ${store}.`);
const { status, error } = spawnSync('npx', ['vitest', 'run', '--config', 'test/crash/vitest.config.ts'], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, CRASH_STORE: store, CRASH_OF: of },
});
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
