// Runs a program of the benchmarks: `node tooling/bench.js FILE [arguments]`, FILE being relative to bench/dist.
//
// The peers and the versions of Node have their own lockfile in bench/, so that `npm ci` at the root does without them.
// They are installed when they are absent, or when that lockfile has changed. Programs run on Node 24; BENCH_NODE=20
// or BENCH_NODE=26 chooses another one of those that are installed.
import { join } from 'node:path';
import { installIn, run } from './own-lockfile.js';
import { root } from './packages.js';

const bench = join(root, 'bench');

const [file = 'main.js', ...args] = process.argv.slice(2);
const version = process.env['BENCH_NODE'] ?? '24';
if (!['20', '24', '26'].includes(version)) {
  throw new Error(`BENCH_NODE must be 20, 24 or 26, but is ${version}.`);
}

installIn('bench');
run('npm', ['run', '--silent', 'build'], root);
run('npx', ['tsc', '-b', 'bench'], root);
run(process.execPath, [join(root, 'tooling/build.js')], root);
run(join(bench, `node_modules/node${version}/bin/node`), [join(bench, 'dist', file), ...args], root);
