// Plants each bug of test/vopr/planted-bugs.json in the bundled sources, one at a time, and searches for it:
// `node tooling/vopr-planted.js [--seeds N] [--only TEXT]`. Exits 1 if fewer than 95 % are found.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './packages.js';
import { bundleSearch } from './vopr.js';

/** A synchronous loop in the code under test ends only so. All others end by the count of what happens in a seed. */
const LONGEST_MS = 600_000;

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '5000' }, only: { type: 'string', default: '' } },
});

/** @typedef {{ name: string, file: string, from: string, to: string }} Bug */

/** @type {unknown} */
const read = JSON.parse(readFileSync(join(root, 'test/vopr/planted-bugs.json'), 'utf8'));
const bugs = /** @type {Bug[]} */ (read).filter(({ name }) => name.includes(values.only));
let missed = 0;
for (const bug of bugs) {
  const program = join(root, 'temp/vopr', `planted-${String(process.pid)}.js`);
  await bundleSearch(program, [plant(bug)]);
  const { status, stdout } = spawnSync('node', [program, '--brief', '--seeds', values.seeds], {
    encoding: 'utf8',
    timeout: LONGEST_MS,
  });
  // Without an end in time it is not known whether it would have been found.
  const isFound = status !== 0 && status !== null;
  if (!isFound) missed += 1;
  const how = stdout.slice(0, 110).trim() || 'ends with an error';
  console.log(`| ${bug.name} | ${isFound ? how : status === null ? '**no end in time**' : '**missed**'} |`);
}
const found = bugs.length - missed;
console.log(
  `${String(found)} of ${String(bugs.length)} planted bugs are found within ${values.seeds} seeds.`,
);
process.exitCode = found >= 0.95 * bugs.length ? 0 : 1;

/**
 * @param {Bug} bug
 * @returns {import('rolldown').Plugin}
 */
function plant({ name, file, from, to }) {
  const path = join(root, 'packages', file);
  return {
    name: 'planted-bug',
    transform(code, id) {
      if (id !== path) return null;
      if (!code.includes(from)) throw new Error(`${name}: ${file} does not contain ${from}`);
      return { code: code.replace(from, () => to), map: null };
    },
  };
}
